// Random callers in all shipped flows, with services that answer, fail, talk nonsense or take long: always a screen.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { parseFlow } from '../../lib/flow/format/load.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { room } from '../../lib/flow/run/render.ts';
import { isInteractive } from '../../lib/flow/screens/kinds.ts';
import type { DrivenClock } from '../../lib/flow/testing/session.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { conEnd } from '../../lib/ussd/reply.ts';
import { numbersFrom } from '../support/random.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { withoutTimes } from '../support/times.ts';
import { flowOf, menuTo, type Phone, phone } from './phone.ts';

const test = suite('walks');

const KEYRING = parseKeyring(createHash('sha256').update('walks').digest('hex'));
const TURNS = chooseSize({ short: 1_000, day: 10_000, whole: 10_000 });
const MENUS = new URL('../../menus/', import.meta.url);

const shipped = readdirSync(MENUS)
  .filter((name) => name.endsWith('.flow.json'))
  .map((name) => parseFlow(readFileSync(new URL(name, MENUS), 'utf8'), name).flow!);

// All of them behind one menu, as a service with several businesses has them.
const together = flowOf(
  {
    start: menuTo(...shipped.map(({ flow }) => flow)),
    ...Object.fromEntries(
      shipped.map(({ flow }) => [
        flow,
        { type: 'flow', flow, with: { phoneNumber: '=phoneNumber' }, done: 'start' } as const,
      ]),
    ),
    bye: { type: 'end', text: 'Bye' },
  },
  { flow: 'together', keys: { exit: '*' }, vars: { phoneNumber: { type: 'string' } } },
);
const flows = [...shipped.map((flow) => compileFlow(flow)), compileFlow(together, { flows: mapOf(shipped) })];

function mapOf(list: readonly Flow[]): ReadonlyMap<string, Flow> {
  return new Map(list.map((flow) => [flow.flow, flow]));
}

type Random = () => number;

const oneOf = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const PINS = ['84913', '73194'];
const LINES = ['1', '1', '2', '2', '3', '4', '0', 'Tariro Moyo'];
const TYPED = [
  ...['1', '2', '3', '4', '5', '6', '9', '0', '00', '98', '*', '', ' ', '01', '1.', '12', '99999'],
  ...[
    'Tariro Moyo',
    'hello',
    'my name',
    'menus',
    'Thanks',
    'Ünal Özdemir',
    'Привет 😀',
    '{{pin}}',
    '\u202e\u0000',
    "' or 1",
  ],
  ...['xstate.stop', '__proto__', 'constructor', 'opt.login', '*'.repeat(20), 'x'.repeat(200), '😀'.repeat(100)],
];

// What a sound service answers, what a broken one may answer, and everything in between.
const NONSENSE: readonly Json[] = [
  ...[null, true, 0, -1, 1e300, '', 'OK', [], {}, [[]], { ok: 'yes' }, { ok: true }, { ok: false }, { exists: 1 }],
  ...[
    { status: 200, body: null },
    { status: 200, body: [] },
    { status: 200, body: 'text' },
    { status: 200, body: { ok: 1 } },
  ],
  { ok: true, name: { first: 'x' }, customerId: ['x'], lang: 7 },
  { ok: true, name: 'n'.repeat(500), customerId: '€'.repeat(99) },
  { ok: true, created: true, customerId: null },
  { status: 200, body: { balance: 'much', items: 'none' } },
  { status: 200, body: { balance: [1], items: { 0: 'x' } } },
  { status: 200, body: { balance: -1e21, items: [null, 1, 'x', [], { date: {}, label: [], amount: 'x' }] } },
  {
    status: 200,
    body: { items: Array.from({ length: 600 }, (_, at) => ({ date: '2026-01-01', label: `л😀${at}`, amount: at })) },
  },
  { status: 200, body: { items: [{ date: '2026-13-45', label: 'l\nl\r\n1. fake', amount: '1e5' }] } },
  { status: 200, body: { ok: true, receipt: { no: 1 } } },
  JSON.parse('{"ok":true,"__proto__":{"ok":true},"constructor":1}'),
];
const SOUND: { readonly [service: string]: readonly Json[] } = {
  'account.exists': [
    { ok: true, exists: true },
    { ok: true, exists: false },
  ],
  'account.create': [
    { ok: true, created: true, customerId: 'C7K2M9QXP' },
    ...['exists', 'weak-pin', 'bad-pin'].map((reason) => ({ ok: false, created: false, reason })),
  ],
  'account.verifyPin': [
    { ok: true, customerId: 'C7K2M9QXP', name: 'Tariro Moyo', lang: 'sw' },
    { ok: true, customerId: 'C7K2M9QXP', name: '', lang: null },
    { ok: true, customerId: 'C7K2M9QXP', name: 'Tariro Moyo', lang: null, simChanged: true },
    { ok: false, reason: 'wrong', remaining: 2 },
    { ok: false, reason: 'locked', minutes: 15 },
  ],
  'http.get': [
    { status: 200, body: { balance: '1234.50' } },
    {
      status: 200,
      body: { items: Array.from({ length: 25 }, (_, at) => ({ date: '2026-01-01', label: 'Rent', amount: at })) },
    },
  ],
  'http.post': [
    { status: 200, body: { ok: true, receipt: 'R7K2M9QXP4' } },
    { status: 200, body: { ok: false, reason: 'balance' } },
    { status: 200, body: { ok: false, reason: 'closed' } },
  ],
};

function anyServices(random: Random, clock: () => DrivenClock): Services {
  const service = (name: string) => async () => {
    const fate = random();
    if (fate < 0.02) await clock().wait(oneOf(random, [100, 2_900, 7_000, 9_000, 30_000]));
    if (fate < 0.05)
      throw new TwinlineError(oneOf(random, ['ERR_SERVICE', 'ERR_TIMEOUT', 'ERR_STORE', 'ERR_INPUT']), 'no');
    if (fate < 0.07) throw oneOf<unknown>(random, [new Error('boom'), 'text', null, undefined]);
    return fate < 0.25 ? oneOf(random, NONSENSE) : oneOf(random, SOUND[name]!);
  };
  return Object.fromEntries(Object.keys(SOUND).map((name) => [name, service(name)]));
}

interface Walk {
  readonly caller: Phone;
  /** The record that was written last. */
  record(): string;
  take(): Promise<void>;
}

function walk(flow: CompiledFlow, random: Random): Walk {
  let written = '';
  const caller: Phone = phone(flow, {
    keyring: KEYRING,
    services: anyServices(random, () => caller.engine.clock as DrivenClock),
    onRecord: (record) => {
      written = record;
      const timeless = withoutTimes(record);
      for (const pin of PINS) assert.not(timeless.includes(pin), `a PIN is in a record of ${flow.id}: ${record}`);
    },
  });
  const input = { phoneNumber: '+263771234567', sessionId: 's', serviceCode: '*100#', msisdn: '+263771234567' };
  const take = async () => {
    const before = caller.screen;
    const node = flow.screens.get(before);
    const isPin = node?.screen.type === 'input' && node.scope.flow.vars?.[node.screen.save]?.secret;
    const isNew = before === '' || caller.ended;
    const usual = isPin ? PINS : LINES;
    const typed = oneOf(random, random() < 0.7 ? usual : TYPED);
    const text = isNew ? await caller.dial(input) : await caller.say(typed);
    const shown = () => `${flow.id}: ${before} → ${caller.screen}\n${text}`;
    const { used, limit } = room(text);
    assert.ok(used <= limit, `${used} of ${limit}: ${shown()}`);
    assert.ok(text.trim() !== '', shown());
    assert.match(conEnd({ kind: caller.ended ? 'end' : 'continue', text }).body, /^(CON|END) /);
    const { screen } = flow.screens.get(caller.screen) ?? (assert.unreachable(shown()) as never);
    if (caller.ended) assert.is(screen.type, 'end', shown());
    else assert.ok(isInteractive(screen) || text.endsWith('1. Continue') || text.endsWith('1. Endelea'), shown());
    for (const pin of PINS) assert.not(text.includes(pin), shown());
    assert.not.match(text, /undefined|\[object|NaN|null/, shown());
    checkStacks(flow, caller);
  };
  return { caller, take, record: () => written };
}

function checkStacks(flow: CompiledFlow, { screen, context }: Phone): void {
  const frames = (context.$frames as readonly JsonObject[] | undefined) ?? [];
  const levels = [...frames, { ...context, $at: screen }];
  for (const [at, level] of levels.entries()) {
    const { $at, $stack, $bad } = level as unknown as { $at: string; $stack: readonly string[]; $bad: number };
    const prefix = $at.slice(0, $at.lastIndexOf('.') + 1);
    const caller = at === 0 ? undefined : flow.screens.get(frames[at - 1]!.$at as string)!.screen;
    assert.is(prefix, caller?.type === 'flow' ? `${caller.flow}.` : '', screen);
    assert.ok($stack.length <= 20 && $bad <= 99);
    for (const behind of $stack) assert.ok(isInteractive(flow.screens.get(prefix + behind)!.screen), prefix + behind);
  }
}

test(`${TURNS} random turns over all shipped flows end in a screen that fits, and leave no secret behind`, async () => {
  for (const [at, flow] of flows.entries()) {
    const random = numbersFrom(at + 1);
    const walker = walk(flow, random);
    const seen = new Set<string>();
    let longest = 0;
    for (let turn = 0; turn < TURNS / flows.length; turn++) {
      await walker.take();
      seen.add(walker.caller.screen);
      longest = Math.max(longest, walker.record().length);
    }
    assert.ok(longest < 40_000, `${flow.id}: a record of ${longest} characters`);
    const asking = [...flow.screens].filter(([, { screen }]) => isInteractive(screen)).map(([path]) => path);
    const unseen = asking.filter((path) => !seen.has(path));
    if (flow.flow !== together && !isShort) assert.equal(unseen, [], `${flow.id} was walked everywhere`);
  }
});

test('the same seed walks the same way: a turn depends on nothing but its record, input and services', async () => {
  for (const flow of flows) {
    const [one, two] = [walk(flow, numbersFrom(7)), walk(flow, numbersFrom(7))];
    for (let turn = 0; turn < TURNS / 30; turn++) {
      await one.take();
      await two.take();
      assert.is(one.record(), two.record());
    }
  }
});

test.run();
