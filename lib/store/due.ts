// Finding what is due in the background: by the time of day, but for what would be gone for good.

import { type Clock, settledTime } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import type { JsonObject } from '../json/json.ts';
import type { Condition, DocumentStore, Kind, StoredDocument } from './store.ts';

export interface DueQuery<Body extends JsonObject> {
  readonly index: string;
  /** The indexed time, in milliseconds since 1970. */
  readonly field: string;
  readonly limit: number;
  /** What is to be removed: while the clock is ahead of what is sure, it is left where it is. */
  readonly isOver: (document: StoredDocument<Body>) => boolean;
}

/** The documents whose time has come, the earliest first, up to `limit`; see `settledTime`. */
export async function findDue<Body extends JsonObject>(
  { documents, clock }: { readonly documents: Pick<DocumentStore, 'find'>; readonly clock: Clock },
  kind: Kind,
  { index, field, limit, isOver }: DueQuery<Body>,
): Promise<readonly StoredDocument<Body>[]> {
  const find = async (time: Condition, most: number) =>
    (await documents.find<Body>(kind, { index, where: { [field]: time }, limit: most })).items;
  const [now, settled] = [clock.now(), settledTime(clock)];
  const sure = await find({ lte: settled }, limit);
  if (settled >= now || sure.length === limit) return sure;
  const unsure = await find({ gt: settled, lte: now }, COMMON_LIMITS.pageSizeMax);
  return [...sure, ...unsure.filter((document) => !isOver(document)).slice(0, limit - sure.length)];
}
