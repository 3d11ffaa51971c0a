// Changing one document while others change it, too: read, change, write at the revision that was read.

import { systemClock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { JsonObject } from '../json/json.ts';
import { type Backoff, retryDelay } from '../retry.ts';
import type { DocumentStore, Kind, ReplaceResult, StoredDocument } from './store.ts';

export type UpdateResult<Body extends JsonObject = JsonObject> =
  /** Written: the document as it is now. */
  | { readonly kind: 'updated'; readonly document: StoredDocument<Body> }
  /** `change` gave undefined: the document as it was left. */
  | { readonly kind: 'unchanged'; readonly document: StoredDocument<Body> }
  /** There is no such document, and `change` made none. */
  | { readonly kind: 'missing' };

/**
 * What the document is to be; undefined leaves it as it is. Gets undefined when there is no such document: a body is
 * inserted then. Called anew for each revision that is read, so it must do nothing that may not be repeated.
 */
export type ChangeBody<Body> = (body: Body | undefined) => Promise<Body | undefined> | Body | undefined;

export interface UpdateOptions<Body extends JsonObject> {
  /** Writes the next body in place of `old`, at its revision. @default `documents.replace` */
  readonly replace?: (old: StoredDocument<Body>, body: Body) => Promise<ReplaceResult>;
  /** The document as the caller has just read it, for the first try. @default it is read */
  readonly known?: StoredDocument<Body> | undefined;
}

/** Random pauses, so that writers that met do not meet again. */
const BACKOFF: Backoff = { firstMs: 1, maxMs: 32, jitter: 1 };

/**
 * Writes what `change` makes of the document, and tries again when another writer was first. Throws ERR_CONFLICT after
 * COMMON_LIMITS.conflictsPerTurn tries, and ERR_EXISTS when another document has a unique value that the change asks for.
 */
export async function update<Body extends JsonObject>(
  documents: Pick<DocumentStore, 'get' | 'insert' | 'replace'>,
  kind: Kind,
  id: string,
  change: ChangeBody<Body>,
  options: UpdateOptions<Body> = {},
): Promise<UpdateResult<Body>> {
  const { replace = (old, body) => documents.replace(kind, id, old.revision, body) } = options;
  for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
    // The first conflict is rarely followed by another one.
    if (tries > 1) await systemClock.wait(retryDelay(tries - 1, BACKOFF));
    const old = (tries === 0 && options.known) || (await documents.get<Body>(kind, id));
    const body = await change(old?.body);
    if (body === undefined) return old ? { kind: 'unchanged', document: old } : { kind: 'missing' };
    const result = old ? await replace(old, body) : await documents.insert(kind, id, body);
    if (result.kind === 'replaced' || result.kind === 'inserted')
      return { kind: 'updated', document: { id, revision: result.revision, body } };
    // A taken id means that another writer has made the document meanwhile.
    if (result.kind === 'exists' && result.index !== undefined) throw takenError(kind.name, id, result.index);
  }
  throw new TwinlineError(
    'ERR_CONFLICT',
    `A document of the kind ${kind.name} was changed by others ${COMMON_LIMITS.conflictsPerTurn} times in a row. Try again.`,
  );
}

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
