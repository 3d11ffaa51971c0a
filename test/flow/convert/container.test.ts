// Flows as containers of FLOIP and back: the shipped menus come back as they were, what FLOIP itself carries of them is all that is not
// in the report, and what another program has changed counts.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeContainer } from '../../../lib/flow/convert/floip/writing/container.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { runFlowTests } from '../../../lib/flow/testing/run.ts';
import { flowOf, menuTo } from '../phone.ts';
import { convert, listErrors, readFixture } from './support.ts';

const test = suite('convert to FLOIP');

const MENUS = new URL('../../../menus/', import.meta.url);
const MODIFIED = new Date('2026-03-05T00:00:00Z');
const names = readdirSync(MENUS).flatMap((name) => /^(\w+)\.flow\.json$/.exec(name)?.[1] ?? []);
const readMenu = (name: string) => JSON.parse(readFileSync(new URL(`${name}.flow.json`, MENUS), 'utf8')) as Flow;

// biome-ignore lint/suspicious/noExplicitAny: containers, which have any shape
type Loose = any;

function write(...flows: Flow[]): { container: Loose; report: string[] } {
  const { container, report } = writeContainer(flows, { modified: MODIFIED });
  return {
    container: JSON.parse(JSON.stringify(container)),
    report: report.map(({ node, what }) => `${node} ${what}`.trim()),
  };
}

const readBack = async (container: Loose): Promise<Flow[]> => [...(await convert(container, 'floip')).flows];

/** Without what stands beside blocks for us alone. */
function stripBlocks(container: Loose): Loose {
  const bare = structuredClone(container);
  for (const flow of bare.flows) for (const block of flow.blocks) delete block.vendor_metadata;
  return bare;
}

for (const name of names) {
  test(`${name} comes back as it was, and passes its own tests`, async () => {
    const flow = readMenu(name);
    const [back] = await readBack(write(flow).container);
    assert.equal(back, flow);
    const { file } = parseFlowTests(readFileSync(new URL(`${name}.test.json`, MENUS), 'utf8'), `${name}.test.json`);
    const { tests } = await runFlowTests(compileFlow(back!), file!);
    assert.equal(
      tests.flatMap(({ failures }) => failures),
      [],
    );
  });

  test(`of ${name}, FLOIP alone carries every screen and every key of it that the report does not name`, async () => {
    const flow = readMenu(name);
    const { container, report } = write(flow);
    const [bare] = await readBack(stripBlocks(container));
    assert.equal(listErrors([bare!]), []);
    const differences = Object.entries(flow.screens).flatMap(([id, screen]) => {
      const other = bare!.screens[id] ?? bare!.screens[`${id}_shown`];
      if (other?.type !== screen.type) return [`${id} ${other?.type}`];
      const keys = new Set([...Object.keys(screen), ...Object.keys(other)]);
      return [...keys].filter((key) => plain(screen, key) !== plain(other, key)).map((key) => `${id} ${key}`);
    });
    const untold = differences.filter(
      (one) => !report.some((told) => told === one || told.startsWith(`${one}.`) || told.startsWith(`${one} `)),
    );
    assert.equal(untold, []);
    // And nothing is told that is not so.
    const keys = report.filter((told) => /^\w+ (?:back|track|accept|error|attempts|else|options)/.test(told));
    const wrong = keys.filter((told) => !differences.some((one) => told === one || told.startsWith(`${one}.`)));
    assert.equal(wrong, []);
  });
}

/** A key of a screen with every expression written the same: FLOIP has other words for it. */
function plain(screen: Loose, key: string): string {
  return JSON.stringify(screen[key] ?? null, (name, value) => {
    if (typeof value === 'string' && (name === 'when' || value.startsWith('='))) return '=';
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  });
}

test('the container has the form of the specification: ids, texts of every language, one default exit in every block', async () => {
  const { container } = write(readMenu('wallet'));
  const [flow] = container.flows;
  const uuids = new Set(container.resources.map(({ uuid }: Loose) => uuid));
  const blocks = new Map<string, Loose>(flow.blocks.map((block: Loose) => [block.uuid, block]));
  assert.is(container.specification_version, '1.0.0-rc3');
  assert.ok(blocks.has(flow.first_block_id));
  assert.equal(
    flow.languages.map(({ id, iso_639_3 }: Loose) => [id, iso_639_3]),
    [
      ['en', 'eng'],
      ['sw', 'swa'],
    ],
  );
  for (const block of blocks.values()) {
    assert.match(block.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(block.name, /^[a-zA-Z_]\w*$/);
    for (const exit of block.exits)
      assert.ok(exit.destination_block === null || blocks.has(exit.destination_block), block.name);
    if (!block.type.startsWith('Twinline.'))
      assert.is(block.exits.filter((exit: Loose) => exit.default === true).length, 1, block.name);
    for (const key of ['prompt', 'question_prompt'])
      if (block.config[key]) assert.ok(uuids.has(block.config[key]), block.name);
  }
  for (const { values } of container.resources)
    assert.equal(
      values.map((value: Loose) => value.language_id),
      ['en', 'sw'],
    );
  const menu = flow.blocks.find((block: Loose) => block.name === 'balance');
  const prompt = container.resources.find(({ uuid }: Loose) => uuid === menu.config.prompt).values[0].value;
  assert.is(prompt, 'Your balance: @(contact.balance)\n1. Last payments\n2. Buy airtime');
});

test('what another program has changed counts, and what was kept of that key does not', async () => {
  const flow = flowOf(
    {
      start: { ...menuTo('pay', 'bye'), back: false },
      pay: { type: 'input', text: 'PIN of 4 digits', save: 'code', accept: { digits: 4 }, to: 'bye' },
      bye: { type: 'end', text: 'Bye {{code}}' },
    },
    { langs: ['en'], keys: { back: '0' }, vars: { code: { type: 'string', max: 4 } } },
  );
  const { container } = write(flow);
  const block = container.flows[0].blocks.find(({ name }: Loose) => name === 'start');
  block.config.choices.pop();
  const [back] = await readBack(container);
  const { options, back: kept } = back!.screens.start as Loose;
  assert.equal(
    options.map(({ id }: Loose) => id),
    ['pay'],
  );
  assert.is(kept, false);
  assert.equal(back!.screens.pay, flow.screens.pay);
});

test('flows that are called go along, and come back', async () => {
  const login = flowOf(
    {
      ask: { type: 'input', text: 'Name?', save: 'name', to: 'end' },
      end: { type: 'end', text: 'ok', output: { name: '=name' } },
    },
    { flow: 'login', vars: { name: { type: 'string' } }, langs: ['en'] },
  );
  const main = flowOf(
    {
      enter: {
        type: 'flow',
        flow: 'login',
        save: 'got',
        done: [{ when: "got.name == ''", to: 'enter' }, { to: 'bye' }],
      },
      bye: { type: 'end', text: 'Bye {{got.name}}' },
    },
    { flow: 'main', vars: { got: { type: 'object' } }, langs: ['en'] },
  );
  const { container, report } = write(main, login);
  assert.equal(await readBack(container), [main, login]);
  assert.equal(report, ['enter save', 'enter done', 'end output']);
});

test('a container of another program that is written again says the same to callers', async () => {
  const { flows } = await convert(readFixture('clinic.floip.json'), 'floip');
  const { container } = write(...flows);
  assert.equal(await readBack(container), flows);
});

test.run();
