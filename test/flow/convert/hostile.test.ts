// Files that nobody exported: broken, deep, large, of other versions, in circles. Each ends with a clear error, or with flows that lint
// accepts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SourceFormat } from '../../../lib/flow/convert/convert.ts';
import { FILE_BYTES_MAX, NODES_MAX } from '../../../lib/flow/convert/source.ts';
import { convert, listErrors, phoneFor } from './support.ts';

const test = suite('convert hostile files');

async function refusal(source: unknown, from: SourceFormat): Promise<string> {
  return convert(source, from).then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  );
}

const proFlow = (nodes: unknown[], more: object = {}) => ({
  uuid: 'f',
  name: 'F',
  spec_version: '13.1.0',
  language: 'eng',
  localization: {},
  nodes,
  ...more,
});
const pro = (...flows: object[]) => ({ version: '13', flows });
const say = (uuid: string, text: string, next?: string) => ({
  uuid,
  actions: [{ uuid: `a${uuid}`, type: 'send_msg', text }],
  exits: [{ uuid: `e${uuid}`, destination_uuid: next ?? null }],
});
const floip = (blocks: object[], more: object = {}) => ({
  specification_version: '1.0.0-rc3',
  flows: [{ uuid: 'f', name: 'F', languages: [{ id: 'eng' }], first_block_id: '1', blocks, ...more }],
  resources: [],
});
const block = (uuid: string, type: string, config: object, ...next: (string | null)[]) => ({
  ...{ uuid, name: `b${uuid}`, type, config },
  exits: next.map((destination_block, at) => ({
    uuid: `${uuid}x${at}`,
    name: `x${at}`,
    default: at === next.length - 1,
    destination_block,
  })),
});

test('what is no JSON, no such file, of another version or without a flow says so', async () => {
  const cases: [unknown, SourceFormat, string][] = [
    ['{"flows": [', 'rapidpro', 'Cannot convert given.json: line 1, column 12: The file ends, and the [ of line 1'],
    ['', 'floip', 'Cannot convert given.json: line 1, column 1: The file is empty.'],
    ['[1]', 'floip', 'Cannot convert given.json: it holds no JSON object.'],
    [{}, 'rapidpro', 'Cannot convert given.json: it is no file of RapidPro or TextIt.'],
    [pro(proFlow([])), 'floip', 'It looks like a file of RapidPro or TextIt: use --from rapidpro.'],
    [floip([]), 'rapidpro', 'It looks like a container of FLOIP: use --from floip.'],
    [
      pro(proFlow([], { spec_version: '11.12' })),
      'rapidpro',
      'its flow "F" is of the definition version 11.12, and only 13 can be read.',
    ],
    [
      pro({ name: 'Old', action_sets: [], rule_sets: [], metadata: {} }),
      'rapidpro',
      'its flow "Old" is of the definition version',
    ],
    [
      { ...floip([]), specification_version: '0.9' },
      'floip',
      'it is of the specification version 0.9, and only 1.0.0-rc1 to 1.0.0-rc4 can be read.',
    ],
    [{ specification_version: '1.0.0-rc1', flows: [] }, 'floip', 'it has no flows.'],
  ];
  for (const [source, from, words] of cases) assert.match(await refusal(source, from), words);
});

test('too deep, too large and too many nodes are refused', async () => {
  assert.match(
    await refusal(`${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'floip'),
    'it nests 5000 levels deep, and 128 is the most.',
  );
  assert.match(await refusal(`"${'x'.repeat(FILE_BYTES_MAX)}"`, 'floip'), `and ${FILE_BYTES_MAX} is the most.`);
  const nodes = Array.from({ length: NODES_MAX + 1 }, () => ({}));
  assert.match(await refusal(pro(proFlow(nodes)), 'rapidpro'), `it has more than ${NODES_MAX} nodes.`);
  assert.match(await refusal(floip(nodes), 'floip'), `it has more than ${NODES_MAX} blocks.`);
});

const webhook = (parts: object) =>
  pro(
    proFlow([
      {
        uuid: 'w',
        actions: [{ uuid: 'a', type: 'call_webhook', method: 'POST', url: 'https://a.example/', body: '{}', ...parts }],
        exits: [{ uuid: 'e', destination_uuid: null }],
      },
    ]),
  );

/** Where a file has long texts. */
const PLACES: { readonly [name: string]: (text: string) => object } = {
  text: (text) => pro(proFlow([say('1', text)])),
  address: (text) => webhook({ url: `https://a.example/${text}` }),
  query: (text) => webhook({ url: `https://a.example/?${text}` }),
  body: (body) => webhook({ body }),
};
/** What opens something that the next one does not close, and what is looked for from each of its signs. */
const OPENERS = ['\\"', '"', '@(', '@a(', '@("', '@', '{{', "'", '@(a', '&', '\\', '[0]', '%'];
/** An eighth costs an eighth, or more where little is to be done; if the cost grew with the square, a sixty-fourth. */
const REPEATS = 48_000;
const TIMES = 20;

test('what a text costs grows no faster than its length, whatever it repeats', async () => {
  const measure = async (place: string, text: string) => {
    const before = process.cpuUsage();
    await convert(PLACES[place]!(text), 'rapidpro');
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  for (const place of Object.keys(PLACES))
    for (const opener of OPENERS) {
      const few = await measure(place, opener.repeat(REPEATS / 8));
      let many = await measure(place, opener.repeat(REPEATS));
      for (let tries = 0; tries < 3 && many > TIMES * few; tries++)
        many = Math.min(many, await measure(place, opener.repeat(REPEATS)));
      assert.ok(
        many <= TIMES * few,
        `${JSON.stringify(opener)} in the ${place}: ${many} µs, an eighth of it ${few} µs`,
      );
    }
});

test('messages in a circle can be dialled and left', async () => {
  const { flows } = await convert(pro(proFlow([say('1', 'One', '2'), say('2', 'Two', '1')])), 'rapidpro');
  assert.equal(listErrors(flows), []);
  const caller = phoneFor(flows, 'f');
  await caller.dial();
  await caller.say('1', '1', '*');
  assert.ok(caller.ended);
});

test('splits and empty nodes in a circle end', async () => {
  const split = (uuid: string, to: string) => ({
    uuid,
    router: {
      type: 'switch',
      operand: '@results.x',
      cases: [{ uuid: `c${uuid}`, type: 'has_only_text', arguments: ['a'], category_uuid: 'k' }],
      categories: [
        { uuid: 'k', name: 'A', exit_uuid: 'a' },
        { uuid: 'd', name: 'Other', exit_uuid: 'b' },
      ],
      default_category_uuid: 'd',
    },
    exits: [
      { uuid: 'a', destination_uuid: to },
      { uuid: 'b', destination_uuid: to },
    ],
  });
  const empty = (uuid: string, to: string) => ({ uuid, exits: [{ uuid: 'e', destination_uuid: to }] });
  for (const nodes of [[split('1', '2'), split('2', '1')], [empty('1', '2'), empty('2', '1')], [empty('1', '1')], []]) {
    const { flows } = await convert(pro(proFlow(nodes)), 'rapidpro');
    assert.equal(listErrors(flows), []);
    await phoneFor(flows, 'f').dial();
  }
  const cases = [block('1', 'Core.Case', {}, '2'), block('2', 'Core.Case', {}, '1')];
  assert.equal(listErrors((await convert(floip(cases), 'floip')).flows), []);
});

test('flows that enter each other in a circle lose the entry that closes it, and it is told', async () => {
  const enter = (to: string) => [
    { uuid: 'n', actions: [{ uuid: 'a', type: 'enter_flow', flow: { uuid: to, name: to } }], exits: [] },
  ];
  const flows = ['p', 'q', 'r'].map((uuid, at) => proFlow(enter(['q', 'r', 'p'][at]!), { uuid, name: uuid }));
  const converted = await convert(pro(...flows), 'rapidpro');
  assert.equal(listErrors(converted.flows), []);
  assert.equal(
    converted.report.filter(({ what }) => what.startsWith('enter_flow')).map(({ flow, what }) => `${flow} ${what}`),
    ['r enter_flow p'],
  );
  const itself = await convert(pro(proFlow(enter('f'))), 'rapidpro');
  assert.equal(listErrors(itself.flows), []);
});

test('many ways to the same question do not make many screens', async () => {
  const forks = Array.from({ length: 24 }, (_, at) => [
    {
      uuid: `s${at}`,
      router: {
        type: 'switch',
        operand: '@contact.name',
        cases: [{ uuid: 'c', type: 'has_only_text', arguments: ['x'], category_uuid: 'k' }],
        categories: [
          { uuid: 'k', name: 'A', exit_uuid: 'l' },
          { uuid: 'd', name: 'B', exit_uuid: 'r' },
        ],
        default_category_uuid: 'd',
      },
      exits: [
        { uuid: 'l', destination_uuid: `l${at}` },
        { uuid: 'r', destination_uuid: `r${at}` },
      ],
    },
    say(`l${at}`, `Left ${at}`, `s${at + 1}`),
    say(`r${at}`, `Right ${at}`, `s${at + 1}`),
  ]).flat();
  const { flows } = await convert(pro(proFlow(forks)), 'rapidpro');
  assert.ok(Object.keys(flows[0]!.screens).length < 400, `${Object.keys(flows[0]!.screens).length}`);
  assert.equal(listErrors(flows), []);
});

test('names of prototypes, values of other kinds and expressions that nobody can read do no harm', async () => {
  const nodes = [
    {
      uuid: '__proto__',
      actions: [
        {
          uuid: 'constructor',
          type: 'send_msg',
          text: '@constructor.x @(constructor.constructor("x")) @results.__proto__ {{braces}} {{{ @(1 +',
        },
        { type: 'toString' },
        { type: 'set_run_result', name: '__proto__', value: '@results.constructor' },
        { type: 'set_contact_field', field: { key: 'constructor' }, value: 7 },
        {
          type: 'call_webhook',
          method: 'POST',
          url: 'https://x.example/@(',
          body: '{"a": @(json(results.a)), "b": [@results.b]}',
          headers: [1],
        },
        7,
        null,
      ],
      router: { type: 'switch', wait: { type: 'msg' }, cases: 5, categories: 'x', result_name: 'has own property' },
      exits: { a: 1 },
    },
  ];
  const { flows } = await convert(
    pro(proFlow(nodes, { localization: { __proto__: 1, fra: { constructor: { text: [1] } } } })),
    'rapidpro',
  );
  assert.equal(listErrors(flows), []);
  const blocks = [
    block(
      '1',
      'MobilePrimitives.SelectOneResponse',
      { prompt: 'Hi @contact.constructor', choices: { constructor: 'One', __proto__: 'Two' } },
      '2',
    ),
    block('2', 'MobilePrimitives.NumericResponse', { prompt: 5, validation_minimum: 9, validation_maximum: 1 }, '3'),
    block('3', 'constructor', {}, '4'),
    block('4', 'Core.Webhook', { url: 'https://x.example', method: 'DELETE' }, '5', '1'),
    block('5', 'ConsoleIO.Read', { format_string: '%d', destination_variables: ['constructor', 'b'] }, '1'),
  ];
  const other = await convert(floip(blocks), 'floip');
  assert.equal(listErrors(other.flows), []);
  await phoneFor(other.flows, 'f').dial();
});

test('metadata in the name of Twinline that is none of ours is refused, or counts for nothing', async () => {
  const forged = (screen: unknown) =>
    floip([
      { ...block('1', 'MobilePrimitives.Message', { prompt: 'Hi' }, null), vendor_metadata: { twinline: { screen } } },
    ]);
  const { flows } = await convert(forged({ text: { was: 'x', is: 5 }, type: 7 }), 'floip');
  assert.equal(flows[0]!.screens.b1, { type: 'end', text: 'Hi' });
  const { digest } = await import('../../../lib/flow/convert/floip/own.ts');
  assert.match(
    await refusal(forged({ text: { was: digest('Hi'), is: 5 } }), 'floip'),
    'Cannot make a sound flow of "f".',
  );
});

test('an end that is too long is shown in pages before it ends, and told', async () => {
  const long = `${'These words are many. '.repeat(20)}The very last ones.`;
  const { flows, report } = await convert(pro(proFlow([say('1', long)])), 'rapidpro');
  assert.equal(listErrors(flows), []);
  assert.ok(report.some(({ reason }) => reason.includes('it would be cut off. It is shown in pages')));
  const caller = phoneFor(flows, 'f');
  let text = await caller.dial();
  for (let page = 0; page < 5 && text.includes('98. More'); page++) text = await caller.say('98');
  assert.match(await caller.say('1'), /The very last ones\.$/);
  assert.ok(caller.ended);
});

test.run();
