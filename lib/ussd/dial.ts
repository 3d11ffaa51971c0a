// What a phone request means for its session: a first dial, a new answer, a retry, an outdated text, or no session.
//
// Cumulative text contains the PIN, so it is never stored. We store its length and a keyed hash: enough to recognise a
// retry or an older text, and to find where the new answer starts in a longer one.

import type { Decision, SessionState } from '../engine/session/turn.ts';
import type { DoorValues } from '../flow/format/names.ts';
import type { JsonObject } from '../json/json.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import { chooseFlow, type DialledFlows } from './codes.ts';
import type { UssdRequest } from './request.ts';

interface PhoneDoor extends JsonObject {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly serviceCode: string;
  /** Accepted requests, oldest first, as `length:turn key;` each, in one string because that parses fast. */
  readonly marks: string;
  /** Keyed hashes of the SIM card, if the dialect identifies it. */
  readonly sim?: string;
  /** An operator ended the session. */
  readonly isClosed?: boolean;
  /** The phone is a simulated one. */
  readonly simulated?: true;
}

/** Stored when an operator ends a session: further requests do not start a new one, whatever {@link UnknownSession} says. */
export const CLOSED = { isClosed: true } as const satisfies Partial<PhoneDoor>;

/** How to treat the first request of an unknown session when its text is not empty. */
export type UnknownSession = 'end' | 'menu' | 'forward';

/** Why a request was refused. */
export type DialRefusal = 'not-yours' | 'mismatch' | 'unknown';

export interface DialRules extends DialledFlows {
  /** Initial variables besides those the gateway sets; only variables that the flow declares apply. @default none */
  readonly given?: JsonObject;
  /** The phone is a simulated one; services are told. @default false */
  readonly simulated?: boolean;
  /** The first key makes turn keys; the others recognise turn keys made before a rotation. At least one. */
  readonly keys: readonly Buffer[];
  readonly unknownSession: UnknownSession;
  /** Keyed hashes of an IMSI, which is not stored itself. */
  readonly markSim: (imsi: string) => string;
}

export interface Dial {
  /** Undefined when a retry cannot be told from a new answer: `latest` mode without message numbers. */
  readonly turnKey: string | undefined;
  readonly decide: (session: SessionState) => Decision;
}

/** The hashes of an IMSI under every key, the active one first, separated by spaces. Nothing else of it is stored. */
export function markSim(keyring: Keyring, imsi: string): string {
  return keyring.ids.map((kid) => `${kid}:${shortMac(keyring.subkey('sim/v1', kid)!, [imsi])}`).join(' ');
}

const MARKS_CHARS = 1_344;

/** Interprets a request against the session stored under its id. */
export function readDial(request: UssdRequest, rules: DialRules): Dial {
  return request.mode === 'cumulative' ? readCumulative(request, rules) : readLatest(request, rules);
}

function readCumulative(request: UssdRequest, rules: DialRules): Dial {
  const { text } = request;
  const [active, ...older] = rules.keys as [Buffer, ...Buffer[]];
  const makeTurnKey = (part: string, key = active) =>
    shortMac(key, [request.sessionId, request.phoneNumber, request.serviceCode, part]);
  const turnKey = makeTurnKey(text);
  const mark = `${text.length}:${turnKey};`;
  const begin = prepareBegin(request, rules, mark);

  const decide = (session: SessionState): Decision => {
    if (session.kind === 'unreadable') return text === '' ? begin([]) : refuse('unknown');
    if (session.kind === 'none') return text === '' ? begin([]) : decideUnknown(rules, begin, text.split('*'));
    const door = session.door as PhoneDoor;
    const { marks } = door;
    const olderMarks = () => older.map((key) => `${text.length}:${makeTurnKey(text, key)};`);
    const seenMark = hasMark(marks, mark) ? mark : olderMarks().find((one) => hasMark(marks, one));
    const isOlder = seenMark !== undefined;
    if (session.kind === 'ended') {
      if (text === '') return begin([]);
      return isOlder || door.isClosed ? { kind: 'repeat' } : decideUnknown(rules, begin, text.split('*'));
    }
    if (!isOwner(request, door)) return refuse('not-yours');
    // The text of a turn that was started but never answered: show its outcome.
    if (isOlder && marks.endsWith(seenMark)) return { kind: 'input', input: '', door };
    if (isOlder || text === '') return { kind: 'repeat' };
    const [length, key] = lastMark(marks);
    const previous = text.slice(0, length);
    const answer = length === 0 ? text : text[length] === '*' ? text.slice(length + 1) : undefined;
    const isNext = answer !== undefined && rules.keys.some((one) => makeTurnKey(previous, one) === key);
    if (!isNext) return refuse('mismatch');
    return {
      kind: 'input',
      input: answer,
      door: { ...door, marks: trimMarks(marks + mark) },
    };
  };
  return { turnKey, decide };
}

function hasMark(marks: string, mark: string): boolean {
  return marks.startsWith(mark) || marks.includes(`;${mark}`);
}

function lastMark(marks: string): [length: number, turnKey: string] {
  const last = marks.slice(marks.lastIndexOf(';', marks.length - 2) + 1, -1);
  const colon = last.indexOf(':');
  return [Number(last.slice(0, colon)), last.slice(colon + 1)];
}

// Drops the oldest mark of a very long session.
function trimMarks(marks: string): string {
  return marks.length <= MARKS_CHARS ? marks : marks.slice(marks.indexOf(';') + 1);
}

function readLatest(request: UssdRequest, rules: DialRules): Dial {
  const { text, turnId, dialled, sessionId, phoneNumber } = request;
  const isFirst = request.fresh ?? text === '';
  const makeTurnKey = (key: Buffer) => shortMac(key, [sessionId, phoneNumber, 'message', turnId!]);
  const turnKey = turnId === undefined ? undefined : makeTurnKey(rules.keys[0]!);
  const mark = turnKey === undefined ? '' : `0:${turnKey};`;
  const begin = prepareBegin(request, rules, mark);
  // A copy may arrive after later messages. A copy of a first message is a new dial that reuses the session id.
  const takenMark = ({ marks }: PhoneDoor): string | undefined => {
    if (isFirst || mark === '') return undefined;
    const [, ...older] = rules.keys;
    return [mark, ...older.map((key) => `0:${makeTurnKey(key)};`)].find((one) => hasMark(marks, one));
  };

  const decide = (session: SessionState): Decision => {
    if (session.kind === 'ended' && takenMark(session.door as PhoneDoor) !== undefined) return { kind: 'repeat' };
    if (session.kind !== 'live') {
      if (isFirst || dialled !== undefined) return begin([]);
      if (session.kind === 'ended' && (session.door as PhoneDoor).isClosed) return { kind: 'repeat' };
      return session.kind === 'unreadable' ? refuse('unknown') : decideUnknown(rules, begin, [text]);
    }
    const door = session.door as PhoneDoor;
    if (!isOwner(request, door)) return refuse('not-yours');
    // The turn was started but never answered: show its outcome.
    const retryMark = takenMark(door);
    if (retryMark !== undefined)
      return door.marks.endsWith(retryMark) ? { kind: 'input', input: '', door } : { kind: 'repeat' };
    // A repeated first request is a retry; later in a session it is a new dial that reuses the session id.
    if (session.turn === 1 && (isFirst || dialled === door.serviceCode)) return { kind: 'repeat' };
    if (isFirst) return begin([]);
    return { kind: 'input', input: text, door: mark ? { ...door, marks: trimMarks(door.marks + mark) } : door };
  };
  return { turnKey, decide };
}

type Begin = (inputs: readonly string[]) => Decision;

function prepareBegin(request: UssdRequest, rules: DialRules, marks: string): Begin {
  const { sessionId, phoneNumber, imsi } = request;
  const serviceCode = request.serviceCode || (request.dialled ?? '');
  const base = { sessionId, phoneNumber, serviceCode, marks, ...(rules.simulated && { simulated: true as const }) };
  const input: DoorValues<'phone'> = { sessionId, phoneNumber, msisdn: phoneNumber, serviceCode };
  const first = rules.given ? { ...rules.given, ...input } : input;
  const { flow, answers } = chooseFlow(rules, serviceCode);
  return (inputs) => {
    const door = imsi === undefined ? base : { ...base, sim: rules.markSim(imsi) };
    // Some gateways repeat what follows the code in the text.
    const isRepeated = answers.every((answer, at) => inputs[at] === answer);
    return {
      kind: 'begin',
      conversation: flow,
      input: first,
      door,
      inputs: isRepeated ? inputs : [...answers, ...inputs],
    };
  };
}

function decideUnknown(rules: DialRules, begin: Begin, inputs: readonly string[]): Decision {
  if (rules.unknownSession === 'end') return refuse('unknown');
  return begin(rules.unknownSession === 'forward' ? inputs : []);
}

// Dialects that do not repeat phone or service code leave them empty.
function isOwner(request: UssdRequest, door: PhoneDoor): boolean {
  const isSame = (value: string, text: string) => value === '' || value === text;
  return isSame(request.phoneNumber, door.phoneNumber) && isSame(request.serviceCode, door.serviceCode);
}

const refuse = (reason: DialRefusal): Decision => ({ kind: 'refuse', reason });
