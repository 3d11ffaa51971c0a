// How one step of a machine in a document is written; the rooms that keep a journal bring their own way.

import { TwinlineError } from '../../errors.ts';
import type { DocumentStore, JsonObject, Kind, StoredDocument } from '../../store/store.ts';
import type { LifecycleFact } from './step.ts';

/** What is to be noted about a step, in the same write. */
export interface Entry {
  /** Milliseconds since 1970; a deadline has its own time, not the time of the write. */
  readonly at: number;
  /** Who asked for it; `system` for deadlines and answers. */
  readonly by: string;
  readonly action: string;
  readonly facts: readonly LifecycleFact[];
}

export interface StepWrite {
  readonly documents: DocumentStore;
  readonly kind: Kind;
  readonly id: string;
  /** What is replaced; undefined: nothing is there, insert. */
  readonly old: StoredDocument | undefined;
  readonly body: JsonObject;
  readonly entry: Entry;
}

/** What was stored, or undefined when another writer was first. An insert rejects with ERR_EXISTS instead. */
export type Write = (write: StepWrite) => Promise<StoredDocument | undefined>;

/** Inserts or replaces the document and drops the entry. */
export const plainWrite: Write = async ({ documents, kind, id, old, body }) => {
  if (!old) return documents.insert(kind, id, body);
  const result = await documents.replace(kind, id, old.revision, body);
  return result.kind === 'replaced' ? { id, revision: result.revision, body } : undefined;
};

export function notFound(kind: Kind, id: string): TwinlineError {
  return new TwinlineError('ERR_NOT_FOUND', `There is no ${kind.name} ${JSON.stringify(id)}.`);
}
