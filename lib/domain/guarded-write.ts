// Writes of documents that have unique names: refused in words when one is taken; the same again gives what is there.

import type { DocumentStore, Kind, StoredDocument } from '../store/store.ts';
import type { Journaled } from './feed/journal.ts';
import { refuse } from './problems.ts';

/** Inserts a twin or protocol. One with its DID is of an earlier try of the request: no client chooses a DID. */
export async function insertOnce<B extends Journaled & { readonly did: string }>(
  documents: DocumentStore,
  { kind, body, taken }: { kind: Kind; body: B; taken: string },
): Promise<StoredDocument<B>> {
  const inserted = await documents.insert(kind, body.did, body);
  if (inserted.kind === 'inserted') return inserted;
  const known = await documents.get<B>(kind, body.did);
  if (known) return known;
  throw refuse('already-exists', taken);
}
