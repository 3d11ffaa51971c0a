// How Redis holds one session: a line of numbers and the three texts behind it, all in one string.

import { LAST_MOMENT } from '../input.ts';
import type { SessionCommit, StoredSession } from '../store.ts';

// "revision,expiresAt,dueAt,ended,length of turn key,length of reply,": the scripts read the first four.
const NUMBERS = 6;
/** Bytes in which the numbers that scripts read are found. */
export const HEAD_BYTES = 56;

/** Lengths are in UTF-16 units, as {@link decodeSession} counts them. */
export function encodeSession(session: SessionCommit, revision: number): string {
  const { record, turnKey, reply, ended, dueAt } = session;
  const times = `${expiryOf(session)},${dueAt ?? ''},${ended ? 1 : 0}`;
  return `${revision},${times},${turnKey.length},${reply.length},${turnKey}${reply}${record}`;
}

export function expiryOf({ expiresAt }: Pick<SessionCommit, 'expiresAt'>): number {
  return Math.min(expiresAt, LAST_MOMENT);
}

export function decodeSession(text: string): StoredSession {
  const numbers: string[] = [];
  let at = 0;
  for (let count = 0; count < NUMBERS; count++) {
    const end = text.indexOf(',', at);
    numbers.push(text.slice(at, end));
    at = end + 1;
  }
  const [revision, expiresAt, dueAt, ended, turnKeyLength, replyLength] = numbers;
  const replyAt = at + Number(turnKeyLength);
  const recordAt = replyAt + Number(replyLength);
  return {
    revision: Number(revision),
    record: text.slice(recordAt),
    turnKey: text.slice(at, replyAt),
    reply: text.slice(replyAt, recordAt),
    ended: ended === '1',
    expiresAt: Number(expiresAt),
    dueAt: dueAt === '' ? null : Number(dueAt),
  };
}
