// The answer of a call, brought from outside by whoever has its token.

import { requireGiven } from '../../given.ts';
import type { Engine } from '../engine.ts';
import { type Completion, checkAnswer, openToken } from '../later.ts';
import type { ServiceAnswer } from '../machine/step.ts';
import { inBackground } from './attempt.ts';
import { readRecord } from './open.ts';
import type { Delivery } from './run.ts';
import { SESSION_CALLS } from './settle.ts';

/**
 * Answers a call of a session whose service said that its answer comes later, see `later`. The answer is stored when this resolves, once:
 * a second one is told `already-completed` and changes nothing. `not-waiting`: the time was over, the machine has left the state, or the
 * session has ended. Any instance with the same store and keys may do it, also after a restart, also before the service has returned.
 *
 * `answer` is `{ ok: true, output }`, any JSON of at most COMMON_LIMITS.recordChars / 2 characters, or `{ ok: false, error }` with a
 * code, a message and perhaps `data`, as of ServiceError; it is stored and shown, and must hold no secret. Calls of documents are
 * answered by `completeCall` of their lifecycle.
 *
 * Rejects with ERR_INPUT for a token that is none, or an answer of another form; ERR_CONFIG without a keyring; ERR_STORE, ERR_CONFLICT
 * and ERR_BUSY, after which it may be tried again with the same token.
 * @example
 * import { randomBytes } from 'node:crypto';
 *
 * let token = '';
 * const services: Services = {
 *   pay: async (_input, call) => {
 *     const answer = later(call, { within: 60_000 });
 *     token = answer.token;
 *     return answer;
 *   },
 * };
 * const states = { paying: { invoke: { id: 'pay', src: 'pay', onDone: 'paid', onError: 'unpaid' } }, paid: {}, unpaid: {} };
 * const shop = machineConversation(compileMachine(createMachine({ id: 'shop', initial: 'paying', states })));
 * const keyring = parseKeyring(randomBytes(32).toString('hex'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [shop], services, keyring });
 * const decide = () => ({ kind: 'begin', conversation: 'shop' }) as const;
 * (await takeTurn(engine, { key: 'ann', decide })).reply?.text; // → '"paying"'
 * await completeCall(engine, token, { ok: true, output: { receipt: 7 } }); // → 'completed'
 * (await viewSession(engine, 'ann'))?.rest.state; // → 'paid'
 * await completeCall(engine, token, { ok: true, output: null }); // → 'already-completed'
 */
export async function completeCall(engine: Engine, token: string, answer: ServiceAnswer): Promise<Completion> {
  requireGiven('complete a call', { engine, token }, { engine: 'engine', token: 'text' });
  const [session, key] = openToken(engine.keyring, SESSION_CALLS, token);
  const delivery: Delivery = { key, outcome: checkAnswer(answer) };
  await engine.inOrder(session, () => inBackground(engine, session, delivery));
  return delivery.fate ?? 'not-waiting';
}

/** The service of a call that waits for an answer of this token; undefined when none does. Rejects as {@link completeCall}. */
export async function findWaitingService(engine: Engine, token: string): Promise<string | undefined> {
  const [session, key] = openToken(engine.keyring, SESSION_CALLS, token);
  const stored = await engine.store.load(session);
  const record = stored && readRecord(engine, session, stored);
  return typeof record === 'object' ? record.calls.find((call) => call.key === key)?.service : undefined;
}
