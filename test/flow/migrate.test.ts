// New versions of a flow: where a conversation that began on an older one goes on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../lib/engine/engine.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import { type TurnResult, takeTurn } from '../../lib/engine/session/turn.ts';
import type { Flow, Migration, Screen } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { flowOf, menuTo, type Phone, phone } from './phone.ts';

const test = suite('migrations');

const compiled = (flow: Flow, called: readonly Flow[] = []) =>
  compileFlow(flow, { flows: new Map(called.map((one) => [one.flow, one])) });

interface After {
  readonly result: TurnResult;
  readonly text: string;
  readonly screen: string;
  readonly context: JsonObject;
}

/** What a process that knows only the new version makes of the next input. */
async function next(
  caller: Phone,
  flow: Flow,
  options: { typed?: string; called?: readonly Flow[] } = {},
): Promise<After> {
  let after = { screen: '', context: {} as JsonObject };
  const engine = createEngine({
    store: caller.store,
    clock: caller.engine.clock,
    conversations: [compiled(flow, options.called)],
    onTurn: ({ rest }) => {
      after = { screen: toPath(rest.state), context: rest.context };
    },
  });
  const result = await takeTurn(engine, {
    key: 'phone',
    decide: () => ({ kind: 'input', input: options.typed ?? '' }),
  });
  return { result, text: result.kind === 'replied' ? result.reply.text : '', ...after };
}

const input = (save: string, to: string): Screen => ({ type: 'input', text: `Say ${save}`, save, to });

const first = flowOf(
  { start: menuTo('a'), a: menuTo('b'), b: input('said', 'c'), c: menuTo('start') },
  { vars: { said: { type: 'string', default: 'nothing' }, old: { type: 'string', default: 'old' } } },
);

async function at(screen: string): Promise<Phone> {
  const caller = phone(first);
  await caller.dial();
  for (const typed of ['1', '1', 'hello']) {
    if (caller.screen === screen) break;
    await caller.say(typed);
  }
  assert.is(caller.screen, screen);
  return caller;
}

const version2 = (migration: Migration | undefined, more: Partial<Flow> = {}): Flow => ({
  ...first,
  version: 2,
  ...(migration && { migrate: { 1: migration } }),
  ...more,
});

test('a conversation goes on where it was when its screens are still there, with the new texts', async () => {
  const screens = { ...first.screens, c: { ...menuTo('start', 'a'), text: 'New words for {{said}}' } };
  const after = await next(await at('c'), version2(undefined, { screens }));
  assert.is(after.text, 'New words for hello\n1. To start\n2. To a\n0. Back\n00. Home');
  assert.equal(after.context.$stack, ['start', 'a', 'b']);
});

test('a screen with a new name is found under it, also behind the caller', async () => {
  const { a, b, ...others } = first.screens;
  const screens = { ...others, start: menuTo('list'), list: menuTo('ask'), ask: b! };
  const flow = version2({ screens: { a: 'list', b: 'ask' } }, { screens });
  const here = await next(await at('b'), flow);
  assert.equal([here.screen, here.context.$stack], ['ask', ['start', 'list']]);
  const behind = await next(await at('c'), flow, { typed: '0' });
  assert.equal([behind.screen, behind.context.$stack], ['ask', ['start', 'list']]);
});

test('a screen that is gone without a word is outdated, and the stored session stays as it is', async () => {
  const { b, ...screens } = first.screens;
  const caller = await at('b');
  const before = await caller.store.load('phone');
  const { result } = await next(caller, version2(undefined, { screens: { ...screens, a: menuTo('c') } }));
  assert.equal(result, { kind: 'unreadable', reason: 'outdated' });
  assert.is(await caller.store.load('phone'), before);
});

test('screens that are gone are forgotten behind the caller, and so are those that ask for nothing now', async () => {
  const { a, ...screens } = first.screens;
  const gone = version2(undefined, { screens: { ...screens, start: menuTo('b') } });
  assert.equal((await next(await at('c'), gone)).context.$stack, ['start', 'b']);
  const branch: Screen = { type: 'branch', branch: [{ to: 'b' }] };
  const passing = version2(undefined, { screens: { ...first.screens, a: branch } });
  assert.equal((await next(await at('c'), passing)).context.$stack, ['start', 'b']);
});

test('variables are set, dropped and added with their defaults; the others keep their values', async () => {
  const vars = { said: { type: 'string' }, added: { type: 'number', default: 5 }, bare: { type: 'object' } } as const;
  const flow = version2({ set: { mark: ['set'], said: '=as it is' }, drop: ['old'] }, { vars });
  const { context } = await next(await at('c'), flow);
  assert.equal(
    [context.said, context.mark, context.added, context.bare, 'old' in context],
    ['=as it is', ['set'], 5, null, false],
  );
  const kept = await next(await at('c'), version2(undefined, { vars }));
  assert.equal([kept.context.said, kept.context.old], ['hello', 'old']);
});

test('versions are passed one after the other, each with its own entry', async () => {
  const { b, ...screens } = first.screens;
  const flow: Flow = {
    ...first,
    version: 4,
    screens: { ...screens, a: menuTo('late'), late: b! },
    migrate: {
      1: { screens: { b: 'middle' }, set: { said: 'one', trail: '1' } },
      2: { screens: { middle: 'late' }, set: { said: 'two' } },
      3: { drop: ['trail'] },
      4: { screens: { late: 'gone' }, set: { said: 'never' } },
    },
  };
  const after = await next(await at('b'), flow);
  assert.equal([after.screen, after.context.said, 'trail' in after.context], ['late', 'two', false]);
});

test('names of objects are no screens', async () => {
  const caller = await at('b');
  const { b, ...screens } = first.screens;
  const flow = version2({ screens: {} }, { screens: { ...screens, a: menuTo('c') } });
  for (const name of ['constructor', '__proto__', 'toString']) {
    const stored = (await caller.store.load('phone'))!;
    const { revision, ...session } = stored;
    const record = stored.record.replace(/"s":"[^"]*"/, `"s":${JSON.stringify(name)}`);
    assert.is.not(record, stored.record);
    await caller.store.commit('phone', revision, { ...session, record });
    assert.equal((await next(caller, flow)).result, { kind: 'unreadable', reason: 'outdated' });
  }
});

test('the same version with other content changes nothing but what is shown', async () => {
  const screens = { ...first.screens, c: { ...menuTo('start'), text: 'Corrected' } };
  const flow: Flow = { ...first, screens, migrate: { 1: { set: { said: 'never' } } } };
  const after = await next(await at('c'), flow);
  assert.match(after.text, /^Corrected/);
  assert.is(after.context.said, 'hello');
});

test('a session from a later version waits for it', async () => {
  const caller = phone({ ...first, version: 3 });
  await caller.dial();
  assert.equal((await next(caller, version2(undefined))).result, { kind: 'unreadable', reason: 'future' });
});

// Called flows.

const login = flowOf(
  { pin: input('pin', 'name'), name: input('name', 'end'), end: { type: 'end', text: '', output: { name: '=name' } } },
  { flow: 'login', vars: { pin: { type: 'string' }, name: { type: 'string' }, who: { type: 'string' } } },
);
const outer = flowOf(
  {
    start: menuTo('login'),
    login: { type: 'flow', flow: 'login', with: { who: '=user' }, save: 'got', done: 'home' },
    home: { ...menuTo('start'), text: 'Home of {{got.name}}{{user}}' },
  },
  { vars: { got: { type: 'object' }, user: { type: 'string', default: 'U' } } },
);

async function inside(): Promise<Phone> {
  const caller = phone(compiled(outer, [login]));
  await caller.dial();
  await caller.say('1', '1234');
  assert.is(caller.screen, 'login.name');
  return caller;
}

test('a caller inside of a called flow goes on there; set and drop belong to the flow that is migrated', async () => {
  const flow: Flow = {
    ...outer,
    version: 2,
    vars: { ...outer.vars, fresh: { type: 'string', default: 'F' } },
    migrate: { 1: { set: { user: 'V', name: 'of the outer' } } },
  };
  const caller = await inside();
  const after = await next(caller, flow, { called: [login] });
  assert.is(after.text, 'Say name\n0. Back\n00. Home');
  assert.equal([after.context.name, after.context.fresh, after.context.pin], [null, undefined, '1234']);
  const frame = (after.context.$frames as readonly JsonObject[])[0]!;
  assert.equal([frame.user, frame.name, frame.fresh], ['V', 'of the outer', 'F']);
  const home = await next(caller, flow, { called: [login], typed: 'Zoe' });
  assert.equal([home.screen, home.text.split('\n')[0]], ['home', 'Home of ZoeV']);
});

test('the screen that calls a flow can have a new name, and so can the screens inside', async () => {
  const { login: call, ...screens } = outer.screens;
  const renamedOuter: Flow = {
    ...outer,
    version: 2,
    screens: { ...screens, start: menuTo('signIn'), signIn: call! },
    migrate: { 1: { screens: { login: 'signIn' } } },
  };
  const after = await next(await inside(), renamedOuter, { called: [login] });
  assert.equal([after.screen, after.context.$stack], ['login.name', ['pin']]);

  const inner: Flow = {
    ...login,
    start: 'code',
    screens: { code: input('pin', 'called'), called: input('name', 'end'), end: login.screens.end! },
  };
  const flow: Flow = {
    ...outer,
    version: 2,
    migrate: { 1: { screens: { 'login.pin': 'login.code', 'login.name': 'login.called' } } },
  };
  const both = await next(await inside(), flow, { called: [inner] });
  assert.equal([both.screen, both.context.$stack], ['login.called', ['code']]);
  const back = await next(await inside(), flow, { called: [inner], typed: '0' });
  assert.is(back.screen, 'login.code');
});

test('a caller of a flow that is not called any more goes on in the flow around it', async () => {
  const flow = flowOf(
    { start: menuTo('ask'), ask: input('user', 'home'), home: outer.screens.home! },
    { vars: outer.vars!, version: 2, migrate: { 1: { screens: { login: 'gone', 'login.name': 'ask' } } } },
  );
  const after = await next(await inside(), flow);
  assert.equal([after.screen, after.context.$stack, after.context.user], ['ask', ['start'], 'U']);
  assert.not('$frames' in after.context);
  assert.not('pin' in after.context);
});

test('a screen that has moved into a called flow is entered there, with what the call gives', async () => {
  const before = flowOf(
    { start: menuTo('name'), name: input('user', 'home'), home: outer.screens.home! },
    { vars: outer.vars! },
  );
  for (const [to, screen] of [
    ['login.name', 'login.name'],
    ['login', 'login.pin'],
  ] as const) {
    const caller = phone(before);
    await caller.dial();
    await caller.say('1');
    const flow: Flow = { ...outer, version: 2, migrate: { 1: { screens: { name: to } } } };
    const after = await next(caller, flow, { called: [login] });
    assert.equal([after.screen, after.context.who, after.context.$stack], [screen, 'U', []]);
    const back = await next(caller, flow, { called: [login], typed: '0' });
    assert.equal([back.screen, back.context.user], ['start', 'U']);
  }
});

test('a screen that has moved two calls down is entered through the first screens that make them', async () => {
  const call = (flow: string): Screen => ({ type: 'flow', flow, with: { who: '=user' }, done: 'end' });
  const end: Screen = { type: 'end', text: '' };
  const middle = flowOf(
    { in: { ...call('login'), with: { who: '=who' } } as Screen, end },
    { flow: 'middle', vars: { who: { type: 'string' } } },
  );
  const caller = phone(first);
  await caller.dial();
  const screens = { start: menuTo('one', 'two'), one: call('middle'), two: call('middle'), end };
  const flow = { ...version2({ screens: { start: 'login.name' } }, { screens }), vars: outer.vars! };
  const after = await next(caller, flow, { called: [middle, login] });
  const frames = after.context.$frames as readonly JsonObject[];
  assert.equal(
    [after.screen, after.context.who, frames.map(({ $at }) => $at)],
    ['login.name', 'U', ['one', 'middle.in']],
  );
});

test('a caller inside of a flow whose place another flow has taken is outdated', async () => {
  const other = { ...login, flow: 'other' };
  const screens = { ...outer.screens, login: { ...outer.screens.login!, flow: 'other' } as Screen };
  const { result } = await next(await inside(), { ...outer, version: 2, screens }, { called: [other] });
  assert.equal(result, { kind: 'unreadable', reason: 'outdated' });
  const renamed = { 'login.name': 'other.name' };
  const flow: Flow = { ...outer, version: 2, screens, migrate: { 1: { screens: renamed } } };
  const after = await next(await inside(), flow, { called: [other] });
  assert.equal([after.screen, after.context.who, after.context.pin], ['other.name', 'U', null], 'it begins anew there');
});

test('a screen inside of a called flow that is gone is outdated', async () => {
  const inner: Flow = { ...login, screens: { pin: input('pin', 'end'), end: login.screens.end! } };
  const { result } = await next(await inside(), { ...outer, version: 2 }, { called: [inner] });
  assert.equal(result, { kind: 'unreadable', reason: 'outdated' });
});

test('Back restores the values of this version: of a screen that is gone with those of the one before, and no dropped variable', () => {
  const screens = { a: menuTo('c'), c: menuTo('a') };
  const flow = compileFlow(
    flowOf(screens, { version: 2, vars: { n: { type: 'number' } }, migrate: { '1': { drop: ['old'] } } }),
  );
  const $undo = [
    { n: 1, old: 1 },
    { n: 2, m: 5 },
    { n: 3, k: 6 },
  ];
  const context = { n: 4, old: 2, $stack: ['a', 'gone', 'c'], $undo, $page: 0, $bad: 0 };
  const rest = flow.migrate!({ state: 'c', context }, { version: 1, hash: '' })!;
  assert.equal(rest.context.$stack, ['a', 'c']);
  assert.equal(rest.context.$undo, [
    { n: 1, m: 5 },
    { n: 3, k: 6 },
  ]);
});

test.run();
