// What happens to sessions when nobody asks: their timers fire, and when they are over they are thrown away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { SimulatedClock } from '../../../lib/clock.ts';
import { createEngine } from '../../../lib/engine/engine.ts';
import { machineConversation } from '../../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../../lib/engine/machine/transition.ts';
import { takeTurn } from '../../../lib/engine/session/turn.ts';
import { viewSession } from '../../../lib/engine/sessions.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import { startSweeper, sweepSessions } from '../../../server/boot/sweeper.ts';
import { until } from '../../support/until.ts';

const test = suite('sweeper');

const bell = compileMachine(
  createMachine({ id: 'bell', initial: 'quiet', states: { quiet: { after: { 300: 'rung' } }, rung: {} } }),
);

/** A store and a sweeper on one clock; `sweepUntil` lets it work until something holds. */
function place(store = memorySnapshots) {
  const clock = new SimulatedClock();
  const kept = store({ clock });
  const engine = createEngine({ store: kept, clock, conversations: [machineConversation(bell)] });
  const problems: unknown[] = [];
  const begin = () => startSweeper([sweepSessions(engine)], { clock, onProblem: (error) => problems.push(error) });
  const sweepUntil = (what: string, holds: () => boolean | Promise<boolean>) =>
    until(what, async () => {
      await clock.advance(1_200);
      return holds();
    });
  return { clock, store: kept, engine, problems, begin, sweepUntil };
}

test('due timers fire by themselves, in many sessions at once', async () => {
  const { engine, problems, begin, sweepUntil } = place();
  const keys = Array.from({ length: 40 }, (_, at) => `bell-${at}`);
  for (const key of keys) await takeTurn(engine, { key, decide: () => ({ kind: 'begin', conversation: 'bell' }) });
  const sweeper = begin();
  const rung = async (key: string) => (await viewSession(engine, key))?.rest.state === 'rung';
  await sweepUntil('all have rung', async () => (await Promise.all(keys.map(rung))).every(Boolean));
  await sweeper.stop();
  assert.equal(problems, []);
});

test('sessions that are over are removed from the store, not only hidden', async () => {
  const { clock, store, begin, sweepUntil } = place();
  const session = { record: 'r', turnKey: 't', reply: 'x', ended: false, dueAt: null };
  const now = clock.now();
  for (let at = 0; at < 450; at++) await store.commit(`s${at}`, 0, { ...session, expiresAt: now + 1_000 });
  await store.commit('stays', 0, { ...session, expiresAt: now + 8e10 });
  await clock.advance(2_000);
  const sweeper = begin();
  // What is left for us to sweep says what is still there.
  await sweepUntil('nothing is left to sweep', async () => (await store.sweep(clock.now(), 1)) === 0);
  await sweeper.stop();
  assert.ok(await store.load('stays'));
});

test('a store that fails is told about, and sweeping goes on', async () => {
  let calls = 0;
  const due = () => Promise.reject(new Error(`due ${++calls}`));
  const { problems, begin, sweepUntil } = place((options) => ({ ...memorySnapshots(options), due }));
  const sweeper = begin();
  await sweepUntil('it was told about twice', () => problems.length >= 2);
  await sweeper.stop();
});

test('a store that hangs does not hold up the end, and rounds do not overlap', async () => {
  let calls = 0;
  let thaw = () => {};
  const thawed = new Promise<string[]>((resolve) => {
    thaw = () => resolve([]);
  });
  const due = () => {
    calls++;
    return thawed;
  };
  const { clock, begin, sweepUntil } = place((options) => ({ ...memorySnapshots(options), due }));
  const sweeper = begin();
  await sweepUntil('a round begins', () => calls === 1);
  await clock.advance(10_000);
  assert.is(calls, 1);
  const stopped = sweeper.stop();
  await clock.advance(1_000);
  await stopped;
  thaw();
});

test.run();
