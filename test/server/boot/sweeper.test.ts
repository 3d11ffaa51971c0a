// What happens to sessions when nobody asks: their timers fire, and when they are over they are thrown away.

import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { systemClock } from '../../../lib/clock.ts';
import { machineConversation } from '../../../lib/engine/conversation.ts';
import { createEngine } from '../../../lib/engine/engine.ts';
import { compileMachine } from '../../../lib/engine/machine/transition.ts';
import { takeTurn } from '../../../lib/engine/session/turn.ts';
import { viewSession } from '../../../lib/engine/sessions.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import { startSweeper, sweepSessions } from '../../../server/boot/sweeper.ts';
import { timed } from '../../support/timed.ts';

const test = suite('sweeper');

const bell = compileMachine(
  createMachine({ id: 'bell', initial: 'quiet', states: { quiet: { after: { 300: 'rung' } }, rung: {} } }),
);

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await what()) return;
    await pause(20);
  }
  assert.unreachable('it did not come about within 4 s');
}

test('due timers fire by themselves, in many sessions at once', async () => {
  const problems: unknown[] = [];
  const engine = createEngine({ store: memorySnapshots(), conversations: [machineConversation(bell)] });
  const keys = Array.from({ length: 40 }, (_, at) => `bell-${at}`);
  for (const key of keys) await takeTurn(engine, { key, decide: () => ({ kind: 'begin', conversation: 'bell' }) });
  const sweeper = startSweeper([sweepSessions(engine)], {
    clock: systemClock,
    onProblem: (error) => problems.push(error),
  });
  const rung = async (key: string) => (await viewSession(engine, key))?.rest.state === 'rung';
  await until(async () => (await Promise.all(keys.map(rung))).every(Boolean));
  await sweeper.stop();
  assert.equal(problems, []);
});

test('sessions that are over are removed from the store, not only hidden', async () => {
  let now = 1_700_000_000_000;
  const store = memorySnapshots({ clock: { now: () => now } });
  const engine = createEngine({ store, clock: { ...systemClock, now: () => now } });
  const session = { record: 'r', turnKey: 't', reply: 'x', ended: false, dueAt: null };
  for (let at = 0; at < 450; at++) await store.commit(`s${at}`, 0, { ...session, expiresAt: now + 1_000 });
  await store.commit('stays', 0, { ...session, expiresAt: now + 60_000 });
  now += 2_000;
  const sweeper = startSweeper([sweepSessions(engine)], { clock: systemClock, onProblem: () => {} });
  // What is left for us to sweep says what is still there.
  let left = Number.POSITIVE_INFINITY;
  await until(async () => {
    await pause(100);
    left = await store.sweep(now, 1);
    return left === 0;
  });
  await sweeper.stop();
  assert.ok(await store.load('stays'));
});

test('a store that fails is told about, and sweeping goes on', async () => {
  let calls = 0;
  const store = memorySnapshots();
  const failing = { ...store, due: async () => Promise.reject(new Error(`due ${++calls}`)) };
  const problems: Error[] = [];
  const sweeper = startSweeper([sweepSessions(createEngine({ store: failing }))], {
    clock: systemClock,
    onProblem: (error) => problems.push(error as Error),
  });
  await until(async () => calls >= 2);
  await sweeper.stop();
  assert.ok(problems.length >= 2);
});

test('a store that hangs does not hold up the end, and rounds do not overlap', async () => {
  let calls = 0;
  let thaw = () => {};
  const hanging = {
    ...memorySnapshots(),
    due: () => {
      calls++;
      return new Promise<string[]>((resolve) => {
        thaw = () => resolve([]);
      });
    },
  };
  const sweeper = startSweeper([sweepSessions(createEngine({ store: hanging }))], {
    clock: systemClock,
    onProblem: () => {},
  });
  await until(async () => calls === 1);
  await pause(1_300);
  assert.is(calls, 1);
  const { ms } = await timed(() => sweeper.stop());
  assert.ok(ms < 1_500, `${ms} ms`);
  thaw();
});

test.run();
