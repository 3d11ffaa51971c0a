// The responder that needs no model: the flows of the phone menus, through the same engine, one session per chat.
//
// The key of a turn is the id of its run, so a turn that is taken again answers the same and does nothing twice.

import { createEngine, type Engine, type EngineOptions } from '../../engine/engine.ts';
import type { Service, Services } from '../../engine/service.ts';
import { type TurnResult, takeTurn } from '../../engine/session/turn.ts';
import { viewSession } from '../../engine/sessions.ts';
import { TwinlineError } from '../../errors.ts';
import type { CompiledFlow } from '../../flow/run/compile.ts';
import { retryUntilAborted } from '../../retry.ts';
import type { Json, JsonObject, SnapshotStore } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Part, Responder, ResponderTurn } from '../responder.ts';
import { decisionOf, meaningOf } from './flow-input.ts';
import { partQueue } from './part-queue.ts';

type Watching = Pick<EngineOptions, 'keyring' | 'clock' | 'onFact' | 'onTurn' | 'onProblem' | 'inspector'>;

export interface FlowResponderOptions extends Watching {
  /** Shared with other doors: its keys begin with `agent/`. */
  readonly store: SnapshotStore;
  /** The flows that are loaded. */
  readonly conversations: readonly CompiledFlow[];
  /** The flow that answers. */
  readonly flow: string;
  /** What `call` screens name; beside them `agent.tool` calls the tools of the turn. */
  readonly services?: Services;
  /** Seconds of silence before a conversation begins anew; a flow's own limit is for phones and does not count. @default 2592000 */
  readonly ttlSeconds?: number;
}

export interface FlowResponder extends Responder {
  readonly engine: Engine;
  /** Makes this the current version of a flow; sessions that began on others go on with those. */
  add(conversation: CompiledFlow): void;
}

/** The service by which a flow calls a tool of the turn: `{ "service": "agent.tool", "with": { "name": …, "args": {…} } }`. */
export const TOOL_SERVICE = 'agent.tool';

const MONTH_SECONDS = 2_592_000;

/** Who listens to the calls of a session while a turn is being taken. */
interface Listener {
  readonly turn: ResponderTurn;
  readonly tell: (part: Part) => void;
  /** Why calls failed, by their ids: each may be tried again. */
  readonly failures: Map<string, string>;
}

export function flowResponder(options: FlowResponderOptions): FlowResponder {
  const listeners = new Map<string, Listener>();
  // Services that get a secret from any flow: what they are called with is not shown.
  const secret = new Set<string>();
  const { store, flow, conversations, services = {}, ttlSeconds = MONTH_SECONDS, ...others } = options;
  const engine = createEngine({
    ...others,
    store: undisturbed(store),
    ttlSeconds,
    services: { ...told(services, { listeners, secret }), [TOOL_SERVICE]: toolService(listeners) },
  });
  const add = (conversation: CompiledFlow): void => {
    for (const name of secretServices(conversation)) secret.add(name);
    engine.library.add(lasting(conversation));
  };
  for (const conversation of conversations) add(conversation);

  async function* respond(turn: ResponderTurn): AsyncGenerator<Part> {
    const key = keyOf(turn.session);
    const parts = partQueue<Part>();
    const listener = { turn, tell: parts.push, failures: new Map<string, string>() };
    listeners.set(turn.session, listener);
    try {
      void answer(engine, { flow, key, turn }).then(parts.end, parts.fail);
      for await (const part of parts.items) yield part;
      for (const [id, error] of listener.failures) yield { type: 'tool-error', id, error };
      yield* linesOf(await parts.result);
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
    // Not in line behind a turn that may wait for a call: what that one writes yet goes when the session is looked at again.
    forget: async (session) => void (await store.remove(keyOf(session))),
  };
}

const keyOf = (session: string) => `agent/${session}`;

/** The reply to a turn, retried while it is wanted and the failure of the store may be temporary. */
function answer(
  engine: Engine,
  { flow, key, turn }: { flow: string; key: string; turn: ResponderTurn },
): Promise<string> {
  return retryUntilAborted({ clock: engine.clock, signal: turn.signal }, async () =>
    replyOf(await taken(engine, { flow, key, turn })),
  );
}

async function taken(
  engine: Engine,
  { flow, key, turn }: { flow: string; key: string; turn: ResponderTurn },
): Promise<TurnResult> {
  const { session: sessionId, owner: did, request, runId } = turn;
  const meaning = meaningOf(engine, { flow, view: await viewSession(engine, key), text: request.message });
  const known = { sessionId, did, ...pick(request, ['locale', 'timezone']) };
  const decide = decisionOf({ flow, meaning, input: known, door: { sessionId } });
  return takeTurn(engine, { key, turnKey: runId, decide, deadlineMs: AGENT_LIMITS.runMs });
}

function replyOf(result: TurnResult): string {
  if (result.kind === 'replied') return result.reply.text;
  throw new TwinlineError('ERR_RECORD', `The flow did not take a message: ${result.reason}.`);
}

function pick(request: ResponderTurn['request'], names: readonly ('locale' | 'timezone')[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])));
}

// Line by line, as somebody would type it.
function* linesOf(text: string): Generator<Part> {
  for (const line of text.split(/(?<=\n)/)) if (line !== '') yield { type: 'text', text: line };
}

// A limit of minutes is for callers on a phone.
function lasting({ ttlMs: _, ...conversation }: CompiledFlow): CompiledFlow {
  return conversation;
}

function secretServices({ screens, callPolicy }: CompiledFlow): string[] {
  return [...screens].flatMap(([path, { screen }]) =>
    screen.type === 'call' && callPolicy(path).secret ? [screen.service] : [],
  );
}

// A turn that was broken off is carried on by its run, so the session never falls due for anybody else.
function undisturbed(store: SnapshotStore): SnapshotStore {
  return {
    name: store.name,
    durability: store.durability,
    load: (key) => store.load(key),
    commit: (key, expected, next) => store.commit(key, expected, { ...next, dueAt: null }),
    remove: (key) => store.remove(key),
    list: (page) => store.list(page),
    due: async () => [],
    sweep: (now, limit) => store.sweep(now, limit),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

interface Telling {
  readonly listeners: ReadonlyMap<string, Listener>;
  readonly secret: ReadonlySet<string>;
}

/** Services that report their calls to the listeners of the session. */
function told(services: Services, { listeners, secret }: Telling): Services {
  const wrap = (name: string, service: Service): Service => {
    return async (input, call) => {
      const listener = listeners.get(call.session.id);
      const id = call.idempotencyKey;
      listener?.tell({ type: 'tool-call', id, name, args: secret.has(name) ? {} : input });
      try {
        const output = await service(input, call);
        listener?.failures.delete(id);
        listener?.tell({ type: 'tool-result', id, output: output ?? null });
        return output;
      } catch (error) {
        listener?.failures.set(id, error instanceof TwinlineError ? error.code : 'ERR_SERVICE');
        throw error;
      }
    };
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, wrap(name, service)]));
}

function toolService(listeners: ReadonlyMap<string, Listener>): Service {
  return async ({ name, args }, call) => {
    const listener = listeners.get(call.session.id);
    if (!listener) throw new TwinlineError('ERR_SERVICE', 'No turn of this session is being taken here.');
    const outcome = await listener.turn.tools.call(String(name), objectOf(args), { id: call.idempotencyKey });
    if (outcome.ok) return outcome.output;
    throw new TwinlineError('ERR_REFUSED', outcome.error, { reason: 'tool-failed' });
  };
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
