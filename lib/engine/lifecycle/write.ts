// How one step of a machine in a document is written; the rooms that keep a journal bring their own way.

import { TwinlineError } from '../../errors.ts';
import type {
  DocumentStore,
  Exists,
  InsertResult,
  JsonObject,
  Kind,
  ReplaceResult,
  StoredDocument,
} from '../../store/store.ts';
import type { LifecycleFact } from './record.ts';

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

/** `conflict`: another writer was first. `exists`: the id, for an insert, or a unique value of the document is taken. */
export type Written =
  | { readonly kind: 'written'; readonly document: StoredDocument }
  | { readonly kind: 'conflict' }
  | Exists;

export type Write = (write: StepWrite) => Promise<Written>;

/** What an insert or a replace of `body` by the store comes to. */
export function writtenAs({ id, body }: Pick<StepWrite, 'id' | 'body'>, result: InsertResult | ReplaceResult): Written {
  if (result.kind === 'conflict' || result.kind === 'exists') return result;
  return { kind: 'written', document: { id, revision: result.revision, body } };
}

/** Inserts or replaces the document and drops the entry. */
export const plainWrite: Write = async (write) => {
  const { documents, kind, id, old, body } = write;
  return writtenAs(
    write,
    old ? await documents.replace(kind, id, old.revision, body) : await documents.insert(kind, id, body),
  );
};

export function notFound(kind: Kind, id: string): TwinlineError {
  return new TwinlineError('ERR_NOT_FOUND', `There is no ${kind.name} ${JSON.stringify(id)}.`);
}
