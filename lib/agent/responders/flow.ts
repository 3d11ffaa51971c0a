// The responder that needs no model: the flows of the phone menus, through the same engine, one session per chat.
//
// The key of a turn is the id of its run, so a turn that is taken again answers the same and does nothing twice.

import type { Conversation } from '../../engine/conversation.ts';
import { createEngine, type Engine, type EngineOptions } from '../../engine/engine.ts';
import { findInvokedServices } from '../../engine/machine/shortcut.ts';
import type { Service, Services } from '../../engine/service.ts';
import { showInput } from '../../engine/session/secret-calls.ts';
import { takeTurn } from '../../engine/session/turn.ts';
import { viewSession } from '../../engine/sessions.ts';
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
  /** Shared with other doors: its keys begin with `agent/`. */
  readonly store: SnapshotStore;
  /** The flows that are loaded, and machines of their own. */
  readonly conversations: readonly Conversation[];
  /** The flow or machine that answers. */
  readonly flow: string;
  /** What `call` screens name; beside them `agent.tool` calls the tools of the turn. */
  readonly services?: Services;
  /** Seconds of silence before a conversation begins anew; a flow's own limit is for phones and does not count. @default 2592000 */
  readonly ttlSeconds?: number;
}

/** A responder that answers by a flow. */
export interface FlowResponder extends Responder {
  readonly engine: Engine;
  /** Makes this the current version of a flow; sessions that began on others go on with those. */
  add(conversation: Conversation): void;
}

/** The service by which a flow calls a tool of the turn: `{ "service": "agent.tool", "with": { "name": …, "args": {…} } }`. */
export const TOOL_SERVICE = 'agent.tool';

const MONTH_SECONDS = 2_592_000;

/** Gets the service calls of a session while one of its turns is taken. */
interface Listener {
  readonly turn: ResponderTurn;
  readonly tell: (part: ResponderPart) => void;
  /** Why calls failed, by their ids: each may be tried again. */
  readonly failures: Map<string, string>;
}

/**
 * Makes a responder that takes each message as a turn of a flow.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const responder = flowResponder({ store: memorySnapshots(), conversations: [hello], flow: 'hello' });
 * responder.name; // → 'flow'
 */
export function flowResponder(options: FlowResponderOptions): FlowResponder {
  requireGiven('answer by a flow', options, { store: 'sessions', conversations: 'conversations', flow: 'text' });
  const listeners = new Map<string, Listener>();
  // Services to which some flow sends a secret: what they are called with is not shown.
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
    // Does not wait for a turn that may be waiting for a call: what that turn still writes is removed by the sweep.
    forget: async (session) => void (await store.remove(sessionKey(session))),
  };
}

const sessionKey = (session: string) => `agent/${session}`;

/** The reply to a turn, retried while it is wanted and the failure of the store may be temporary. */
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
    const meaning = readMeaning(engine, { flow, view: await viewSession(engine, key), text: request.message });
    const decide = decideTurn({ flow, meaning, input, door: { sessionId } });
    const result = await takeTurn(engine, { key, turnKey: runId, decide, deadlineMs: AGENT_LIMITS.runMs });
    if (result.kind === 'replied') return result.reply.text;
    throw new TwinlineError('ERR_RECORD', `The flow did not take a message: ${result.reason}.`);
  });
}

/** The text line by line, as a person would type it. */
function* textParts(text: string): Generator<ResponderPart> {
  for (const line of text.split(/(?<=\n)/)) if (line !== '') yield { type: 'text', text: line };
}

// The limit of a flow, which is minutes, is for callers on a phone.
function withoutLimit({ ttlMs: _, ...conversation }: Conversation): Conversation {
  return conversation;
}

function secretServices({ machine, callPolicy }: Conversation): string[] {
  return [...findInvokedServices(machine.source)].flatMap(([id, service]) => (callPolicy(id).secret ? [service] : []));
}

// A turn that was interrupted is continued by its run, so no sweep may find the session due.
function withoutDueTimes(store: SnapshotStore): SnapshotStore {
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

/** Services that report their calls to the listeners of the session. */
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
    const given = isObject(args) ? (args as JsonObject) : {};
    const outcome = await listener.turn.tools.call(String(name), given, { id: call.idempotencyKey });
    if (outcome.ok) return outcome.output;
    throw new TwinlineError('ERR_REFUSED', outcome.error, { reason: 'tool-failed' });
  };
}

/** Parts that services push, and one reader pulls. */
function partQueue() {
  let waiting: ResponderPart[] = [];
  let wake = () => {};
  return {
    push(part: ResponderPart): void {
      waiting.push(part);
      wake();
    },
    /** The parts in order, until `done` has settled. */
    async *until(done: Promise<unknown>): AsyncGenerator<ResponderPart> {
      let isOver = false;
      const end = () => {
        isOver = true;
        wake();
      };
      done.then(end, end);
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
