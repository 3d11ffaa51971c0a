// Tests of flows: what passes, what fails and in which words, what was covered, and the tests of the shipped flows.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../lib/account/account.ts';
import { pinVault } from '../../lib/account/pin.ts';
import { ACCOUNT_KINDS } from '../../lib/account/records.ts';
import { accountServices } from '../../lib/account/services.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { loadFlows, parseFlow } from '../../lib/flow/format/load.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { coverageLine } from '../../lib/flow/testing/coverage.ts';
import type { FlowTest, FlowTestFile } from '../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { type FlowTestReport, failureText, recordFlowTest, runFlowTests } from '../../lib/flow/testing/run.ts';
import { writeFlowTests } from '../../lib/flow/testing/update.ts';
import { httpServices } from '../../lib/http/service.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { CONTRACTS } from '../../server/menus/contracts.ts';
import { KEYS, keyring, quickDigest, rejection } from '../account/support.ts';
import vectors from '../vectors/flow-tests.json' with { type: 'json' };
import { flowOf, menuTo, phone } from './phone.ts';

const test = suite('flow tests');

const MENUS = new URL('../../menus/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, MENUS), 'utf8');
const names = readdirSync(MENUS).flatMap((name) => /^(\w+)\.flow\.json$/.exec(name)?.[1] ?? []);

const bank = flowOf(
  {
    start: menuTo('pin', 'pay'),
    pin: {
      type: 'input',
      text: 'Your PIN:',
      save: 'pin',
      accept: { digits: 4 },
      attempts: 2,
      else: 'start',
      to: 'check',
    },
    check: {
      type: 'call',
      service: 'check',
      with: { phone: '=phoneNumber', pin: '=pin' },
      save: 'got',
      done: [{ when: 'got.ok', to: 'home', track: 'in' }, { to: 'start' }],
      fail: 'sorry',
    },
    home: { ...menuTo('start'), text: 'Hello {{got.name}}', track: 'home' },
    pay: {
      type: 'call',
      service: 'pay',
      with: { amount: 5 },
      save: 'got',
      retry: 1,
      done: 'home',
      fail: [{ when: "error.code == 'ERR_TIMEOUT'", to: 'late' }, { to: 'sorry' }],
    },
    late: { type: 'end', text: 'It took too long.' },
    sorry: { type: 'end', text: 'Sorry.' },
  },
  {
    flow: 'bank',
    keys: { exit: '*' },
    vars: { phoneNumber: { type: 'string' }, pin: { type: 'string', secret: true }, got: { type: 'object' } },
  },
);
const compiled = compileFlow(bank);

const report = (one: Partial<FlowTest>): Promise<FlowTestReport> =>
  runFlowTests(compiled, { flow: 'bank', tests: [{ name: 'it', steps: [{ in: '' }], ...one }] });

async function failures(one: Partial<FlowTest>): Promise<string[]> {
  return (await report(one)).tests[0]!.failures.map(failureText);
}

const ok = { ok: true, name: 'Ann' };
const dial = { in: '', screen: 'start' } as const;

test('a test passes when every step shows what it should', async () => {
  const found = await failures({
    services: { check: [{ when: { pin: '4829' }, return: ok }] },
    steps: [
      { in: '', screen: 'start', text: 'Choose\n1. To pin\n2. To pay\n*. Exit', track: [], end: false },
      { in: '1', screen: 'pin', has: 'PIN' },
      { in: '4829', screen: 'home', has: ['Hello', 'Ann'], match: '^Hello [A-Z][a-z]+\\n', track: ['in', 'home'] },
      { in: '*', screen: '$goodbye', text: 'Goodbye.', end: true },
    ],
  });
  assert.equal(found, []);
});

test('a step that fails says its number, what was typed, what was expected and what came', async () => {
  for (const [one, expected] of vectors.failures as unknown as readonly (readonly [Partial<FlowTest>, string[]])[])
    assert.equal(await failures(one), expected);
});

test('a call without an answer names its screen and the keys of its input, and no value', async () => {
  const steps = [dial, { in: '1' }, { in: '4829', screen: 'home' }];
  const call = 'step 3, typed ****: Screen "check" calls "check" with phone, pin';
  const used = [dial, { in: '1' }, { in: '4829' }, { in: '1' }, { in: '1' }, { in: '4829' }];
  const cases: [Partial<FlowTest>, string][] = [
    [{ steps }, `${call}, and the test has no answer for it. Add "check": [{ "return": … }] to "services".`],
    [
      {
        steps,
        services: {
          check: [
            { when: { pin: '1111' }, return: ok },
            { when: { phone: '+1', pin: '2' }, return: ok },
          ],
        },
      },
      `${call}, and no answer that is left fits: 1 is for another "pin"; 2 is for another "phone" and "pin".`,
    ],
    [
      { steps: used, services: { check: [{ return: ok }] } },
      'step 6, typed ****: Screen "check" calls "check" with phone, pin, and all 1 answers for it have been used. Add one, or "times" to the last.',
    ],
  ];
  for (const [one, expected] of cases) {
    const found = await failures(one);
    assert.equal(found, [expected]);
    assert.not.match(found.join(), /4829/);
  }
});

test('an answer that no call takes is a failure', async () => {
  assert.equal(await failures({ services: { check: [{ return: ok }], chek: [{ return: 1 }] } }), [
    'Answer 1 of "check" was not used. Remove it, or add the steps that lead to the call.',
    'No screen of the flow calls "chek". Did you mean "check"?',
  ]);
  const steps = [dial, { in: '2', screen: 'home' }];
  assert.equal(await failures({ steps, services: { pay: [{ return: ok, times: 3 }] } }), [
    'Answer 1 of "pay" was used 1 of 3 times. Remove it, or add the steps that lead to the call.',
  ]);
});

test('answers are taken in order, each by the first call that it fits, as often as it says', async () => {
  const check = [
    { when: { pin: '1111' }, return: { ok: false }, times: 2 },
    { when: { pin: '2222' }, return: { ok: true, name: 'Two' } },
    { return: { ok: true, name: 'Any' } },
  ];
  const steps = [
    dial,
    { in: '1' },
    { in: '2222', has: 'Two' },
    { in: '1' },
    { in: '1' },
    { in: '1111', screen: 'start' },
    { in: '1' },
    { in: '1111', screen: 'start' },
    { in: '1' },
    { in: '1111', has: 'Any' },
  ];
  assert.equal(await failures({ steps, services: { check } }), []);
});

test('a part of the input is enough for an answer to fit: of objects a part, of lists all', async () => {
  const flow = flowOf(
    {
      call: { type: 'call', service: 's', with: { a: { b: [1, { c: 2 }], d: null }, e: 'x' }, done: 'yes', fail: 'no' },
      yes: { type: 'end', text: 'yes' },
      no: { type: 'end', text: 'no' },
    },
    { flow: 'bank' },
  );
  const fits = async (when: FlowTest['given']) => {
    const tests = [
      { name: 'it', services: { s: [{ ...(when && { when }), return: 1 }] }, steps: [{ in: '', screen: 'yes' }] },
    ];
    return (await runFlowTests(compileFlow(flow), { flow: 'bank', tests })).tests[0]!.failures.length === 0;
  };
  const [fitting, others]: FlowTest['given'][][] = [
    [undefined, {}, { e: 'x' }, { a: { d: null } }, { a: { b: [1, {}] } }, { a: { b: [1, { c: 2 }] } }],
    [{ e: 'y' }, { f: null }, { a: { b: [1] } }, { a: [] }, { a: { b: [1, { c: 3 }] } }, { e: { 0: 'x' } }],
  ];
  for (const when of fitting!) assert.ok(await fits(when), JSON.stringify(when));
  for (const when of others!) assert.not.ok(await fits(when), JSON.stringify(when));
});

test('services fail, are tried again and take long as they do for callers, and nobody waits for real', async () => {
  const waited = watchTimers();
  const cases: readonly (readonly [pay: readonly object[], ...steps: FlowTest['steps']])[] = [
    [[{ fail: 'ERR_SERVICE', times: 2 }], { in: '2', screen: 'sorry', end: true }],
    [[{ fail: 'ERR_TIMEOUT' }, { return: ok }], { in: '2', screen: 'home' }],
    // Not worth a second try.
    [[{ fail: 'ERR_INPUT' }], { in: '2', screen: 'sorry' }],
    [[{ delayMs: 4_900, return: ok }], { in: '2', screen: 'home' }],
    [
      [{ delayMs: 60_000, return: ok, times: 2 }],
      { in: '2', screen: 'pay', text: 'Please wait.\n1. Continue', end: false },
      { in: '1', screen: 'late' },
    ],
    [
      [
        { delayMs: 4_900, fail: 'ERR_BUSY' },
        { delayMs: 4_900, return: ok },
      ],
      { in: '2', has: 'Please wait' },
      { in: '1', screen: 'home' },
    ],
  ];
  try {
    for (const [pay, ...steps] of cases)
      assert.equal(
        await failures({ services: { pay } as NonNullable<FlowTest['services']>, steps: [dial, ...steps] }),
        [],
      );
  } finally {
    assert.equal(waited(), []);
  }
});

/** Notes the timers that are set from now on; returns a function that ends this, with those of 100 ms or more. */
function watchTimers(): () => readonly number[] {
  const { setTimeout: real } = globalThis;
  const long: number[] = [];
  globalThis.setTimeout = ((work: () => void, ms = 0, ...args: []) => {
    if (ms >= 100) long.push(ms);
    return real(work, ms, ...args);
  }) as typeof real;
  return () => {
    globalThis.setTimeout = real;
    return long;
  };
}

test('every step is stored and read back: a secret lives for one step only', async () => {
  const flow = flowOf(
    {
      pin: { type: 'input', text: 'PIN', save: 'pin', to: 'next' },
      next: menuTo('call'),
      call: { type: 'call', service: 's', with: { pin: '=pin' }, done: 'pin', fail: 'pin' },
    },
    { flow: 'bank', vars: { pin: { type: 'string', secret: true } } },
  );
  const tests = [
    {
      name: 'it',
      services: { s: [{ when: { pin: null }, return: 1 }] },
      steps: [{ in: '' }, { in: '4829' }, { in: '1', screen: 'pin' }],
    },
  ];
  assert.equal((await runFlowTests(compileFlow(flow), { flow: 'bank', tests })).tests[0]!.failures, []);
});

test('an error of the flow is a failure of the step, with its reason', async () => {
  const flow = flowOf(
    { a: menuTo('b'), b: { type: 'branch', branch: [{ when: 'len(n) > 1', to: 'a' }, { to: 'a' }] } },
    { flow: 'bank', vars: { n: { type: 'number', default: 3 } } },
  );
  const tests = [{ name: 'it', steps: [{ in: '' }, { in: '1' }] }];
  const found = (await runFlowTests(compileFlow(flow), { flow: 'bank', tests })).tests[0]!.failures.map(failureText);
  assert.is(found.length, 1);
  assert.match(found[0]!, /^step 2, typed "1": .*len takes a list or a text, not a number/);
});

// Coverage.

test('coverage names what no test has been through, and counts nothing as all', async () => {
  const { coverage } = await report({
    services: { check: [{ return: ok }] },
    steps: [dial, { in: '1' }, { in: '12' }, { in: '4829' }],
  });
  assert.equal(coverage, {
    screens: { seen: 4, all: 7, missing: ['pay', 'late', 'sorry'] },
    options: { seen: 1, all: 3, missing: ['start.pay', 'home.start'] },
    ways: {
      seen: 3,
      all: 9,
      missing: ['pin.else', 'check.done[1]', 'check.fail', 'pay.done', 'pay.fail[0]', 'pay.fail[1]'],
    },
  });
  assert.is(
    coverageLine({ coverage }),
    [
      'screens 4/7 (57 %) · options 1/3 (33 %) · ways 3/9 (33 %)',
      'not covered: screens pay, late, sorry',
      'not covered: options start.pay, home.start',
      'not covered: ways pin.else, check.done[1], check.fail, pay.done, pay.fail[0], pay.fail[1]',
    ].join('\n'),
  );
  const nearly = { seen: 399, all: 400, missing: ['x'] };
  const none = { seen: 0, all: 0, missing: [] };
  assert.is(
    coverageLine({ coverage: { screens: nearly, options: none, ways: { seen: 1, all: 1, missing: [] } } }),
    'screens 399/400 (99 %) · ways 1/1 (100 %)\nnot covered: screens x',
  );
});

test('branches, lists and called flows are covered too; the screens inside of called flows are not counted', async () => {
  const called = flowOf({ q: menuTo('end'), end: { type: 'end', text: '' } }, { flow: 'called' });
  const flow = flowOf(
    {
      list: { type: 'list', text: 'Pick', items: 'rows', row: '{{row}}', pick: { save: 'x', to: 'fork' } },
      fork: { type: 'branch', branch: [{ when: 'x == 1', to: 'sub' }, { to: 'free' }] },
      sub: { type: 'flow', flow: 'called', done: [{ when: 'x == 2', to: 'free' }, { to: 'list' }] },
      free: { type: 'input', text: 'Say', save: 'x', to: 'list' },
    },
    { flow: 'bank', vars: { rows: { type: 'array', default: [1, 2] }, x: { type: 'number' } } },
  );
  const steps = [{ in: '' }, { in: '1', screen: 'called.q' }, { in: '1', screen: 'list' }];
  const { coverage, tests } = await runFlowTests(compileFlow(flow, { flows: new Map([['called', called]]) }), {
    flow: 'bank',
    tests: [{ name: 'it', steps }],
  });
  assert.equal(tests[0]!.failures, []);
  assert.equal(coverage.screens.missing, ['free']);
  assert.equal(coverage.ways.missing, ['fork.branch[1]', 'sub.done[0]', 'free.to']);
  assert.is(coverage.options.all, 0);
});

// Recording and writing.

test('what is recorded passes', async () => {
  const setup = {
    name: 'recorded',
    services: { check: [{ return: ok }], pay: [{ delayMs: 8_000, return: ok, times: 2 }] },
  };
  const recorded = await recordFlowTest(compiled, { ...setup, inputs: ['', '1', '12', '4829', '1', '2', '1'] });
  assert.equal(recorded.steps.at(-1), { in: '1', screen: 'late', text: 'It took too long.', end: true });
  assert.equal(recorded.steps[3], {
    in: '4829',
    screen: 'home',
    text: 'Hello Ann\n1. To start\n0. Back\n00. Home\n*. Exit',
    track: ['in', 'home'],
  });
  const file: FlowTestFile = { flow: 'bank', tests: [recorded] };
  assert.equal((await runFlowTests(compiled, file)).tests[0]!.failures, []);
  const parsed = parseFlowTests(writeFlowTests(file), 'bank.test.json');
  assert.equal([parsed.file, parsed.problems], [file, []]);
});

test('nothing is recorded of a conversation that has ended, or calls what has no answer', async () => {
  assert.match(
    (await rejection(recordFlowTest(compiled, { name: 'r', inputs: ['', '*', '1'] }))).message,
    /ends at step 2/,
  );
  const { message } = await rejection(recordFlowTest(compiled, { name: 'r', inputs: ['', '1', '4829'] }));
  assert.match(message, /Cannot record "r": Screen "check" calls "check" with phone, pin,/);
  assert.not.match(message, /4829/);
});

// Reading.

const good = `{
  "flow": "bank",
  "tests": [
    { "name": "one", "steps": [{ "in": "" }] },
    { "name": "two", "services": { "check": [{ "return": null }] }, "steps": [{ "in": "", "match": "x+" }] }
  ]
}`;

test('a file of tests is read as it is', () => {
  const { file, problems } = parseFlowTests(`\uFEFF${good}`, 'bank.test.json');
  assert.equal(problems, []);
  assert.equal(file, JSON.parse(good));
});

test('what is wrong with a file of tests is said with its line and column', () => {
  for (const [from, to, place, code, says] of vectors.files as [string, string, string, string, string][]) {
    assert.ok(good.includes(from), from);
    const { file, problems } = parseFlowTests(
      good.replace(from, () => to),
      'menus/bank.test.json',
    );
    assert.is(file, undefined);
    const found = problems.find((problem) => problem.code === code);
    assert.ok(found, `${code}: ${JSON.stringify(problems)}`);
    assert.match(found.message, says);
    assert.is(`${found.line}:${found.column}`, place, code);
    assert.ok(found.fix.length > 3 && found.file === 'menus/bank.test.json' && found.severity === 'error');
  }
});

test('what is no file of tests at all is said too, and never thrown', () => {
  for (const text of ['', 'null', '[]', '3', '"x"', '{}', '{', '{"flow":1}', '{"__proto__":1}', '['.repeat(5_000)])
    assert.ok(parseFlowTests(text, 'x.test.json').problems.length > 0, text.slice(0, 20));
});

// The shipped flows.

test('the shipped flows are free of problems, warnings too', async () => {
  const { flows, problems } = await loadFlows(fileURLToPath(MENUS), { services: new Set(Object.keys(CONTRACTS)) });
  assert.equal(problems, []);
  assert.equal([...flows.keys()].sort(), ['assistant', 'main', 'wallet']);
});

for (const name of names)
  test(`the tests of ${name} pass, and go through every screen, option and way`, async () => {
    const text = read(`${name}.test.json`);
    const { file, problems } = parseFlowTests(text, `${name}.test.json`);
    assert.equal(problems, []);
    assert.is(writeFlowTests(file!), text, 'it is written as a recorded one is');
    const flow = parseFlow(read(`${name}.flow.json`), `${name}.flow.json`).flow as Flow;
    const { tests, coverage } = await runFlowTests(compileFlow(flow), file!);
    assert.equal(
      tests.flatMap(({ name: of, failures: found }) => found.map((one) => `${of}: ${failureText(one)}`)),
      [],
    );
    assert.equal([coverage.screens.missing, coverage.options.missing, coverage.ways.missing], [[], [], []]);
  });

test('with no wallet service in reach, which is how it ships, every choice says so and leads on', async () => {
  const login = { 'account.verifyPin': async () => ({ ok: true, name: 'Wanjiku' }) };
  const flow = parseFlow(read('wallet.flow.json'), 'wallet.flow.json').flow!;
  const caller = phone(flow, { services: { ...login, ...httpServices({ hosts: [] }) } });
  await caller.dial({ phoneNumber: '+254712345678' });
  await caller.say('1', '48291');
  for (const [typed, screen, words] of [
    [['1'], 'unavailable', 'Nothing was charged'],
    [['2'], 'unavailable', 'Please try again later'],
    [['3', '1', '1'], 'unsure', 'nothing was charged'],
  ] as const) {
    const text = await caller.say(...typed);
    assert.is(caller.screen, screen);
    assert.ok(text.includes(words), text);
    await caller.say('1');
    assert.is(caller.screen, 'wallet');
  }
});

test('a caller who tries PINs hears the same of a number that is registered and of one that is not', async () => {
  const logins = { main: ['2', '1'], wallet: ['1'] };
  for (const [name, way] of Object.entries(logins)) {
    const flow = parseFlow(read(`${name}.flow.json`), `${name}.flow.json`).flow!;
    const documents = memoryDocuments();
    await documents.declare(ACCOUNT_KINDS);
    const clock = new SimulatedClock();
    const vault = pinVault({ keyring: keyring(KEYS.old), derive: quickDigest().derive });
    const own = accounts({ documents, vault, clock });
    await own.create({ phone: '+254712345678', pin: '48291' });
    const heard: string[][] = [];
    for (const phoneNumber of ['+254712345678', '+254712345679']) {
      const caller = phone(flow, { services: accountServices(own), key: phoneNumber });
      const said = [await caller.dial({ phoneNumber, msisdn: phoneNumber })];
      for (const typed of [...way, '73105', '1', '73106', '1', '73107']) said.push(await caller.say(typed));
      heard.push(said);
    }
    assert.match(heard[0]!.join(), 'We could not log you in with this PIN', name);
    assert.match(heard[0]!.at(-1)!, 'locked', name);
    assert.equal(heard[1], heard[0], name);
  }
});

test.run();
