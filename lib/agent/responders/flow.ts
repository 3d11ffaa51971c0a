// A responder without a model: runs flows on the same engine as phone menus, one session per chat.
//
// The turn key is the run's id, so a repeated turn gives the same answer and has no effect twice.

import { failureCode } from '../../engine/calls.ts';
import type { Conversation } from '../../engine/conversation.ts';
import { createEngine, type Engine, type EngineOptions } from '../../engine/engine.ts';
import { findInvokedServices, listNodes } from '../../engine/machine/statechart.ts';
import type { Service, Services } from '../../engine/service.ts';
import { LaterAnswer } from '../../engine/service.ts';
import { showInput } from '../../engine/session/secret-calls.ts';
import { takeTurn } from '../../engine/session/turn.ts';
import { viewLiving } from '../../engine/sessions.ts';
import { TwinlineError } from '../../errors.ts';
import type { DoorValues } from '../../flow/format/names.ts';
import { isObject, requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import { retryUntilAborted } from '../../retry.ts';
import type { SnapshotStore } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Responder, ResponderPart, ResponderTurn } from '../responder.ts';
import { decideTurn, readMeaning } from './flow-input.ts';

type Watching = Pick<EngineOptions, 'keyring' | 'clock' | 'onFact' | 'onTurn' | 'onProblem' | 'inspector'>;

/** Options of `flowResponder`. */
export interface FlowResponderOptions extends Watching {
  /** May be shared with other doors: its keys start with `agent/`. */
  readonly store: SnapshotStore;
  /** The loaded flows and machines. */
  readonly conversations: readonly Conversation[];
  /** The flow or machine that answers. */
  readonly flow: string;
  /** Services for `call` screens; `agent.tool`, which calls the tools of the turn, is added. */
  readonly services?: Services;
  /** Seconds of silence until the conversation restarts; a flow's own limit, meant for phones, is ignored. @default 2592000 */
  readonly ttlSeconds?: number;
}

/** A responder that answers with a flow. */
export interface FlowResponder extends Responder {
  readonly engine: Engine;
  /** Makes this the current version of a flow; sessions started on older versions continue on those. */
  add(conversation: Conversation): void;
}

/** The service by which a flow calls a tool of the turn: `{ "service": "agent.tool", "with": { "name": …, "args": {…} } }`. */
export const TOOL_SERVICE = 'agent.tool';

const MONTH_SECONDS = 2_592_000;

/** Receives the service calls of a session during one of its turns. */
interface Listener {
  readonly turn: ResponderTurn;
  readonly tell: (part: ResponderPart) => void;
  /** Error codes of failed calls by id; a retry may still succeed. */
  readonly failures: Map<string, string>;
}

/**
 * Creates a responder that takes each message as a turn of a flow.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const responder = flowResponder({ store: memorySnapshots(), conversations: [hello], flow: 'hello' });
 * responder.name; // → 'flow'
 */
export function flowResponder(options: FlowResponderOptions): FlowResponder {
  requireGiven('answer by a flow', options, { store: 'sessions', conversations: 'conversations', flow: 'text' });
  const listeners = new Map<string, Listener>();
  // Services to which some flow passes a secret: their input is not shown.
  const secret = new Set<string>();
  const { store, flow, conversations, services = {}, ttlSeconds = MONTH_SECONDS, ...others } = options;
  const engine = createEngine<Conversation>({
    ...others,
    store: withoutDueTimes(store),
    ttlSeconds,
    services: { ...reportCalls(services, { listeners, secret }), [TOOL_SERVICE]: toolService(listeners) },
  });
  const add = (conversation: Conversation): void => {
    for (const name of secretServices(conversation)) secret.add(name);
    engine.library.add(withoutLimit(conversation));
  };
  for (const conversation of conversations) add(conversation);

  async function* respond(turn: ResponderTurn): AsyncGenerator<ResponderPart> {
    const key = sessionKey(turn.session);
    const parts = partQueue();
    const listener = { turn, tell: parts.push, failures: new Map<string, string>() };
    listeners.set(turn.session, listener);
    try {
      const reply = takeChatTurn(engine, { flow, key, turn });
      yield* parts.until(reply);
      for (const [id, error] of listener.failures) yield { type: 'tool-error', id, error };
      yield* textParts(await reply);
    } finally {
      if (listeners.get(turn.session) === listener) listeners.delete(turn.session);
    }
  }

  return {
    name: 'flow',
    isResumable: true,
    engine,
    respond,
    add,
    // Does not wait for a turn that may be blocked in a call: the sweep removes what that turn still writes.
    forget: async (session) => void (await store.remove(sessionKey(session))),
  };
}

const sessionKey = (session: string) => `agent/${session}`;

/** Takes the turn, retrying temporary store failures until the reply is no longer needed. */
function takeChatTurn(
  engine: Engine,
  { flow, key, turn }: { flow: string; key: string; turn: ResponderTurn },
): Promise<string> {
  const { session: sessionId, owner: did, request, runId } = turn;
  const { locale, timezone } = request;
  const input: Partial<DoorValues<'chat'>> = {
    sessionId,
    did,
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezone }),
  };
  return retryUntilAborted({ clock: engine.clock, signal: turn.signal }, async () => {
    const meaning = readMeaning(engine, { flow, view: await viewLiving(engine, key), text: request.message });
    const decide = decideTurn({ flow, meaning, input, door: { sessionId } });
    const result = await takeTurn(engine, { key, turnKey: runId, decide, deadlineMs: AGENT_LIMITS.runMs });
    if (result.kind === 'replied') return result.reply.text;
    throw new TwinlineError('ERR_RECORD', `The flow refused a message: ${result.reason}.`);
  });
}

/** Splits the text into lines, each a part. */
function* textParts(text: string): Generator<ResponderPart> {
  for (const line of text.split(/(?<=\n)/)) if (line !== '') yield { type: 'text', text: line };
}

// A flow's own limit of a few minutes is meant for phones.
function withoutLimit({ ttlMs: _, ...conversation }: Conversation): Conversation {
  return conversation;
}

function secretServices({ machine, callPolicy }: Conversation): string[] {
  const invocations = [...findInvokedServices(listNodes(machine.source))];
  return invocations.flatMap(([id, services]) => (callPolicy(id).secret ? [...services] : []));
}

// The run itself continues an interrupted turn, so the sweep must not find the session due.
function withoutDueTimes(store: SnapshotStore): SnapshotStore {
  return {
    name: store.name,
    durability: store.durability,
    load: (key) => store.load(key),
    commit: (key, revision, next) => store.commit(key, revision, { ...next, dueAt: null }),
    remove: (key) => store.remove(key),
    list: (page) => store.list(page),
    due: async () => [],
    sweep: (now, limit) => store.sweep(now, limit),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Wraps services to report their calls to the session's listener. */
function reportCalls(
  services: Services,
  { listeners, secret }: { listeners: ReadonlyMap<string, Listener>; secret: ReadonlySet<string> },
): Services {
  const wrap = (name: string, service: Service): Service => {
    return async (input, call) => {
      const listener = listeners.get(call.session.id);
      const id = call.idempotencyKey;
      listener?.tell({ type: 'tool-call', id, name, args: secret.has(name) ? {} : showInput(input, call) });
      try {
        const output = await service(input, call);
        listener?.failures.delete(id);
        if (!(output instanceof LaterAnswer)) listener?.tell({ type: 'tool-result', id, output: output ?? null });
        return output;
      } catch (error) {
        listener?.failures.set(id, failureCode(error));
        throw error;
      }
    };
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, wrap(name, service)]));
}

function toolService(listeners: ReadonlyMap<string, Listener>): Service {
  return async ({ name, args }, call) => {
    const listener = listeners.get(call.session.id);
    if (!listener) throw new TwinlineError('ERR_SERVICE', 'No turn of this session is active in this process.');
    const toolArgs = isObject(args) ? (args as JsonObject) : {};
    const outcome = await listener.turn.tools.call(String(name), toolArgs, { id: call.idempotencyKey });
    if (outcome.ok) return outcome.output;
    throw new TwinlineError('ERR_REFUSED', outcome.error, { reason: 'tool-failed' });
  };
}

/** A queue of parts that services push and one reader pulls. */
function partQueue() {
  let waiting: ResponderPart[] = [];
  let wake = () => {};
  return {
    push(part: ResponderPart): void {
      waiting.push(part);
      wake();
    },
    /** Yields the parts in order until `work` has settled. */
    async *until(work: Promise<unknown>): AsyncGenerator<ResponderPart> {
      let isOver = false;
      const end = () => {
        isOver = true;
        wake();
      };
      work.then(end, end);
      for (;;) {
        const parts = waiting;
        waiting = [];
        yield* parts;
        if (waiting.length) continue;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
