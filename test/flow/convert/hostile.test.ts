// Files that nobody exported: broken, deep, large, of other versions, in circles. Each ends with a clear error, or with flows that lint
// accepts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FILE_BYTES_MAX, NODES_MAX } from '../../../lib/flow/convert/source.ts';
import { convert, listErrors, phoneFor } from './support.ts';

const test = suite('convert hostile files');

function refusal(source: unknown): string {
  try {
    convert(source);
    return 'nothing was refused';
  } catch (error) {
    return (error as Error).message;
  }
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
test('what is no JSON, no such file, of another version or without a flow says so', () => {
  const cases: [unknown, string][] = [
    ['{"flows": [', 'Cannot convert given.json: line 1, column 12: The file ends, and the [ of line 1'],
    ['', 'Cannot convert given.json: line 1, column 1: The file is empty.'],
    ['[1]', 'Cannot convert given.json: it holds no JSON object.'],
    [{}, 'Cannot convert given.json: it is no file of RapidPro or TextIt.'],
    [
      pro(proFlow([], { spec_version: '11.12' })),
      'its flow "F" is of the definition version 11.12, and only 13 and 14 can be read.',
    ],
    [
      { ...pro({ name: 'Old', action_sets: [], rule_sets: [], metadata: {} }), version: 8 },
      'its flow "Old" is of the legacy definition 8, from before 2020',
    ],
  ];
  for (const [source, words] of cases) assert.match(refusal(source), words);
});

test('too deep, too large and too many nodes are refused', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  assert.match(refusal(deep), 'it nests 5000 levels deep, and 128 is the most.');
  assert.match(refusal(`"${'x'.repeat(FILE_BYTES_MAX)}"`), `and ${FILE_BYTES_MAX} is the most.`);
  const nodes = Array.from({ length: NODES_MAX + 1 }, () => ({}));
  assert.match(refusal(pro(proFlow(nodes))), `it has more than ${NODES_MAX} nodes.`);
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
    convert(PLACES[place]!(text));
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
  const { flows } = convert(pro(proFlow([say('1', 'One', '2'), say('2', 'Two', '1')])));
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
    const { flows } = convert(pro(proFlow(nodes)));
    assert.equal(listErrors(flows), []);
    await phoneFor(flows, 'f').dial();
  }
});

test('flows that enter each other in a circle lose the entry that closes it, and it is told', async () => {
  const enter = (to: string) => [
    { uuid: 'n', actions: [{ uuid: 'a', type: 'enter_flow', flow: { uuid: to, name: to } }], exits: [] },
  ];
  const flows = ['p', 'q', 'r'].map((uuid, at) => proFlow(enter(['q', 'r', 'p'][at]!), { uuid, name: uuid }));
  const converted = convert(pro(...flows));
  assert.equal(listErrors(converted.flows), []);
  assert.equal(
    converted.report.filter(({ what }) => what.startsWith('enter_flow')).map(({ flow, what }) => `${flow} ${what}`),
    ['r enter_flow p'],
  );
  const itself = convert(pro(proFlow(enter('f'))));
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
  const { flows } = convert(pro(proFlow(forks)));
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
  const { flows } = convert(
    pro(proFlow(nodes, { localization: { __proto__: 1, fra: { constructor: { text: [1] } } } })),
  );
  assert.equal(listErrors(flows), []);
});

test('an end that is too long is shown in pages before it ends, and told', async () => {
  const long = `${'These words are many. '.repeat(20)}The very last ones.`;
  const { flows, report } = convert(pro(proFlow([say('1', long)])));
  assert.equal(listErrors(flows), []);
  assert.ok(report.some(({ reason }) => reason.includes('it would be cut off. It is shown in pages')));
  const caller = phoneFor(flows, 'f');
  let text = await caller.dial();
  for (let page = 0; page < 5 && text.includes('98. More'); page++) text = await caller.say('98');
  assert.match(await caller.say('1'), /The very last ones\.$/);
  assert.ok(caller.ended);
});

test.run();
