// A session as it is stored: a compact line of JSON, sealed by a keyed hash, checked before it is used.

import type { StateValue } from 'xstate';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { isCount, isListWhere, isObject, isText } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { undefinedNames, withUndefined } from '../../json/lossless.ts';
import { shortMac } from '../../keyring.ts';
import type { CallError } from '../machine/failure.ts';
import { isEnd, isPendingCall, isRest, type PendingCall } from '../machine/step.ts';
import { isTimer, type Timer } from '../machine/timers.ts';
import type { AtRest } from '../machine/transition.ts';
import type { ServiceSession } from '../service.ts';

/** A call of a session. */
export interface SessionCall extends PendingCall {
  /** Milliseconds since 1970: the lease of the process that makes it. */
  readonly until: number;
  /** Its answer comes from outside, until the end of the lease; it is not made again. */
  readonly later?: true;
  /** In the place of an input that holds credentials. */
  readonly sealed?: string;
}

/** A call that is made after the reply, at least once; the machine gets no answer, and need not be there any more. */
export interface SessionTask extends SessionCall {
  /** Milliseconds for one try. */
  readonly timeoutMs: number;
  /** Tries that have failed, and after how many the task is given up. */
  readonly failures: number;
  readonly failuresMax: number;
  /** The caller, as the service gets it. */
  readonly session: ServiceSession;
}

export interface SessionRecord {
  readonly conversation: string;
  readonly version: number;
  readonly hash: string;
  readonly rest: AtRest;
  /** Turns taken; grows through re-dials of the same session id. */
  readonly turn: number;
  /** Milliseconds since 1970 when this dial began: tells two dials of one session id apart. */
  readonly startedAt: number;
  /** What the door remembers about the other side. */
  readonly door: JsonObject;
  readonly timers: readonly Timer[];
  readonly calls: readonly SessionCall[];
  /** What is to be done after the reply, also once the session has ended. */
  readonly tasks?: readonly SessionTask[] | undefined;
  /** The key of a turn that has begun its calls and has not been answered. */
  readonly busy?: string | undefined;
  /** Keys of requests that overlapped with others, the last ones: a retry of one is not taken again. */
  readonly others?: readonly string[];
  /** Another request was answered "please wait" while `busy` was being worked on. */
  readonly isOvertaken?: boolean;
  /** The caller was answered "please wait" and has not seen the outcome. */
  readonly waiting?: boolean;
  /** Keys of calls that were answered from outside, the last ones. */
  readonly completed?: readonly string[];
  /** Milliseconds since 1970, until when the session may be continued by another one; 0: never. */
  readonly resumableUntil?: number | undefined;
  /** The last reply was no end: the machine has ended by itself since. */
  readonly isContinued?: boolean;
  /** The variables, calls and tasks of a session with private values; here they are empty then. */
  readonly sealed?: string | undefined;
  /** It was sealed when it was stored, so it is sealed when it is stored again. */
  readonly isPrivate?: true;
}

/** A key that seals records, and the id that records name it by. */
export interface SealKey {
  readonly kid: string;
  readonly key: Buffer;
}

/** Why a stored record cannot be used; `other-key`: it says that it was sealed with a key that is not configured here. */
export type RecordProblem =
  | 'tampered'
  | 'other-key'
  | 'malformed'
  | 'foreign'
  | 'future'
  | 'outdated'
  | 'unknown-state';

/** Of the records that this version writes; it reads this one and none that is newer. */
export const RECORD_FORMAT = 1;
const SEAL_CHARS = 16;

/** One line of text for the store. Throws ERR_TURN_LIMIT when it is longer than COMMON_LIMITS.recordChars. */
export function encodeRecord(key: string, record: SessionRecord, seal: SealKey | undefined): string {
  const { rest, calls, timers } = record;
  const json = JSON.stringify({
    r: RECORD_FORMAT,
    f: record.conversation,
    v: record.version,
    h: record.hash,
    n: record.turn,
    b: record.startedAt,
    s: rest.state,
    c: rest.context,
    u: undefinedNames(rest.context),
    y: rest.history,
    q: rest.status && { s: rest.status, o: rest.output, e: rest.error },
    l: record.isContinued || undefined,
    m: record.completed?.length ? record.completed : undefined,
    z: rest.nodes,
    d: record.door,
    t: timers.length ? timers : undefined,
    k: calls.length ? calls : undefined,
    j: record.tasks?.length ? record.tasks : undefined,
    p: record.resumableUntil,
    o: record.busy,
    i: record.others?.length ? record.others : undefined,
    x: record.isOvertaken || undefined,
    w: record.waiting || undefined,
    a: seal?.kid,
    e: record.sealed,
  });
  if (json.length > COMMON_LIMITS.recordChars)
    throw new TwinlineError(
      'ERR_TURN_LIMIT',
      `Cannot keep a session of "${record.conversation}": its record has ${json.length} characters, the limit is ${COMMON_LIMITS.recordChars}. Keep less in variables, or page what a service answers.`,
    );
  return seal ? shortMac(seal.key, [key, json]) + json : json;
}

/** The record, or why it cannot be trusted. With keys in `seals`, one of them must have sealed it. */
export function decodeRecord(key: string, text: string, seals: readonly SealKey[]): SessionRecord | RecordProblem {
  const json = seals.length ? text.slice(SEAL_CHARS) : text;
  const isSealed = (seal: SealKey) => shortMac(seal.key, [key, json]) === text.slice(0, SEAL_CHARS);
  if (seals.length && !seals.some(isSealed)) return isOfOthers(json, seals) ? 'other-key' : 'tampered';
  let raw: unknown;
  try {
    raw = JSON.parse(json);
  } catch {
    return 'malformed';
  }
  if (!isObject(raw)) return 'malformed';
  if (typeof raw.r === 'number' && raw.r > RECORD_FORMAT) return 'future';
  if (raw.r !== RECORD_FORMAT || !isSound(raw)) return 'malformed';
  const rest: Writable<AtRest> = { state: raw.s as StateValue, context: raw.c as JsonObject };
  if (raw.u) rest.context = withUndefined(rest.context, raw.u as string[]);
  if (raw.y) rest.history = raw.y as Record<string, string[]>;
  if (raw.z) rest.nodes = raw.z as string[];
  if (raw.q) Object.assign(rest, readEnd(raw.q as unknown as StoredEnd));
  const record: Writable<SessionRecord> = {
    conversation: raw.f as string,
    version: raw.v as number,
    hash: raw.h as string,
    turn: raw.n as number,
    startedAt: raw.b as number,
    rest,
    door: raw.d as JsonObject,
    timers: (raw.t as Timer[] | undefined) ?? [],
    calls: (raw.k as SessionCall[] | undefined) ?? [],
  };
  if (raw.j !== undefined) record.tasks = raw.j as SessionTask[];
  if (raw.p !== undefined) record.resumableUntil = raw.p as number;
  if (raw.o !== undefined) record.busy = raw.o as string;
  if (raw.i !== undefined) record.others = raw.i as string[];
  if (raw.x === true) record.isOvertaken = true;
  if (raw.l === true) record.isContinued = true;
  if (raw.m !== undefined) record.completed = raw.m as string[];
  if (raw.w === true) record.waiting = true;
  if (raw.e !== undefined) record.sealed = raw.e as string;
  return record;
}

interface StoredEnd {
  readonly s: 'done' | 'error';
  readonly o?: Json;
  readonly e?: CallError;
}

const readEnd = ({ s, o, e }: StoredEnd): Pick<AtRest, 'status' | 'output' | 'error'> => ({
  status: s,
  ...(o !== undefined && { output: o }),
  ...(e && { error: e }),
});

type Writable<T> = { -readonly [K in keyof T]: T[K] };

// Only for the words of a refusal: nothing in a record that does not fit its seal is trusted.
function isOfOthers(json: string, seals: readonly SealKey[]): boolean {
  try {
    const { a: kid } = JSON.parse(json) as { readonly a?: unknown };
    return typeof kid === 'string' && !seals.some((seal) => seal.kid === kid);
  } catch {
    return false;
  }
}

/** Whether this is a call of a session. */
export function isCall(call: unknown): boolean {
  if (!isPendingCall(call)) return false;
  const { until, sealed } = call as SessionCall;
  return isCount(until) && (sealed === undefined || isText(sealed));
}

/** Whether this is a task of a session. */
export function isTask(task: unknown): boolean {
  if (!isCall(task)) return false;
  const { timeoutMs, failures, failuresMax, session } = task as SessionTask;
  return [timeoutMs, failures, failuresMax].every(isCount) && isObject(session) && isText(session.id);
}

function isSound(raw: { readonly [field: string]: unknown }): boolean {
  return (
    typeof raw.f === 'string' &&
    isCount(raw.v) &&
    typeof raw.h === 'string' &&
    isCount(raw.n) &&
    isCount(raw.b) &&
    isRest({ state: raw.s, context: raw.c, history: raw.y, nodes: raw.z }) &&
    (raw.q === undefined || (isObject(raw.q) && isEnd(raw.q.s, raw.q.e))) &&
    (raw.u === undefined || isListWhere(raw.u, isText)) &&
    isObject(raw.d) &&
    (raw.t === undefined || isListWhere(raw.t, isTimer)) &&
    (raw.k === undefined || isListWhere(raw.k, isCall)) &&
    (raw.j === undefined || isListWhere(raw.j, isTask)) &&
    (raw.p === undefined || isCount(raw.p)) &&
    (raw.o === undefined || isText(raw.o)) &&
    (raw.i === undefined || isListWhere(raw.i, isText)) &&
    (raw.m === undefined || isListWhere(raw.m, isText)) &&
    (raw.e === undefined || isText(raw.e))
  );
}

/** What a stored record says of itself, sealed or not; none of it is proved. */
export interface RecordHead {
  readonly format: number;
  readonly conversation: string;
  readonly version: number;
  /** The id of the key that sealed it; missing without one. */
  readonly kid?: string;
}

/** The head of a record of any format, for those who count; undefined when there is none. */
export function readRecordHead(text: string): RecordHead | undefined {
  const begin = text.indexOf('{');
  try {
    const { r, f, v, a } = JSON.parse(text.slice(begin));
    if (!isCount(r) || !isText(f) || !isCount(v)) return undefined;
    return { format: r, conversation: f, version: v, ...(isText(a) && { kid: a }) };
  } catch {
    return undefined;
  }
}
