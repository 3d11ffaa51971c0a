// The USSD service without HTTP: takes a phone request and always answers with a screen within the deadline.

import type { Conversation } from '../engine/conversation.ts';
import type { Engine } from '../engine/engine.ts';
import { toPath } from '../engine/machine/state-path.ts';
import { openStored } from '../engine/session/open.ts';
import { type Decision, type SessionState, type TurnMove, type TurnResult, takeTurn } from '../engine/session/turn.ts';
import { endSession, type SessionView, sessionKeys, showSession, viewSession } from '../engine/sessions.ts';
import { requireGiven } from '../given.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import type { UssdReply } from './adapter.ts';
import { createAdapters } from './adapters.ts';
import { CLOSED, type DialRefusal, type DialRules, markSim, readDial, type UnknownSession } from './dial.ts';
import { KEY_PREFIX, listKeys, readSessionKey, simulatedKey, ussdKey } from './keys.ts';
import { phoneSessions } from './phone-sessions.ts';
import { INVALID_INPUT, NOTHING, UNAVAILABLE } from './reply.ts';
import type { UssdRequest } from './request.ts';

/** Shown when a session is over, expired or unreadable and the caller goes on in it. */
export const DIAL_AGAIN: UssdReply = { kind: 'end', text: 'Your session has ended. Please dial again.' };

/** Options of `ussdGateway`. Exported as `UssdGatewayOptions`. */
export interface UssdServiceOptions<C extends Conversation = Conversation> {
  readonly engine: Engine<C>;
  /** The flow that a dial starts. */
  readonly flow: string;
  readonly keyring: Keyring;
  /** Names of the adapters whose sessions are listed and looked at. @default those that are shipped */
  readonly dialects?: readonly string[];
  /** @default 'end' */
  readonly unknownSession?: UnknownSession;
  /** Milliseconds until an answer must be there. @default 8000 */
  readonly deadlineMs?: number;
  /** What went wrong behind an UNAVAILABLE, and the request that it was shown to. */
  readonly onProblem?: (error: unknown, requestId: string | undefined) => void;
  /** Called with each turn that was answered, and where it led. */
  readonly onTurn?: (turn: UssdTurn) => void;
  /** Where instances that share their store note the sessions of a phone. @default each counts for itself */
  readonly notes?: SharedNotes | undefined;
  /** A session ended because its phone began more than USSD_LIMITS.sessionsPerPhone. */
  readonly onCrowded?: () => void;
}

/** A turn that was answered, for those who count and log. */
export interface UssdTurn {
  readonly dialect: string;
  readonly phoneNumber: string;
  readonly requestId: string | undefined;
  /** Milliseconds that it took. */
  readonly ms: number;
  readonly reply: UssdReply['kind'];
  /** Missing where nothing was done: the reply is one of before, or there is no session. */
  readonly move: TurnMove | undefined;
}

/** A session as operators see it: without secrets, with private values masked. */
export interface SessionDebug {
  readonly state: string;
  readonly context: {
    readonly sessionId: string;
    /** E.164 with `+`, whole. */
    readonly phoneNumber: string;
    /** The screen that was shown last; in a conversation with private values, `*` stands for each of their characters. */
    readonly message: string;
    readonly isAuthenticated: boolean;
  };
  readonly status: 'active';
}

/** What is known of a request besides what it says. */
export interface TurnAbout {
  readonly requestId?: string;
  /** What it begins when it is a dial. @default the flow of the door, and nothing given */
  readonly begin?: Partial<Pick<DialRules, 'flow' | 'given'>> | undefined;
  /** The phone is one of the simulator: its sessions are apart from those of callers, also of the same id and number. @default false */
  readonly simulated?: boolean | undefined;
}

/** The USSD door without HTTP. Exported as `UssdGateway`. */
export interface UssdService<C extends Conversation = Conversation> {
  /** Answers a request of a dialect. Never rejects. */
  turn(request: UssdRequest, dialect: string, about?: TurnAbout): Promise<UssdReply>;
  /** A living session; that of a simulated phone where no caller has one of this id. */
  inspect(sessionId: string): Promise<SessionDebug | undefined>;
  /** The path of the screen that a living session of a simulated phone is at, and the version of the flow that it is in. */
  locate(sessionId: string): Promise<{ readonly path: string; readonly conversation: C } | undefined>;
  /** Ids of living sessions. */
  sessions(): Promise<string[]>;
}

interface ServedRequest extends Partial<Pick<TurnAbout, 'begin'>> {
  /** Of the session in the store. */
  readonly key: string;
  readonly request: UssdRequest;
  readonly dialect: string;
  readonly requestId: string | undefined;
  readonly simulated: boolean;
}

const SESSIONS_LISTED = 10_000;

/**
 * Opens the door. Session ids of different dialects never meet.
 * @example
 * import { randomBytes } from 'node:crypto';
 *
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const keyring = parseKeyring(randomBytes(32).toString('hex'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello], keyring });
 * const gateway = ussdGateway({ engine, flow: 'hello', keyring });
 * const { africastalking } = createAdapters('cumulative');
 * const body = 'sessionId=s1&serviceCode=*1%23&phoneNumber=%2B260971234567&text=';
 * const request = africastalking.read({ method: 'POST', path: [], query: new URLSearchParams(), headers: {}, body });
 * await gateway.turn(request, 'africastalking'); // → { kind: 'continue', text: 'Hello\n1. Leave' }
 */
export function ussdService<C extends Conversation>(options: UssdServiceOptions<C>): UssdService<C> {
  requireGiven('make a USSD gateway', options, { engine: 'engine', flow: 'text', keyring: 'keyring' });
  const { engine, onProblem, onTurn, dialects = Object.keys(createAdapters('cumulative')) } = options;
  const deadlineMs = options.deadlineMs ?? 8_000;
  const rules: DialRules = {
    flow: options.flow,
    keys: options.keyring.ids.map((id) => options.keyring.subkey('turn-key/v1', id)!),
    unknownSession: options.unknownSession ?? 'end',
    markSim: (imsi) => markSim(options.keyring, imsi),
  };
  const phones = phoneSessions({
    isLive: async (key) => (await viewSession(engine, key)) !== undefined,
    endSession: (key) => endLive(engine, key, () => true),
    onEnded: options.onCrowded,
    shared: options.notes && {
      notes: options.notes,
      name: namePhone(options.keyring),
      onProblem: (error) => onProblem?.(error, undefined),
    },
  });
  const inFlight = new Map<string, Promise<UssdReply>>();

  const answer = async ({ key, request, dialect, requestId, ...about }: ServedRequest): Promise<UssdReply> => {
    const { begin, simulated } = about;
    const dial = readDial(request, begin || simulated ? { ...rules, ...begin, simulated } : rules);
    let hasBegun = false;
    const decide = (seen: SessionState): Decision => {
      const decision = dial.decide(seen);
      hasBegun = decision.kind === 'begin';
      return decision;
    };
    const begun = performance.now();
    const result = await takeTurn(engine, { key, turnKey: dial.turnKey, decide, deadlineMs, requestId });
    const reply = toReply(result);
    // The turn is stored: what fails from here on must not change its answer.
    const report = (error: unknown) => onProblem?.(error, requestId);
    const move = result.kind === 'replied' ? result.move : undefined;
    const ms = Math.round((performance.now() - begun) * 100) / 100;
    try {
      onTurn?.({ dialect, phoneNumber: request.phoneNumber, requestId, ms, reply: reply.kind, move });
    } catch (error) {
      report(error);
    }
    // A simulated phone takes no place from the caller whose number it has.
    const phone = simulated ? `simulated ${request.phoneNumber}` : request.phoneNumber;
    if (reply.kind === 'end') phones.end(phone, key);
    else if (hasBegun) await phones.begin(phone, key).catch(report);
    return reply;
  };

  // Without message numbers a repeated answer cannot be distinguished from a new one, except while the first is still in progress.
  const answerOnce = (asked: ServedRequest): Promise<UssdReply> => {
    const { key, request } = asked;
    if (request.mode === 'cumulative' || request.turnId !== undefined) return answer(asked);
    const same = `${key}\n${request.phoneNumber}\n${request.text}`;
    const known = inFlight.get(same);
    if (known) return known;
    const made = answer(asked).finally(() => inFlight.delete(same));
    inFlight.set(same, made);
    return made;
  };

  const act = (asked: ServedRequest): Promise<UssdReply> => {
    const { key, request } = asked;
    if (request.event === 'end') return hangUp(engine, key, request);
    return request.event === 'status' ? readStatus(engine, key) : answerOnce(asked);
  };

  // The turn goes on when its time is up: the telecom's retry then finds its answer.
  const turn: UssdService['turn'] = (request, dialect, about) =>
    new Promise((resolve) => {
      const { requestId, begin, simulated = false } = about ?? {};
      const key = (simulated ? simulatedKey : ussdKey)(dialect, request.sessionId);
      const timer = setTimeout(resolve, deadlineMs, UNAVAILABLE);
      const show = (reply: UssdReply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const reply = act({ key, request, dialect, requestId, begin, simulated });
      reply.then(show, (error) => {
        onProblem?.(error, requestId);
        show(UNAVAILABLE);
      });
    });

  const inspect = async (sessionId: string): Promise<SessionDebug | undefined> => {
    for (const key of [...listKeys(dialects, sessionId, ussdKey), ...listKeys(dialects, sessionId, simulatedKey)]) {
      const found = await readDebug(engine, key);
      if (found) return found;
    }
    return undefined;
  };

  const locate: UssdService<C>['locate'] = async (sessionId) => {
    for (const key of listKeys(dialects, sessionId, simulatedKey)) {
      const opened = openStored(engine, key, await engine.store.load(key));
      if (opened.kind === 'live') return { path: toPath(opened.record.rest.state), conversation: opened.conversation };
    }
    return undefined;
  };

  const sessions = async () => {
    const keys = await sessionKeys(engine, { prefix: KEY_PREFIX, limit: SESSIONS_LISTED });
    return keys.map(readSessionKey);
  };

  return { turn, inspect, locate, sessions };
}

// Under which the sessions of a phone are noted, by the active key: an instance whose key is new counts for itself until all have it.
function namePhone(keyring: Keyring): (phone: string) => string {
  const key = keyring.subkey('phone-sessions/v1')!;
  return (phone) => `phone:${shortMac(key, [phone])}`;
}

const REFUSALS: { readonly [reason in DialRefusal]: UssdReply } = {
  'not-yours': INVALID_INPUT,
  mismatch: INVALID_INPUT,
  unknown: DIAL_AGAIN,
};

function toReply(result: TurnResult): UssdReply {
  if (result.kind === 'replied') return result.reply;
  return result.kind === 'refused' ? (REFUSALS[result.reason as DialRefusal] ?? DIAL_AGAIN) : DIAL_AGAIN;
}

async function hangUp(engine: Engine, key: string, request: UssdRequest): Promise<UssdReply> {
  await endLive(engine, key, (session) => mayEnd(session, request));
  return NOTHING;
}

// In the order of its turns: what was looked at is what is removed.
function endLive(engine: Engine, key: string, may: (session: SessionView) => boolean): Promise<boolean> {
  return engine.inOrder(key, async () => {
    const session = await viewSession(engine, key);
    const isEnding = session !== undefined && may(session);
    if (isEnding) await engine.store.remove(key);
    return isEnding;
  });
}

/**
 * Ends a living session of a phone for an operator: its caller reads {@link DIAL_AGAIN} at the next answer, and may dial again.
 * False when there is none.
 */
export function closeSession(engine: Engine, key: string): Promise<boolean> {
  return endSession(engine, key, { reply: DIAL_AGAIN.text, door: CLOSED });
}

// Dialects that name no phone show what they have seen, or have the session in their path.
function mayEnd({ door, reply }: SessionView, { phoneNumber, serviceCode, lastReply }: UssdRequest): boolean {
  const isSame = (sent: string, kept: unknown) => sent === '' || sent === kept;
  if (!isSame(phoneNumber, door.phoneNumber) || !isSame(serviceCode, door.serviceCode)) return false;
  return lastReply === undefined || normalizeScreen(lastReply) === normalizeScreen(reply);
}

// Telecoms show it with its first word or without, and in a form line ends may be any space.
const normalizeScreen = (screen: string) =>
  screen
    .replace(/^(CON|END)\s/, '')
    .replace(/\s+/g, ' ')
    .trim();

async function readStatus(engine: Engine, key: string): Promise<UssdReply> {
  return (await viewSession(engine, key)) ? { ...NOTHING, kind: 'continue' } : NOTHING;
}

async function readDebug(engine: Engine, key: string): Promise<SessionDebug | undefined> {
  const session = await showSession(engine, key);
  if (!session) return undefined;
  const { sessionId, phoneNumber } = session.door as { sessionId: string; phoneNumber: string };
  const isAuthenticated = session.rest.context.isAuthenticated === true;
  return {
    state: toPath(session.rest.state),
    context: { sessionId, phoneNumber, message: session.reply(), isAuthenticated },
    status: 'active',
  };
}
