// How LMDB holds one session: a header of fixed width and the three texts behind it, all in one string.

import { LAST_MOMENT } from '../input.ts';
import type { SessionCommit, StoredSession } from '../store.ts';

// Numbers are digits of 7 bits, highest first: one byte each in UTF-8, read without parsing (3× faster than decimal
// text here), and in the order of the numbers when they begin a key.
const BITS_28 = 2 ** 28;
// ended and timer flags · turn key length · reply length · expiresAt · filed · base · dueAt
const AT = { flags: 0, turnKey: 1, reply: 5, expiresAt: 9, filed: 17, base: 25, dueAt: 33, text: 41 } as const;
const ENDED = 1;
const TIMER = 2;

/** What the store itself keeps with a session. */
export interface Filing {
  /** LMDB's version of the entry minus the session's revision; the version grows when the revision starts again. */
  readonly base: number;
  /** Where the session stands in the order of time: never later than its `expiresAt`. */
  readonly filed: number;
}

export function encodeSession(session: SessionCommit, { base, filed }: Filing): string {
  const { turnKey, reply, dueAt } = session;
  const flags = (session.ended ? ENDED : 0) | (dueAt === null ? 0 : TIMER);
  const lengths = fourDigits(turnKey.length) + fourDigits(reply.length);
  const moments = digits(Math.min(session.expiresAt, LAST_MOMENT)) + digits(filed) + digits(base) + digits(dueAt ?? 0);
  return String.fromCharCode(flags) + lengths + moments + turnKey + reply + session.record;
}

/** `version` is LMDB's version of the entry. */
export function decodeSession(text: string, version: number): StoredSession {
  const replyAt = AT.text + readFour(text, AT.turnKey);
  const recordAt = replyAt + readFour(text, AT.reply);
  return {
    revision: version - baseOf(text),
    record: text.slice(recordAt),
    turnKey: text.slice(AT.text, replyAt),
    reply: text.slice(replyAt, recordAt),
    ended: isEnded(text),
    expiresAt: expiresAtOf(text),
    dueAt: dueAtOf(text),
  };
}

export function expiresAtOf(text: string): number {
  return readDigits(text, AT.expiresAt);
}

export function filedOf(text: string): number {
  return readDigits(text, AT.filed);
}

export function baseOf(text: string): number {
  return readDigits(text, AT.base);
}

export function dueAtOf(text: string): number | null {
  return text.charCodeAt(AT.flags) & TIMER ? readDigits(text, AT.dueAt) : null;
}

export function isEnded(text: string): boolean {
  return (text.charCodeAt(AT.flags) & ENDED) !== 0;
}

/** The same session, filed at its own `expiresAt` and under the next version of LMDB's. */
export function refiled(text: string): string {
  const filed = text.slice(AT.expiresAt, AT.filed);
  return text.slice(0, AT.filed) + filed + digits(baseOf(text) + 1) + text.slice(AT.dueAt);
}

/** A key that is ordered by time, then by session key. */
export function timeKey(at: number, key: string): string {
  return digits(at) + key;
}

export function splitTimeKey(entry: string): { at: number; key: string } {
  return { at: readDigits(entry, 0), key: entry.slice(8) };
}

// A whole number of up to 56 bits.
function digits(value: number): string {
  return fourDigits(Math.floor(value / BITS_28)) + fourDigits(value % BITS_28);
}

function fourDigits(value: number): string {
  return String.fromCharCode(value >>> 21, (value >>> 14) & 127, (value >>> 7) & 127, value & 127);
}

function readDigits(text: string, at: number): number {
  return readFour(text, at) * BITS_28 + readFour(text, at + 4);
}

function readFour(text: string, at: number): number {
  const high = (text.charCodeAt(at) << 21) | (text.charCodeAt(at + 1) << 14);
  return high | (text.charCodeAt(at + 2) << 7) | text.charCodeAt(at + 3);
}
