// Rules of flows: the worked example is clean, each mistake in it is seen as itself, and no flow makes a rule throw.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { parseFlow } from '../../lib/flow/format/parse.ts';
import { problemLine } from '../../lib/flow/format/problem.ts';
import { flowSource } from '../../lib/flow/format/source.ts';
import { checkFlow, lintFlow } from '../../lib/flow/lint/lint.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { cpuMs } from '../support/timed.ts';
import { anyFlow } from './lint-cases/any-flow.ts';
import { smallFlow, walk } from './lint-cases/walk.ts';

const WALLET = readFileSync(new URL('./lint-cases/wallet.flow.json', import.meta.url), 'utf8');
const FILE = 'wallet.flow.json';

const test = suite('lint');

test('the worked example loads, is clean and compiles', () => {
  const { flow, problems } = checkFlow(WALLET, FILE, {
    flows: new Map(),
    services: new Set(['auth.verifyPin', 'wallet.history']),
  });
  assert.equal(problems, []);
  assert.is(compileFlow(flow!).screens.size, 8);
});

test('words and languages of a flow that is only called are named where nobody reads them', () => {
  const shop: Flow = {
    flow: 'shop',
    version: 1,
    start: 'ask',
    langs: ['en', 'sw', 'fr'],
    vars: { lang: { type: 'string', default: 'en' } },
    labels: { goodbye: { en: 'Bye', sw: 'Kwaheri', fr: 'Salut' } },
    screens: {
      ask: { type: 'menu', text: 'Buy?', options: [{ id: 'yes', text: 'Yes', to: 'done' }] },
      done: { type: 'end', text: 'Your order number is A4.' },
    },
  };
  const main: Flow = {
    flow: 'main',
    version: 1,
    start: 'shop',
    langs: ['en', 'sw'],
    vars: { lang: { type: 'string', default: 'en' } },
    screens: { shop: { type: 'flow', flow: 'shop', done: 'bye' }, bye: { type: 'end', text: 'Bye' } },
  };
  const told = (flow: Flow, dialled: readonly string[] | undefined, caller = main) =>
    checkFlow(JSON.stringify(flow), 'shop.flow.json', {
      flows: new Map([['main', caller]]),
      doors: { textMode: 'latest', chats: [], dialled },
    })
      .problems.filter(({ code }) => code === 'never-heard')
      .map(({ pointer }) => pointer);
  assert.equal(told(shop, ['main']), ['/langs', '/labels/goodbye', '/screens/done/text']);
  assert.equal(told(shop, ['main', 'shop']), []);
  assert.equal(told(shop, undefined), []);
  const { labels: _, ...bare } = shop;
  const ends = { ...bare, screens: { ...shop.screens, done: { type: 'end', text: 'A4', ends: true } } } as Flow;
  assert.equal(told(ends, ['main']), ['/langs']);
  assert.equal(told(ends, ['main'], { ...main, langs: ['en', 'sw', 'fr'] }), []);
});

test('a service that is not known is told once, with the number of its calls', () => {
  const call = { type: 'call', service: 'bills.find', done: 'bye', fail: 'bye' } as const;
  const screens = { a: call, b: { ...call, done: 'a' }, bye: { type: 'end', text: 'Bye' } } as const;
  const flow: Flow = { flow: 'main', version: 1, start: 'b', screens };
  const { problems } = checkFlow(JSON.stringify(flow), 'main.flow.json', { services: new Set() });
  const told = problems.filter(({ code }) => code === 'unknown-service');
  assert.equal(
    told.map(({ pointer }) => pointer),
    ['/screens/a/service'],
  );
  assert.match(told[0]!.message, /So does one more screen\.$/);
});

test('the host of a call is compared with those that the server allows, where the address says it', () => {
  const told = (url: unknown, serviceHosts: readonly string[] | undefined) => {
    const call = { type: 'call', service: 'http.get', with: { url }, done: 'bye', fail: 'bye' };
    const flow = { flow: 'main', version: 1, start: 'a', screens: { a: call, bye: { type: 'end', text: 'Bye' } } };
    const doors = { textMode: 'latest', chats: [], serviceHosts } as const;
    return checkFlow(JSON.stringify(flow), 'main.flow.json', { doors }).problems.map(({ code }) => code);
  };
  const hosts = ['api.example', '*.mine.example:8443', 'localhost:8080'];
  for (const fine of [
    ['https://api.example/x', "='https://api.example/' + str(1)", { '=text': { en: 'http://localhost:8080/a' } }],
    ['https://a.mine.example:8443', "='https://other' + '.example'", "=error ? 'https://x.example' : 'x'", '/x'],
  ].flat())
    assert.not.ok(told(fine, hosts).includes('refused-host'), JSON.stringify(fine));
  for (const wrong of [
    'https://api.example:81/',
    "='http://localhost/x' + str(1)",
    { '=text': 'https://b.example/{{a}}' },
  ])
    assert.ok(told(wrong, hosts).includes('refused-host'), JSON.stringify(wrong));
  assert.equal(told('https://api.example/', []), ['refused-host']);
  assert.equal(told('https://api.example/', undefined), []);
  assert.equal(told('https://api.example/', ['https://broken/list']), []);
});

test('several mistakes are all told, in the order of the file', () => {
  const text = WALLET.replace('"to": "verify"', '"to": "verifyy"')
    .replace('balance >= 1', 'balanse >= 1')
    .replace('"default": 0', '"default": ""');
  const { problems } = checkFlow(text, FILE);
  assert.equal(
    problems.map(({ code }) => code),
    ['wrong-default', 'dangling-target', 'unknown-variable'],
  );
});

test('what is no mistake is not reported', () => {
  const fine: readonly (readonly [string, string])[] = [
    ['"=auth.name"', `"=pin == '1234' ? 'weak' : str(len(pin))"`],
    [
      '"fail": "sorry"\n    },\n    "home"',
      `"fail": [{ "when": "error.code == 'ERR_TIMEOUT'", "set": { "name": "=error.code" }, "to": "sorry" }, { "to": "sorry" }]\n    },\n    "home"`,
    ],
    ['"charset": "gsm7"', '"charset": "any"'],
    ['"digits": 4', '"sameAs": "pin"'],
    ['"items": "tx"', '"items": "tx", "pick": { "save": "auth", "to": "home" }'],
    ['"home": "00"', '"home": false'],
    ['"back": "0", "home": "00"', '"back": false, "home": false, "exit": "*"'],
    ['"id": "exit"', '"id": "exit", "key": "*"'],
    ['"back": false', '"back": "welcome"'],
    ['"balance >= 1"', '"num(msisdn) >= 5 and auth.what == 1 and msisdn != null"'],
    ['"balance >= 1"', `"lang in 'en sn' and name in tx and not (balance > 1)"`],
    ['"balance >= 1"', `"(auth.ok ? balance : num(name)) > 0 and str(balance) + name == 'x'"`],
    ['"items": "tx"', '"items": "len(tx) > 0 ? tx : auth.items"'],
    ['"with": { "msisdn": "=msisdn" }', `"with": { "msisdn": "=msisdn", "what": "='name'", "other": "names" }`],
    ['{{name}}, balance', '{{name}} {x} {} \\\\{name}, balance'],
  ];
  for (const [from, to] of fine) assert.equal(checkFlow(edited(from, to), FILE).problems.map(problemLine), [], to);
});

test('an answer that only chooses the way is used, though nothing reads its variable', () => {
  const way = '"way": { "type": "string" },\n    "auth": {';
  const asks = `"lost": { "type": "input", "text": "Y/N", "save": "way", "accept": { "oneOf": ["y", "n"] }, "to": "bye" },`;
  const text = WALLET.replace('"auth": {', way)
    .replace('"bye": {', `${asks}\n    "bye": {`)
    .replace('"else": "sorry"', '"else": "lost"');
  assert.equal(checkFlow(text, FILE).problems.map(problemLine), []);
  const free = text.replace(' "accept": { "oneOf": ["y", "n"] },', '');
  assert.equal(
    checkFlow(free, FILE).problems.map(({ code }) => code),
    ['unused-variable'],
  );
});

test('a character outside GSM is meant when the flow says so', () => {
  const text = WALLET.replace('"Goodbye"', '"Goodbye ✓"').replace('"gsm7"', '"any"');
  assert.equal(checkFlow(text, FILE).problems, []);
});

test('a screen that another version renamed twice is followed to where it is now', () => {
  const chain = (last: string) =>
    WALLET.replace('"version": 3', '"version": 4')
      .replace('"mainMenu": "home"', '"mainMenu": "menu"')
      .replace('"migrate": {', `"migrate": { "3": { "screens": { "menu": "${last}" } },`);
  assert.equal(checkFlow(chain('home'), FILE).problems, []);
  assert.equal(
    checkFlow(chain('gone'), FILE).problems.map(({ code }) => code),
    ['dangling-target', 'dangling-target'],
  );
});

test('problems of any flow have a place in its text, and one without errors compiles', () => {
  const counts = { read: 0, compiled: 0 };
  fc.assert(
    fc.property(anyFlow, fc.boolean(), ({ base: { file, known }, flow: value }, spaced) => {
      const text = JSON.stringify(value, null, spaced ? 2 : 0);
      const { flow, source } = parseFlow(text, file);
      if (!flow) return;
      counts.read++;
      const lines = text.split('\n');
      const problems = lintFlow(flow, { ...known, source });
      for (const problem of problems) {
        const { line, column, message, fix } = problem;
        assert.ok(line >= 1 && line <= lines.length && message && fix, problemLine(problem));
        assert.ok(column >= 1 && column <= lines[line - 1]!.length, problemLine(problem));
      }
      if (problems.some(({ severity }) => severity === 'error')) return;
      compileFlow(flow, { flows: known.flows ?? new Map() });
      counts.compiled++;
    }),
    { numRuns: 150 },
  );
  assert.ok(counts.read > 30 && counts.compiled > 5, JSON.stringify(counts));
});

test('what is unreachable, and where no end can be reached, agrees with walking every path', () => {
  let trapped = 0;
  fc.assert(
    fc.property(smallFlow, (flow) => {
      const problems = lintFlow(flow, { source: flowSource('small', '') });
      const told = (...codes: string[]) => problems.filter(({ code }) => codes.includes(code));
      const seen = walk(flow);
      const lost = Object.keys(flow.screens).filter((id) => !seen.reached.has(id));
      assert.equal(
        told('unreachable').map(({ pointer }) => pointer.slice('/screens/'.length)),
        lost,
      );
      const traps = told('no-end', 'dead-end').map(({ pointer }) => pointer.slice('/screens/'.length));
      // A fixed way back forgets what lay behind; of that the rule thinks kindly.
      const exact = Object.values(flow.screens).every(({ back }) => typeof back !== 'string');
      if (exact) assert.is(traps.length > 0, seen.trapped.size > 0, JSON.stringify(flow));
      for (const id of traps) assert.ok(seen.trapped.has(id), `${id} is no trap in ${JSON.stringify(flow)}`);
      if (traps.length) trapped++;
    }),
    { numRuns: 100 },
  );
  assert.ok(trapped > 10, `only ${trapped} flows had traps`);
});

/** A flow of so many screens, every second of which leads nowhere. */
function bigFlow(count: number): string {
  const screens: Record<string, Flow['screens'][string]> = { bye: { type: 'end', text: 'Bye' } };
  for (let at = 0; at < count; at++) {
    const to = (step: number) => `${at % 2 ? 's' : 'gone'}${(at * 7 + step) % count}`;
    const options = [1, 2, 3].map((step) => {
      return { id: `o${step}`, text: `Go ${step}`, when: `len(name) > ${at}`, to: to(step) };
    });
    const done = [{ when: `name == '${at}'`, to: to(1) }, { to: 'bye' }];
    const text = { en: `Screen {{name}} ${at}`, sn: `Peji {{name}} ${at}` };
    screens[`s${at}`] =
      at % 5 === 4
        ? { type: 'call', service: 'x.y', with: { a: '=name' }, done, fail: to(2) }
        : { type: 'menu', text, options };
  }
  const vars = { name: { type: 'string', max: 20 }, lang: { type: 'string' } } as const;
  const big: Flow = { flow: 'big', version: 1, start: 's0', langs: ['en', 'sn'], vars, screens };
  return JSON.stringify(big, null, 2);
}

test('a screen of 500 is checked as quickly as one of 50, also when much is wrong', () => {
  const best = (count: number) => {
    const { flow, source } = parseFlow(bigFlow(count), 'big.flow.json');
    const times = Array.from({ length: 4 }, () => cpuMs(() => lintFlow(flow!, { source })));
    assert.ok(lintFlow(flow!, { source }).length > count);
    return Math.min(...times) / count;
  };
  const [few, many] = [best(50), best(500)];
  assert.ok(many < 3 * few, `${many.toFixed(3)} ms of CPU for each of 500 screens, ${few.toFixed(3)} ms of 50`);
});

test('a flow without a file is checked too; its problems stand at the beginning', () => {
  const flow: Flow = { flow: 'x', version: 1, start: 'nowhere', screens: { bye: { type: 'end', text: 'Bye' } } };
  const problems = lintFlow(flow, { source: flowSource('x', '') });
  assert.equal(
    problems.map(({ code, line, column }) => ({ code, line, column })),
    [{ code: 'dangling-target', line: 1, column: 1 }],
  );
});

test.run();

function edited(from: string, to: string): string {
  assert.ok(WALLET.includes(from), `${from} is not in the worked example`);
  return WALLET.replaceAll(from, () => to);
}
