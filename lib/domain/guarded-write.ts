// Writes of documents that have unique names: refused in words when one is taken; the same again gives what is there.

import { TwinlineError } from '../errors.ts';
import type { DocumentStore, Kind, StoredDocument } from '../store/store.ts';
import type { Journaled } from './feed/journal.ts';
import { isRefusal, refuse } from './problems.ts';

/** Runs a write; throws `already-exists` with `taken` when a unique value is taken. */
export async function guarded<T>(write: () => Promise<T>, taken: string): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_EXISTS') throw refuse('already-exists', taken);
    throw error;
  }
}

/** Inserts a twin or protocol. One with its DID is of an earlier try of the request: no client chooses a DID. */
export async function insertOnce<B extends Journaled & { readonly did: string }>(
  documents: DocumentStore,
  { kind, body, taken }: { kind: Kind; body: B; taken: string },
): Promise<StoredDocument<B>> {
  try {
    return await guarded(() => documents.insert(kind, body.did, body), taken);
  } catch (error) {
    const known = isRefusal(error, 'already-exists') ? await documents.get<B>(kind, body.did) : undefined;
    if (known) return known;
    throw error;
  }
}
