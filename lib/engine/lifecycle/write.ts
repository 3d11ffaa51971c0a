// The write of one step of a machine in a document, with what is noted of it.

import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Exists, InsertResult, Kind, ReplaceResult, StoredDocument } from '../../store/store.ts';
import type { LifecycleFact } from './record.ts';

/** What is to be noted about a step, in the same write. */
export interface StepNote {
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
  readonly entry: StepNote;
}

/** `conflict`: another writer was first. `exists`: the id, for an insert, or a unique value of the document is taken. */
export type WriteResult =
  | { readonly kind: 'written'; readonly document: StoredDocument }
  | { readonly kind: 'conflict' }
  | Exists;

export type WriteStep = (write: StepWrite) => Promise<WriteResult>;

/** What an insert or a replace of `body` by the store comes to. */
export function toWritten(
  { id, body }: Pick<StepWrite, 'id' | 'body'>,
  result: InsertResult | ReplaceResult,
): WriteResult {
  if (result.kind === 'conflict' || result.kind === 'exists') return result;
  return { kind: 'written', document: { id, revision: result.revision, body } };
}

/** Inserts or replaces the document and drops the entry. */
export const plainWrite: WriteStep = async (write) => {
  const { documents, kind, id, old, body } = write;
  return toWritten(
    write,
    old ? await documents.replace(kind, id, old.revision, body) : await documents.insert(kind, id, body),
  );
};

export function notFound(kind: Kind, id: string): TwinlineError {
  return new TwinlineError('ERR_NOT_FOUND', `There is no ${kind.name} ${JSON.stringify(id)}.`);
}
