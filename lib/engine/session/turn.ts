// A turn: load → retry? → due timers → transition → effects → one atomic commit → reply.
// Exactly once rests on one write: a compare-and-set on the revision that stores the turn key with its reply. A turn that calls a
// service commits its intent first, so no other process makes the call, and a crash leaves its idempotency key behind.

import { TwinlineError } from '../../errors.ts';
import { checkTurn, requireGiven } from '../../given.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { inBackground, retryUntilCommitted } from './attempt.ts';
import type { Decision, Ending, SessionState, TurnMove, TurnRequest, TurnResult } from './turn-result.ts';

export type { Decision, Ending, SessionState, TurnMove, TurnRequest, TurnResult };

/**
 * Takes one turn of a session and resolves once it is stored. Turns of one session run one after the other.
 * Throws ERR_STORE, ERR_CONFLICT, ERR_MACHINE, ERR_TURN_LIMIT, ERR_FLOW_UNKNOWN or ERR_BUSY; then nothing of
 * the turn is stored but which calls it had begun.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * await takeTurn(engine, { key: 'ann', turnKey: 'a', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * const leave = () => takeTurn(engine, { key: 'ann', turnKey: 'b', decide: () => ({ kind: 'input', input: '1' }) });
 * (await leave()).reply?.text; // → 'Bye'
 * (await leave()).repeated; // → true
 */
export function takeTurn(engine: Engine, request: TurnRequest): Promise<TurnResult> {
  const { key, turnKey, decide, deadlineMs = 8_000, requestId } = checkTurn(engine, request);
  const until = engine.clock.now() + deadlineMs - ENGINE_LIMITS.turnReserveMs;
  return engine.inOrder(key, () => retryUntilCommitted(engine, { key, until, turnKey, decide, requestId }));
}

/**
 * Fires the due timers of a session and makes the calls again whose process died; does not wait for their answers.
 * Any process may do it, each second. A session that cannot be woken is postponed by a minute, and the error is thrown.
 * @example
 * const engine = createEngine({ store: memorySnapshots(), conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * for (const key of await engine.store.due(engine.clock.now(), 10)) await wakeSession(engine, key);
 * await viewSession(engine, 'nobody'); // → undefined
 */
export async function wakeSession(engine: Engine, key: string): Promise<void> {
  requireGiven('wake a session', { engine, key }, { engine: 'engine', key: 'text' });
  await engine.inOrder(key, async () => {
    try {
      const { kind } = await inBackground(engine, key, 'wake');
      if (kind === 'unreadable') await postponeWake(engine, key);
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry)) await postponeWake(engine, key);
      throw error;
    }
  });
}

const POSTPONE_MS = 60_000;

// Without this, sessions that fail would stay first in the list of due ones.
async function postponeWake(engine: Engine, key: string): Promise<void> {
  const session = await engine.store.load(key);
  const now = engine.clock.now();
  if (!session || session.dueAt === null || session.dueAt > now) return;
  const { revision, ...same } = session;
  await engine.store.commit(key, revision, { ...same, dueAt: now + POSTPONE_MS });
}
