// `twinline graph`: forms, files, parts, coverage, and what it says of broken flows.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseXml } from '@rgrove/parse-xml';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { writeOrder } from '../machines/order.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('graph');
const MENUS = fileURLToPath(new URL('../../../menus', import.meta.url));
const SHIPPED = { MENUS_DIR: MENUS };

const FLOW = {
  flow: 'small',
  version: 1,
  start: 'first',
  keys: { exit: '*' },
  screens: {
    first: { type: 'menu', text: 'Here', options: [{ id: 'on', text: 'On', to: 'second' }] },
    second: { type: 'menu', text: 'There', options: [{ id: 'back', text: 'Back', to: 'first' }] },
  },
};
const TESTS = { flow: 'small', tests: [{ name: 'it dials', steps: [{ in: '', has: 'Here' }] }] };

test('a lifecycle, or what is near a state of a flow, as SVG on standard output', async () => {
  for (const args of [['delegation'], ['main', '--focus', 'about']]) {
    const { code, out, err } = await run(['graph', ...args], SHIPPED);
    assert.equal([code, err], [0, '']);
    assert.is(parseXml(out).root!.attributes.class, 'drawing');
    assert.match(out, /<style>/);
    assert.match(out, args[0] === 'main' ? /data-state="information"/ : /data-state="authorized"/);
    assert.not.match(out, /data-state="loginPin"/);
  }
});

test('as Mermaid, as a machine that XState takes', async () => {
  const mermaid = await run(['graph', 'wallet', '--mermaid'], SHIPPED);
  assert.match(mermaid.out, /^stateDiagram-v2$/m);
  assert.match(mermaid.out, /^ {2}\[\*\] --> welcome$/m);
  for (const name of ['wallet', 'domain-verification']) {
    const { code, out } = await run(['graph', '--xstate', name], SHIPPED);
    assert.is(code, 0);
    assert.is(createMachine(JSON.parse(out)).id, name);
  }
});

test('a module: the machines that it exports, in every form; what has none is refused with the place that was looked at', () =>
  withFiles({}, async (folder) => {
    const { MACHINES: order, SERVICES: till } = writeOrder(folder);
    const svg = await run(['graph', order]);
    assert.equal([svg.code, svg.err], [0, '']);
    assert.match(svg.out, /data-state="table\.paying"/);
    assert.match((await run(['graph', order, '--mermaid'])).out, /^ {2}s7 --> s8: pay done$/m);
    const machine = createMachine(JSON.parse((await run(['graph', order, '--xstate'])).out));
    assert.ok(machine.states.table!.states.paying);
    const out = join(folder, 'both');
    const both = await run(['graph', order, 'small', '--out', out], { MENUS_DIR: folder });
    assert.equal([both.code, both.err.includes('There is no flow and no machine "small"')], [2, true]);
    const gone = join(folder, 'gone.mjs');
    const refused = [await run(['graph', gone]), await run(['graph', till])];
    assert.equal(
      refused.map(({ code, err }) => [code, err.trim().replaceAll(folder, '.')]),
      [
        [78, `"./gone.mjs" is not there. ./gone.mjs was looked for: check the path or install the package.`],
        [78, `"./till.mjs" exports no machine. Export what createMachine(…) or machineConversation(…) returns.`],
      ],
    );
  }));

test('without names everything goes into a folder, one file for each', () =>
  withFiles({ 'small.flow.json': FLOW }, async (folder) => {
    const out = join(folder, 'a', 'b');
    const ran = await run(['graph', '--out', out, '--mermaid', '--menus-dir', folder]);
    assert.equal([ran.code, ran.out, ran.err.trim()], [0, '', `4 files written to ${out}`]);
    const names = ['agent-stream.mmd', 'delegation.mmd', 'domain-verification.mmd', 'small.mmd'];
    assert.equal(readdirSync(out).sort(), names);
    const one = join(folder, 'one.json');
    const single = await run(['graph', 'small', '--xstate', '--out', one], { MENUS_DIR: folder });
    assert.equal([single.code, single.err.trim()], [0, `${one} written`]);
    assert.is(JSON.parse(readFileSync(one, 'utf8')).initial, 'first');
    assert.is((await run(['graph', 'small', '--out', `${folder}/`], { MENUS_DIR: folder })).code, 0);
    assert.ok(existsSync(join(folder, 'small.svg')));
  }));

test('coverage marks what the tests beside a flow never reach', () =>
  withFiles({ 'small.flow.json': FLOW, 'small.test.json': TESTS }, async (folder) => {
    const { code, out } = await run(['graph', 'small', '--coverage'], { MENUS_DIR: folder });
    assert.is(code, 0);
    assert.match(out, /class="state uncovered" data-state="second"/);
    assert.match(out, /class="state start" data-state="first"/);
    const untested = await run(['graph', 'main', 'small', '--coverage', '--out', folder], { MENUS_DIR: folder });
    assert.is(untested.code, 2, 'there is no main here');
  }));

test('a broken flow is told as lint tells it, 1, and the others are drawn', () =>
  withFiles({ 'small.flow.json': FLOW, 'bad.flow.json': { ...FLOW, flow: 'bad', start: 'x' } }, async (folder) => {
    const env = { MENUS_DIR: folder };
    const asked = await run(['graph', 'bad'], env);
    assert.equal([asked.code, asked.out], [1, '']);
    assert.match(asked.err, /bad\.flow\.json:1:\d+ error dangling-target: /);
    assert.equal([(await run(['graph', 'small', '--mermaid'], env)).code], [0]);
    const all = await run(['graph', '--mermaid', '--out', join(folder, 'out')], env);
    assert.is(all.code, 1);
    assert.match(all.err, /bad\.flow\.json/);
    assert.ok(existsSync(join(folder, 'out', 'small.mmd')));
  }));

test('what makes no sense is usage, 2; lifecycles need no menus; a place that cannot be written is named', async () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['mian'], /no flow and no machine "mian"\. Did you mean "main"\?/],
    [[], /Name one flow or machine, or give --out/],
    [['main', 'wallet'], /Name one flow or machine, or give --out/],
    [['main', '--svg', '--mermaid'], /Choose one of --svg and --mermaid/],
    [['main', '--mermaid', '--coverage'], /drawn in SVG only/],
    [['main', '--xstate', '--focus', 'help'], /exported whole/],
    [['main', '--focus', 'hlep'], /no state "hlep"\. Did you mean "help"\?/],
    [['main', 'wallet', '--focus', 'help', '--out', '/tmp'], /about one flow/],
    [['main', '--menus-dir', '/nowhere/at/all'], /no folder \/nowhere\/at\/all/],
  ];
  for (const [args, words] of wrong) {
    const { code, out, err } = await run(['graph', ...args], SHIPPED);
    assert.equal([code, out], [2, ''], args.join(' '));
    assert.match(err, words);
  }
  const env = { MENUS_DIR: '/nowhere/at/all' };
  assert.is((await run(['graph', 'delegation', '--mermaid'], env)).code, 0);
  const { code, err } = await run(['graph', 'delegation', '--mermaid', '--out', '/proc/nothing/x.mmd'], env);
  assert.is(code, 1);
  assert.match(err, /Cannot write \/proc\/nothing\/x\.mmd \(\w+\)\. Give another place with --out\./);
});

test.run();
