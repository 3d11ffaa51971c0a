// Versions: sessions end on the version they began on, or are taken along, with the calls that go with where they are.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, createMachine } from 'xstate';
import { type Conversation, library } from '../../lib/engine/conversation.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { type AtRest, compileMachine } from '../../lib/engine/machine/transition.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { begin, gate, KEY, place, say, settled, textOf } from './support.ts';

const test = suite('versions');

const conversation = (version: number, states: object, more: Partial<Conversation> = {}): Conversation => {
  const machine = createMachine({ id: 'shop', initial: 'start', states } as never) as AnyStateMachine;
  return { ...machineConversation(compileMachine(machine), { version, hash: `h${version}` }), ...more };
};
const to = (state: string) => (rest: AtRest) => ({ ...rest, state });

const first = conversation(1, { start: { on: { go: 'mine' } }, mine: {} });
const second = conversation(2, { start: { on: { go: 'yours' } }, yours: {} });

test('a session ends on the version that it began on; a new one begins on the current', async () => {
  const here = place(first);
  const engine = here.engine();
  await begin(engine);
  engine.library.add(second);
  assert.is(await textOf(say(engine, { type: 'go' })), '"mine"');
  await begin(engine);
  assert.is(await textOf(say(engine, { type: 'go' })), '"yours"');
});

test('the current version and the last ones before it are kept; the same content is not kept twice', () => {
  const lib = library([first]);
  lib.add(first);
  for (let version = 2; version <= ENGINE_LIMITS.versionsKept + 1; version++) lib.add({ ...first, version });
  assert.ok(lib.exact('shop', 1, 'h1'));
  lib.add({ ...first, version: 99 });
  assert.is(lib.exact('shop', 1, 'h1'), undefined);
  assert.is(lib.current('shop')?.version, 99);
  assert.equal(lib.ids, ['shop']);
});

const reasons: readonly [string, string, readonly Conversation[]][] = [
  ['of a flow that is not loaded is foreign', 'foreign', []],
  ['of a later version is from the future', 'future', [conversation(0, { start: {} })]],
  ['of an older version without a way to take it along is outdated', 'outdated', [second]],
  ['that has no place in this version is outdated', 'outdated', [{ ...second, migrate: () => undefined }]],
  [
    'that was taken to a state which does not exist is at an unknown state',
    'unknown-state',
    [{ ...second, migrate: to('gone') }],
  ],
];
for (const [what, reason, conversations] of reasons)
  test(`a session ${what}, and stays as it is`, async () => {
    const here = place(first);
    await begin(here.engine());
    const stored = here.stored();
    const result = await say(here.engine({ conversations }), { type: 'go' });
    assert.equal(result, { kind: 'unreadable', reason });
    assert.is(here.stored(), stored);
  });

test('a session of an older version is taken along', async () => {
  const here = place(first);
  await begin(here.engine());
  const engine = here.engine({ conversations: [{ ...second, migrate: to('start') }] });
  assert.is(await textOf(say(engine, { type: 'go' })), '"yours"');
  assert.is(here.record().version, 2);
  assert.is(here.record().hash, 'h2');
});

const call = (id: string, target: string) => ({ invoke: { id, src: 'ask', input: { by: id }, onDone: target } });

test('a session that is taken to a calling state makes its call', async () => {
  const seen: unknown[] = [];
  const services = { ask: async (input: unknown) => seen.push(input) };
  const next = conversation(2, { start: {}, load: call('load', 'shown'), shown: {} }, { migrate: to('load') });
  const here = place(first, { services });
  await begin(here.engine());
  const engine = here.engine({ conversations: [next] });
  const turn = await textOf(say(engine, { type: 'anything' }));
  assert.is(turn, '"shown"');
  assert.equal(seen, [{ by: 'load' }]);
});

test('a call whose input held a secret has failed when its session is taken along', async () => {
  const ask = gate();
  const states = {
    start: {},
    load: { invoke: { id: 'load', src: 'ask', onDone: 'start', onError: 'failed' } },
    failed: {},
  };
  const plain = conversation(2, states, { migrate: to('load') });
  const next = { ...plain, callPolicy: (id: string) => ({ ...plain.callPolicy(id), secret: true }) };
  const here = place(first, { services: { ask: ask.service } });
  await begin(here.engine());
  assert.is(await textOf(say(here.engine({ conversations: [next] }), { type: 'x' })), '"failed"');
  assert.is(ask.keys.length, 0);
});

test('a call whose state has another name now is made under it, and one that is not wanted any more is dropped', async () => {
  const ask = gate();
  const old = conversation(1, { start: { on: { go: 'load' } }, load: call('load', 'start') });
  const here = place(old, { services: { ask: ask.service } });
  await begin(here.engine());
  void say(here.doomed(), { type: 'go' });
  await settled();
  assert.is(here.record().rest.state, 'load');
  ask.skip();
  const { record } = here.stored();
  const dropped = conversation(2, { start: {}, home: { on: { hi: 'greeted' } }, greeted: {} }, { migrate: to('home') });
  assert.is(await textOf(say(here.engine({ conversations: [dropped] }), { type: 'hi' })), '"greeted"');
  assert.is(here.record().calls.length, 0);
  const { revision, ...same } = here.stored();
  await here.store.commit(KEY, revision, { ...same, record });
  const renamed = conversation(2, { start: {}, fetch: call('fetch', 'done'), done: {} }, { migrate: to('fetch') });
  const turn = textOf(say(here.engine({ conversations: [renamed] }), { type: 'hi' }));
  await settled();
  ask.answer(1);
  assert.is(await turn, '"done"');
});

test('a session that is taken to a state that goes on by itself goes on', async () => {
  const next = conversation(2, { start: {}, fork: { always: 'shown' }, shown: { on: { hi: 'greeted' } }, greeted: {} });
  const here = place(first);
  await begin(here.engine());
  const engine = here.engine({ conversations: [{ ...next, migrate: to('fork') }] });
  await wakeSession(engine, KEY);
  assert.is(await textOf(say(engine, { type: 'hi' })), '"greeted"');
});

test.run();
