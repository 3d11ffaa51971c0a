// Inspection events: what they hold of turns and steps, that they hold no secret, and that none is built while nothing inspects.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { InspectionEvent, Inspector } from '../../lib/engine/conversation.ts';
import { lifecycle } from '../../lib/engine/lifecycle/lifecycle.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { delegationMachine } from '../../machines/delegation.ts';
import { flowFixture } from '../support/flow-fixture.ts';
import { begin, KEY, place, say } from './support.ts';

const test = suite('inspection');

const PIN = '24680';

/** Asks for a secret and has it checked. */
const vault = flowFixture('vault');

interface Looking extends Inspector {
  readonly seen: InspectionEvent[];
  asked: number;
}

function looking(isWatched: boolean): Looking {
  const seen: InspectionEvent[] = [];
  const inspector: Looking = {
    seen,
    asked: 0,
    isWatched: () => {
      inspector.asked++;
      return isWatched;
    },
    emit: (sighting) => seen.push(sighting),
  };
  return inspector;
}

const services = { check: async () => ({ ok: true }), token: async () => 'a-token-of-value' };

test('a turn is shown with every event, where it led, what was typed and answered', async () => {
  const inspector = looking(true);
  const engine = place(compileFlow(vault)).engine({ inspector, services });
  await begin(engine);
  await say(engine, '1');
  await say(engine, 'Tariro');
  await say(engine, PIN);
  const [dialled, first, , last] = inspector.seen;
  assert.equal(dialled!.transitions, [{ event: 'xstate.init', from: null, to: 'first' }]);
  assert.equal(first!.turn!.typed, [{ text: '1', at: 'first' }]);
  assert.equal(first!.transitions, [{ event: 'opt.in', from: 'first', to: 'name' }]);
  assert.equal(
    last!.transitions.map(({ event, from, to }) => [from, event, to]),
    [
      ['pin', 'text', 'check'],
      ['check', 'xstate.done.actor.check', 'fetch'],
      ['fetch', 'xstate.done.actor.fetch', 'home'],
    ],
  );
  assert.equal(last!.turn!.answers, [
    { call: 'check', service: 'check', outcome: { output: { ok: true } } },
    { call: 'fetch', service: 'token', outcome: { output: null } },
  ]);
  const { key, machine, version, kind, ended, revision } = last!;
  assert.equal(
    { key, machine, version, kind, ended },
    { key: KEY, machine: 'vault', version: 3, kind: 'turn', ended: false },
  );
  assert.ok(revision > dialled!.revision);
  assert.match(last!.turn!.reply!, /^Hello Tariro\n1\. Out/);
});

test('secrets are shown neither as they are typed nor as they are kept', async () => {
  const inspector = looking(true);
  const engine = place(compileFlow(vault)).engine({ inspector, services });
  await begin(engine, { inputs: ['1', 'Tariro', PIN] });
  assert.equal(
    inspector.seen[0]!.turn!.typed.map(({ text }) => text),
    ['1', 'Tariro', null],
  );
  const all = JSON.stringify(inspector.seen);
  assert.not.ok(all.includes(PIN));
  assert.not.ok(all.includes('a-token-of-value'));
});

test('while nobody watches, a turn asks whether somebody does, and no more', async () => {
  const inspector = looking(false);
  const engine = place(compileFlow(vault)).engine({ inspector, services });
  await begin(engine);
  await say(engine, '1');
  assert.equal(inspector.seen, []);
  assert.is(inspector.asked, 2);
});

test('observers cannot make a turn fail', async () => {
  const problems: unknown[] = [];
  const inspector: Inspector = {
    isWatched: () => true,
    emit: () => {
      throw new Error('blind');
    },
  };
  const engine = place(compileFlow(vault)).engine({
    inspector,
    services,
    onProblem: ({ error }) => problems.push(error),
  });
  const result = await begin(engine);
  assert.is(result.kind, 'replied');
  assert.is(problems.length, 1);
});

test('a failed call is shown by its code', async () => {
  const inspector = looking(true);
  const failing = { ...services, check: () => Promise.reject(new Error('secret words')) };
  const engine = place(compileFlow(vault)).engine({ inspector, services: failing });
  await begin(engine, { inputs: ['1', 'Tariro', PIN] });
  assert.equal(inspector.seen[0]!.turn!.answers, [
    { call: 'check', service: 'check', outcome: { code: 'ERR_SERVICE' } },
  ]);
  assert.is(inspector.seen[0]!.ended, true);
});

test('the steps of a lifecycle are shown once they are stored, deadlines as well', async () => {
  const inspector = looking(true);
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  const kind = { name: 'grant', indexes: { due: { fields: ['dueAt'] } } };
  await documents.declare([kind]);
  const machine = compileMachine(delegationMachine);
  const grants = lifecycle({ documents, kind, machine, clock, inspector });
  const grant = { sealed: 'sealed', expiresAt: clock.now() + 1_000, keys: [] };
  await grants.begin('alice', { input: grant });
  await clock.advance(2_000);
  await grants.read('alice');
  assert.equal(
    inspector.seen.map(({ kind, key, machine, transitions: passages }) => [
      kind,
      key,
      machine,
      passages[0]!.from,
      passages[0]!.to,
    ]),
    [
      ['step', 'grant/alice', 'delegation', null, 'authorized'],
      ['step', 'grant/alice', 'delegation', 'authorized', 'expired'],
    ],
  );
  assert.match(inspector.seen[1]!.transitions[0]!.event, /^xstate\.after\./);
});

test.run();
