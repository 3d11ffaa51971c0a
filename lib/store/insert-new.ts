// Inserts of documents that must be new: a taken id or unique value is an error, not an answer.

import { TwinlineError } from '../errors.ts';
import type { DocumentStore, JsonObject, Kind, StoredDocument } from './store.ts';

/** The document as it is stored. Throws ERR_EXISTS when its id or a unique value of it is taken. */
export async function insertNew<Body extends JsonObject>(
  documents: Pick<DocumentStore, 'insert'>,
  kind: Kind,
  { id, body }: { readonly id: string; readonly body: Body },
): Promise<StoredDocument<Body>> {
  const inserted = await documents.insert(kind, id, body);
  if (inserted.kind === 'exists') throw takenError(kind.name, id, inserted.index);
  return { id, revision: inserted.revision, body: inserted.body };
}

/** The error of a taken id (`index` undefined) or unique value; it never names the value. */
export function takenError(kind: string, id: string, index?: string): TwinlineError {
  const what = index === undefined ? 'the id is taken' : `index "${index}" is unique and its value is taken`;
  return new TwinlineError(
    'ERR_EXISTS',
    `Kind "${kind}": cannot write the document ${JSON.stringify(id)}: ${what}. Read the other document first.`,
  );
}
