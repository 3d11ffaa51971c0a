// Private variables: shown to the caller, sealed where they are stored, masked for those who watch, in logs and in recordings.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InspectionEvent } from '../../lib/engine/conversation.ts';
import { openStored } from '../../lib/engine/session/open.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { showSession, viewSession } from '../../lib/engine/sessions.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { hidePrivateAnswers, masks, standIns } from '../../lib/flow/testing/mask.ts';
import { parseRecording, replayDialogue } from '../../lib/flow/testing/replay.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { findRedactor, MASK } from '../../lib/redact.ts';
import { begin, gate, KEY, place, say, settled, textOf } from '../engine/support.ts';

const test = suite('private variables');

const keys = (text: string) => parseKeyring(text);
const OLD = 'old:f07fbaf429cfa0fbeae838dff0a664845b27b78de3975649fc5863846d998d30';
const NEW = 'new:16f159450cfd9c87dbe3b9ee44402381a8d6255bacd93ce4c9fcafb5696d9d2e';
const KEYRING = keys(OLD);
const [NRC, NAME, BALANCE] = ['884213/77/1', 'Chipo Mwansa', 73_519] as const;
const CANARIES = [NRC, NAME, String(BALANCE), 'Kabwe depot'];

/** Asks for an id, fetches a farmer, shows name and balance, lists payments. */
const FARM: Flow = {
  flow: 'farm',
  version: 1,
  start: 'nrc',
  vars: {
    nrc: { type: 'string', max: 11, private: true },
    farmer: {
      type: 'object',
      private: true,
      sample: { name: 'Tariro', balance: 12, paid: [{ at: 'Lusaka', sum: 1 }] },
    },
    note: { type: 'string', default: 'maize' },
    chosen: { type: 'object', private: true },
  },
  screens: {
    nrc: { type: 'input', text: 'NRC?', save: 'nrc', to: 'find', accept: { pattern: '\\d{6}/\\d{2}/\\d' } },
    find: { type: 'call', service: 'farm.find', with: { nrc: '=nrc' }, save: 'farmer', done: 'home', fail: 'sorry' },
    home: {
      type: 'menu',
      text: '{{farmer.name}} ({{note}}): {{farmer.balance|money}}',
      options: [
        { id: 'paid', text: 'Payments of {{nrc}}', to: 'paid' },
        { id: 'leave', text: 'Leave', to: 'bye' },
      ],
    },
    paid: {
      type: 'list',
      text: 'Paid',
      items: 'farmer.paid',
      row: '{{row.at}} {{row.sum}}',
      pick: { save: 'chosen', to: 'bye' },
    },
    bye: { type: 'end', text: 'Goodbye {{farmer.name}}' },
    sorry: { type: 'end', text: 'Sorry' },
  },
};
const farm = compileFlow(FARM);
const FOUND = { name: NAME, balance: BALANCE, paid: [{ at: 'Kabwe depot', sum: BALANCE }] };

function assertHidden(text: string, where: string): void {
  for (const canary of CANARIES) assert.not.ok(text.includes(canary), `${canary} stands in ${where}: ${text}`);
}

test('the caller reads them, and the store holds none: not in variables, calls or replies, until after the end', async () => {
  const here = place(farm, { keyring: KEYRING, services: { 'farm.find': async () => FOUND } });
  const engine = here.engine();
  const written: string[] = [];
  const note = () => written.push(JSON.stringify(here.stored()));
  await textOf(begin(engine));
  assert.is(await textOf(say(engine, NRC)), `${NAME} (maize): 73,519.00\n1. Payments of ${NRC}\n2. Leave\n0. Back`);
  note();
  assert.match(await textOf(say(here.engine(), '1')), /Kabwe depot 73519/);
  note();
  assert.is(await textOf(say(here.engine(), '1')), `Goodbye ${NAME}`);
  note();
  for (const text of written) assertHidden(text, 'the store');
});

test('a repeated request gets the same bytes, from another process too', async () => {
  const here = place(farm, { keyring: KEYRING, services: { 'farm.find': async () => FOUND } });
  await textOf(begin(here.engine()));
  const first = await textOf(say(here.engine(), NRC, { turnKey: 'a' }));
  assert.is(await textOf(say(here.engine(), NRC, { turnKey: 'a' })), first);
  const end = await textOf(say(here.engine(), '2', { turnKey: 'b' }));
  assert.is(await textOf(say(here.engine(), '2', { turnKey: 'b' })), end);
  assert.is(end, `Goodbye ${NAME}`);
});

test('a call whose process died is made again with its private input, which the record held sealed', async () => {
  const { service, skip } = gate();
  const here = place(farm, { keyring: KEYRING, services: { 'farm.find': service } });
  await textOf(begin(here.engine()));
  void say(here.doomed(), NRC);
  await settled();
  skip();
  assertHidden(JSON.stringify(here.stored()), 'the store');
  const given: unknown[] = [];
  const farmFind = async (input: unknown) => {
    given.push(input);
    return FOUND;
  };
  const next = here.engine({ services: { 'farm.find': farmFind } });
  await here.clock.advance(60_000);
  await wakeSession(next, KEY);
  await next.idle();
  assert.equal(given, [{ nrc: NRC }]);
  assert.match(await textOf(say(next, '')), new RegExp(NAME));
});

test('a changed key opens what the old one sealed; without the old one the session is other-key, and says nothing', async () => {
  const here = place(farm, { services: { 'farm.find': async () => FOUND } });
  await textOf(begin(here.engine({ keyring: KEYRING })));
  const first = await textOf(say(here.engine({ keyring: KEYRING }), NRC, { turnKey: 'a' }));
  const both = here.engine({ keyring: keys(`${NEW},${OLD}`) });
  assert.is(await textOf(say(both, NRC, { turnKey: 'a' })), first);
  const other = here.engine({ keyring: keys(NEW) });
  for (const turnKey of ['a', 'b'])
    assert.equal(await say(other, NRC, { turnKey }), { kind: 'unreadable', reason: 'other-key' });
  assert.match(await textOf(say(both, '1')), /Kabwe/);
  assert.match(await textOf(say(other, '0')), new RegExp(NAME), 'sealed with the new key now');
});

test('a flow that makes a variable private, or public again, goes on with its sessions', async () => {
  const vars = Object.fromEntries(Object.entries(FARM.vars!).map(([name, { private: _, ...open }]) => [name, open]));
  const open = compileFlow({ ...FARM, vars });
  const here = place(open, { keyring: KEYRING, services: { 'farm.find': async () => FOUND } });
  const newer = compileFlow({ ...FARM, version: 2 });
  const newest = compileFlow({ ...FARM, vars, version: 3 });
  await textOf(begin(here.engine()));
  await textOf(say(here.engine(), NRC));
  assert.ok(here.stored().record.includes(NRC));
  assert.match(await textOf(say(here.engine({ conversations: [newer] }), '1')), /Kabwe/);
  assertHidden(JSON.stringify(here.stored()), 'the store');
  assert.match(await textOf(say(here.engine({ conversations: [newest] }), '0')), new RegExp(NAME));
  assert.ok(here.stored().record.includes(NRC));
});

test('those who watch see masks: variables, what was typed, answers, and `*` for each character that the caller reads', async () => {
  const seen: InspectionEvent[] = [];
  const inspector = { isWatched: () => true, emit: (event: InspectionEvent) => void seen.push(event) };
  const here = place(farm, { keyring: KEYRING, inspector, services: { 'farm.find': async () => FOUND } });
  const engine = here.engine();
  await textOf(begin(engine));
  await textOf(say(engine, NRC));
  assert.is(seen.at(-1)!.turn!.reply, '***** ****** (maize): *********\n1. Payments of ***********\n2. Leave\n0. Back');
  assert.equal(seen.at(-1)!.turn!.typed, [{ text: null, at: 'nrc' }]);
  assert.equal(seen.at(-1)!.turn!.answers[0]!.outcome, { output: null });
  const { nrc, farmer, note, chosen } = seen.at(-1)!.rest.context;
  assert.equal([nrc, farmer, note, chosen], [MASK, MASK, 'maize', null]);
  await textOf(say(engine, '1'));
  assert.match(seen.at(-1)!.turn!.reply!, /^Paid\n1\. \*+ \*+ \*+/);
  const shown = await showSession(engine, KEY);
  assert.is(shown!.rest.context.nrc, MASK);
  assert.is(shown!.reply(), seen.at(-1)!.turn!.reply, 'a stored session is shown as its turn was');
  assert.is((await viewSession(engine, KEY))!.rest.context.nrc, NRC);
  await textOf(say(engine, '1'));
  assert.is(seen.at(-1)!.turn!.reply, 'Goodbye ***** ******');
  assertHidden(JSON.stringify(seen), 'what is shown to those who watch');
});

test('the words of a caller who waits are masked like every other screen', async () => {
  const seen: InspectionEvent[] = [];
  const inspector = { isWatched: () => true, emit: (event: InspectionEvent) => void seen.push(event) };
  const patient = compileFlow({ ...FARM, wait: '{{nrc}}: please wait.\n1. Continue' });
  const { service, answer } = gate();
  const here = place(patient, { keyring: KEYRING, inspector, services: { 'farm.find': service } });
  const engine = here.engine();
  await textOf(begin(engine));
  const told = textOf(say(engine, NRC, { deadlineMs: 2_000 }));
  await settled();
  await here.clock.advance(2_000);
  assert.is(await told, `${NRC}: please wait.\n1. Continue`);
  const masked = '***********: please wait.\n1. Continue';
  assert.is(seen.at(-1)!.turn!.reply, masked);
  assert.is((await showSession(engine, KEY))!.reply(), masked);
  answer(FOUND);
  await settled();
});

test('an error of a service carries the words that logs mask', async () => {
  let thrown: unknown;
  const fail = async () => {
    thrown = new Error(`nobody is called ${NRC}`);
    throw thrown;
  };
  const here = place(farm, { keyring: KEYRING, services: { 'farm.find': fail } });
  await textOf(begin(here.engine()));
  assert.is(await textOf(say(here.engine(), NRC)), 'Sorry');
  assert.is(findRedactor(thrown)?.text(`nobody is called ${NRC}`), `nobody is called ${MASK}`);
});

test('recordings hold numbers for what is typed and samples for answers, and replay as the same', async () => {
  const node = farm.screens.get('nrc');
  const typed = masks().mask(NRC, node);
  assert.equal(typed, { secret: 1, fits: true });
  assert.equal(masks().mask('x', node), { secret: 1, fits: false });
  assert.is(standIns()({ secret: 1, fits: false }, node).length > 0, true);
  const hidden = hidePrivateAnswers(farm, { 'farm.find': [{ return: FOUND }, { fail: 'ERR_SERVICE' }] });
  assert.equal(hidden, { 'farm.find': [{ return: FARM.vars!.farmer!.sample }, { fail: 'ERR_SERVICE' }] });
  const { farmer: _, ...others } = FARM.vars!;
  const bare = compileFlow({ ...FARM, vars: { ...others, farmer: { type: 'object', private: true } } });
  const made = hidePrivateAnswers(bare, { 'farm.find': [{ return: FOUND }] });
  assert.equal(made['farm.find']![0], {
    return: { name: 'xxxxx xxxxxx', balance: 5, paid: [{ at: 'xxxxx xxxxx', sum: 5 }] },
  });
});

test('a recording whose private values were longer or shorter is the same, and another screen is different', async () => {
  const easy = compileFlow({
    ...FARM,
    screens: { ...FARM.screens, nrc: { type: 'input', text: 'NRC?', save: 'nrc', to: 'find' } },
  });
  const line = (turn: object) =>
    JSON.stringify({ session: 's', flow: 'farm', version: 1, end: false, calls: [], ...turn });
  const recorded = (home: string) =>
    [
      line({ turn: 1, in: '', text: 'NRC?', state: 'nrc' }),
      line({
        turn: 2,
        in: { secret: 1, fits: true },
        text: home,
        state: 'home',
        calls: [{ service: 'farm.find', return: FARM.vars!.farmer!.sample }],
      }),
    ].join('\n');
  const replay = async (home: string) =>
    (await replayDialogue(easy, parseRecording(recorded(home), 'x')[0]!)).map(({ outcome }) => outcome);
  const same = '***** ****** (maize): *********\n1. Payments of ***********\n2. Leave\n0. Back';
  assert.equal(await replay(same), ['same', 'same']);
  assert.equal(await replay(same.replace('maize', 'beans')), ['same', 'different']);
});

test('what Back restores is as private as the variables themselves, and holds no secret', async () => {
  const flow = compileFlow({ ...FARM, vars: { ...FARM.vars, pin: { type: 'string', secret: true } } });
  const context = { $stack: ['nrc'], $page: 0, $bad: 0, note: 'n', $undo: [{ nrc: NRC, pin: '83519', note: 'maize' }] };
  const stored = flow.redact!(context, () => 'proof');
  assert.equal(stored.$undo, [{ nrc: NRC, note: 'maize' }]);
  assert.equal(flow.shown!.context!(stored).$undo, [{ nrc: MASK, note: 'maize' }]);
  assert.equal(flow.privateIn!(stored), [NRC]);
  assert.equal(flow.secretsIn!(context), ['83519']);
});

test('without a keyring records hold them as they are, and a machine of its own is not sealed', async () => {
  const here = place(farm, { services: { 'farm.find': async () => FOUND } });
  await textOf(begin(here.engine()));
  await textOf(say(here.engine(), NRC));
  assert.ok(here.stored().record.includes(NRC));
  const opened = openStored(here.engine(), KEY, here.stored());
  assert.is(opened.kind, 'live');
});

test.run();
