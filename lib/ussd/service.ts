// The USSD service without HTTP: takes a phone request and always replies with a screen before the deadline.

import type { Conversation } from '../engine/conversation.ts';
import type { Engine } from '../engine/engine.ts';
import { toPath } from '../engine/machine/state-path.ts';
import { openStored } from '../engine/session/open.ts';
import { type Decision, type SessionState, type TurnMove, type TurnResult, takeTurn } from '../engine/session/turn.ts';
import { removeSession, sessionKeys, showSession, viewLiving } from '../engine/sessions.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import type { UssdReply } from './adapter.ts';
import { createAdapters } from './adapters.ts';
import type { FlowCode } from './codes.ts';
import { type DialRefusal, type DialRules, markSim, readDial, type UnknownSession } from './dial.ts';
import { hangUp } from './hang-up.ts';
import { KEY_PREFIX, listKeys, readSessionKey, simulatedKey, ussdKey } from './keys.ts';
import { phoneSessions } from './phone-sessions.ts';
import { DIAL_AGAIN, INVALID_INPUT, NOTHING, UNAVAILABLE } from './reply.ts';
import type { UssdRequest } from './request.ts';

/** Options of `ussdGateway`. Exported as `UssdGatewayOptions`. */
export interface UssdServiceOptions<C extends Conversation = Conversation> {
  readonly engine: Engine<C>;
  /** The flow that a dial starts; read at each dial. */
  readonly flow: string;
  /** Service codes that start other flows; what follows the code in `*700*4*1*2#` are the first answers. @default none */
  readonly codes?: readonly FlowCode[] | undefined;
  readonly keyring: Keyring;
  /** Adapters whose sessions are listed and inspected. @default the shipped ones */
  readonly dialects?: readonly string[];
  /** @default 'end' */
  readonly unknownSession?: UnknownSession;
  /** Deadline for a reply, in milliseconds. @default 8000 */
  readonly deadlineMs?: number;
  /** Called with the cause of an UNAVAILABLE, and the request that got it. */
  readonly onProblem?: (error: unknown, requestId: string | undefined) => void;
  /** Called after each turn, also one that failed or was refused. */
  readonly onTurn?: (turn: UssdTurn) => void;
  /** Shared tracking of a phone's sessions across instances. @default each process tracks its own */
  readonly notes?: Pick<SharedNotes, 'change'> | undefined;
  /** A session was ended because its phone started more than USSD_LIMITS.sessionsPerPhone. */
  readonly onCrowded?: () => void;
}

/** A completed turn, for metrics and logs. */
export interface UssdTurn {
  readonly dialect: string;
  /** The session's key in the store. */
  readonly key: string;
  readonly phoneNumber: string;
  readonly requestId: string | undefined;
  /** Duration in milliseconds. */
  readonly ms: number;
  readonly reply: UssdReply['kind'];
  /** Absent when nothing happened: the reply is a repeated one, the turn was refused or failed, or there is no session. */
  readonly move: TurnMove | undefined;
  /** Why the request was refused: `unknown`, `not-yours`, `mismatch`, or words. */
  readonly refused?: string | undefined;
  /** What failed: an error code, why the record cannot be read, or `late` for a reply after the deadline. */
  readonly failure?: string | undefined;
}

/** A session as shown to operators: without secrets, and with private values masked. */
export interface SessionDebug {
  readonly state: string;
  readonly context: {
    readonly sessionId: string;
    /** E.164 with `+`, in full. */
    readonly phoneNumber: string;
    /** The last screen shown; if the conversation has private values, each of their characters is replaced by `*`. */
    readonly message: string;
    readonly isAuthenticated: boolean;
  };
  readonly status: 'active';
}

/** Facts about a request that are not in the request itself. */
export interface TurnAbout {
  readonly requestId?: string;
  /** What a dial starts. @default the gateway's flow, without initial variables */
  readonly begin?: Partial<Pick<DialRules, 'flow' | 'given'>> | undefined;
  /**
   * The phone is simulated: its sessions are separate from callers' sessions, even with the same id and number.
   * @default false
   */
  readonly simulated?: boolean | undefined;
}

/** The USSD gateway without HTTP. Exported as `UssdGateway`. */
export interface UssdService<C extends Conversation = Conversation> {
  /** Handles a request of a dialect. Never rejects. */
  turn(request: UssdRequest, dialect: string, about?: TurnAbout): Promise<UssdReply>;
  /** A live session; a simulated phone's session only when no caller has this id. */
  inspect(sessionId: string): Promise<SessionDebug | undefined>;
  /** The current screen path of a simulated phone's live session, and its version of the flow. */
  locate(sessionId: string): Promise<{ readonly path: string; readonly conversation: C } | undefined>;
  /** Ids of live sessions. */
  sessions(): Promise<string[]>;
}

interface ServedRequest extends Partial<Pick<TurnAbout, 'begin'>> {
  /** The session's key in the store. */
  readonly key: string;
  readonly request: UssdRequest;
  readonly dialect: string;
  readonly requestId: string | undefined;
  readonly simulated: boolean;
}

const SESSIONS_LISTED = 10_000;

/**
 * Opens the gateway. Sessions of different dialects are separate, even with equal ids.
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
    get flow() {
      return options.flow;
    },
    codes: options.codes,
    keys: options.keyring.ids.map((id) => options.keyring.subkey('turn-key/v1', id)!),
    unknownSession: options.unknownSession ?? 'end',
    markSim: (imsi) => markSim(options.keyring, imsi),
  };
  const phones = phoneSessions({
    isLive: async (key) => (await viewLiving(engine, key)) !== undefined,
    endSession: (key) => removeSession(engine, key, () => true),
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
    const named = begin?.flow !== undefined && { codes: undefined };
    const dial = readDial(request, begin || simulated ? { ...rules, ...named, ...begin, simulated } : rules);
    let hasBegun = false;
    const decide = (session: SessionState): Decision => {
      const decision = dial.decide(session);
      hasBegun = decision.kind === 'begin';
      return decision;
    };
    const startedAt = performance.now();
    const report = (error: unknown) => onProblem?.(error, requestId);
    // Failures of listeners must not change the reply.
    const tell = ({ reply, move, refused, failure }: Pick<UssdTurn, 'reply' | 'move' | 'refused' | 'failure'>) => {
      const ms = Math.round((performance.now() - startedAt) * 100) / 100;
      const why = failure ?? (ms > deadlineMs ? 'late' : undefined);
      const { phoneNumber } = request;
      try {
        onTurn?.({ dialect, key, phoneNumber, requestId, ms, reply, move, refused, failure: why });
      } catch (error) {
        report(error);
      }
    };
    let result: TurnResult;
    try {
      result = await takeTurn(engine, { key, turnKey: dial.turnKey, decide, deadlineMs, requestId });
    } catch (error) {
      tell({ reply: 'end', move: undefined, failure: error instanceof TwinlineError ? error.code : 'internal error' });
      throw error;
    }
    const reply = toReply(result);
    const move = result.kind === 'replied' ? result.move : undefined;
    const failure = result.kind === 'unreadable' ? result.reason : findFailure(result);
    tell({ reply: reply.kind, move, refused: result.kind === 'refused' ? result.reason : undefined, failure });
    // A simulated phone does not count against the caller with the same number.
    const phone = simulated ? `simulated ${request.phoneNumber}` : request.phoneNumber;
    if (reply.kind === 'end') phones.end(phone, key);
    else if (hasBegun) await phones.begin(phone, key).catch(report);
    return reply;
  };

  // Without message numbers a retry cannot be told from a new answer, except while the first is still in progress.
  const answerOnce = (dialectRequest: ServedRequest): Promise<UssdReply> => {
    const { key, request } = dialectRequest;
    if (request.mode === 'cumulative' || request.turnId !== undefined) return answer(dialectRequest);
    const same = `${key}\n${request.phoneNumber}\n${request.text}`;
    const running = inFlight.get(same);
    if (running) return running;
    const reply = answer(dialectRequest).finally(() => inFlight.delete(same));
    inFlight.set(same, reply);
    return reply;
  };

  const act = (dialectRequest: ServedRequest): Promise<UssdReply> => {
    const { key, request } = dialectRequest;
    if (request.event === 'end') return hangUp(engine, key, request);
    return request.event === 'status' ? readStatus(engine, key) : answerOnce(dialectRequest);
  };

  // On timeout the turn continues: the telecom's retry then gets its reply.
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
      const debug = await readDebug(engine, key);
      if (debug) return debug;
    }
    return undefined;
  };

  const locate: UssdService<C>['locate'] = async (sessionId) => {
    for (const key of listKeys(dialects, sessionId, simulatedKey)) {
      const session = openStored(engine, key, await engine.store.load(key));
      if (session.kind === 'live')
        return { path: toPath(session.record.rest.state), conversation: session.conversation };
    }
    return undefined;
  };

  const sessions = async () => {
    const keys = await sessionKeys(engine, { prefix: KEY_PREFIX, limit: SESSIONS_LISTED });
    return keys.map(readSessionKey);
  };

  return { turn, inspect, locate, sessions };
}

// The note's key for a phone, made with the active key: an instance with a new key tracks its own until all have that key.
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
  // A flow that has failed says so in these words itself: it counts, and has the HTTP status, as any other failure of the server.
  if (result.kind === 'replied')
    return result.ending?.status === 'error' && result.reply.text === UNAVAILABLE.text ? UNAVAILABLE : result.reply;
  return result.kind === 'refused' ? (REFUSALS[result.reason as DialRefusal] ?? DIAL_AGAIN) : DIAL_AGAIN;
}

// What a repeated reply tells of has been told before.
function findFailure(result: TurnResult): string | undefined {
  return result.kind === 'replied' && !result.repeated ? result.ending?.error?.code : undefined;
}

async function readStatus(engine: Engine, key: string): Promise<UssdReply> {
  return (await viewLiving(engine, key)) ? { ...NOTHING, kind: 'continue' } : NOTHING;
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
