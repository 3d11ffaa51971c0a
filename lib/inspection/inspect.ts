// The stream of an engine's sessions for those who use the library alone: what Stately's inspector reads.

import { randomBytes } from 'node:crypto';
import type { Inspector } from '../engine/conversation.ts';
import type { Engine } from '../engine/engine.ts';
import { requireGiven } from '../given.ts';
import { defineMachine } from './definition.ts';
import { feed } from './feed.ts';
import { createHub, type Hub } from './hub.ts';
import { listOpenSessions, sessionSecret } from './trace.ts';

interface Inspection {
  readonly hub: Hub;
  /** Makes the names of sessions. */
  readonly secret: Buffer;
}

const inspections = new WeakMap<Engine, Inspection>();

/**
 * What happens in an engine, as the messages of Stately's inspector (`@statelyai/inspect`), each a JSON text: first the sessions that live,
 * then every turn once it is stored, until the loop is left or `signal` aborts. Send them over a WebSocket, to which
 * `createWebSocketReceiver` of that package listens. Secrets are left out, private values masked, phone numbers shortened. A reader that
 * falls LIMITS.inspectorQueue turns behind is cut off. While nobody reads, nothing is recorded. Throws ERR_CONFIG for what is no engine.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * for await (const message of inspectEngine(engine)) {
 *   JSON.parse(message).name; // → 'hello ann'
 *   break;
 * }
 */
export function inspectEngine(
  engine: Engine,
  { signal }: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<string> {
  requireGiven('inspect an engine', { engine }, { engine: 'engine' });
  return readMessages(engine, signal ?? new AbortController().signal);
}

async function* readMessages(engine: Engine, signal: AbortSignal): AsyncGenerator<string> {
  const { hub, secret } = inspections.get(engine) ?? attachHub(engine);
  const definition = (id: string) => {
    const conversation = engine.library.current(id);
    return conversation && defineMachine(conversation);
  };
  const openSessions = (until: AbortSignal) => listOpenSessions(engine, { secret, signal: until });
  const source = { hub, definition, openSessions, now: engine.clock.now };
  for await (const batch of feed(source, { signal, definitions: 'always' })) yield* batch;
}

function attachHub(engine: Engine): Inspection {
  const secret = engine.keyring ? sessionSecret(engine.keyring) : randomBytes(32);
  const hub = createHub({ secret, onProblem: (error) => engine.onProblem?.({ key: '', reason: 'background', error }) });
  const inspection = { hub, secret };
  inspections.set(engine, inspection);
  engine.inspector = engine.inspector ? tellBoth(engine.inspector, hub) : hub;
  return inspection;
}

function tellBoth(...inspectors: readonly Inspector[]): Inspector {
  return {
    isWatched: () => inspectors.some((one) => one.isWatched()),
    emit: (event) => {
      for (const one of inspectors) if (one.isWatched()) one.emit(event);
    },
  };
}
