// Routers of RapidPro as callers meet them: each test as goflow answers it, words of each language for its callers, and what is told of
// the ways that no caller can take.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { passesTest } from '../../../lib/flow/convert/excellent/tests.ts';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import vectors from '../../vectors/router-tests.json' with { type: 'json' };
import { convert, listErrors, phoneFor } from './support.ts';

const test = suite('convert routers');

const FACTS = vectors.facts as unknown as readonly (readonly [string, string, string[], boolean])[];

const say = (uuid: string, text: string, next?: string) => ({
  uuid,
  actions: [{ uuid: `a${uuid}`, type: 'send_msg', text }],
  exits: [{ uuid: `e${uuid}`, destination_uuid: next ?? null }],
});

interface Case {
  readonly type: string;
  readonly args: readonly string[];
  readonly name: string;
  readonly next: string;
}

/** A node that goes on by its cases; `asks` makes it wait for an answer, kept as this result. */
const route = (
  uuid: string,
  cases: readonly Case[],
  { asks, operand = '@input.text', other = 'no' }: Routing = {},
) => ({
  uuid,
  actions: [],
  router: {
    type: 'switch',
    operand,
    ...(asks !== undefined && { wait: { type: 'msg' }, result_name: asks }),
    cases: cases.map(({ type, args }, at) => ({
      uuid: `c${uuid}${at}`,
      type,
      arguments: args,
      category_uuid: `k${uuid}${at}`,
    })),
    categories: [...cases.map(({ name }) => name), 'Other'].map((name, at) => ({
      uuid: `k${uuid}${at}`,
      name,
      exit_uuid: `x${uuid}${at}`,
    })),
    default_category_uuid: `k${uuid}${cases.length}`,
  },
  exits: [...cases.map(({ next }) => next), other].map((next, at) => ({
    uuid: `x${uuid}${at}`,
    destination_uuid: next,
  })),
});
interface Routing {
  readonly asks?: string;
  readonly operand?: string;
  readonly other?: string;
}

const flow = (name: string, nodes: unknown[], more: object = {}) => ({
  uuid: `u${name}`,
  name,
  spec_version: '14.4.2',
  language: 'eng',
  type: 'messaging',
  localization: {},
  nodes,
  ...more,
});
const file = (flows: readonly object[], more: object = {}) => ({ version: '13', flows, ...more });

const yesNo = (type: string, args: readonly string[]) => [
  say('q', 'Say something.', 'w'),
  route('w', [{ type, args, name: 'Yes', next: 'yes' }], { asks: 'Answer' }),
  say('yes', 'Yes.'),
  say('no', 'No.'),
];

test('every test of a router says of an answer what goflow says', async () => {
  const { flows, report } = convert(file(FACTS.map(([type, , args], at) => flow(`f${at}`, yesNo(type, args)))));
  assert.equal(listErrors(flows), []);
  assert.is(flows.length, FACTS.length);
  for (const [at, [type, answer, args, holds]] of FACTS.entries()) {
    const shown = `${type} ${args} of ${answer}`;
    assert.is(passesTest(type, answer.trim(), args), holds, shown);
    const caller = phoneFor(flows, `f${at}`);
    await caller.dial();
    assert.is(await caller.say(answer), holds ? 'Yes.' : 'No.', shown);
  }
  const told = report.map(({ what }) => what).filter((what) => what.startsWith('has_'));
  assert.ok(
    told.every((what) => what.startsWith('has_number_')),
    told.join(),
  );
});

test('a test that flows cannot make is told, and its way is left out', () => {
  for (const type of vectors.other) {
    const { report } = convert(file([flow('f', yesNo(type, ['x']))]));
    assert.match(report.map(reportLine).join('\n'), new RegExp(`${type} x\\. It has no counterpart`));
  }
});

const COLOURS = [
  say('q', 'Colour?', 'w'),
  route(
    'w',
    [
      { type: 'has_any_word', args: ['r'], name: 'Red', next: 'split' },
      { type: 'has_any_word', args: ['b'], name: 'Blue', next: 'split' },
    ],
    { asks: 'Color', other: 'split' },
  ),
];

test('a category is looked for among the categories of a result, not among its answers', async () => {
  for (const operand of ['@results.color', '@(results.color)', '@run.results.color']) {
    const split = route('split', [{ type: 'has_category', args: ['Blue', 'Red'], name: 'Known', next: 'yes' }], {
      operand,
    });
    const { flows, report } = convert(
      file([flow('f', [...COLOURS, split, say('yes', 'Known.'), say('no', 'Other.')])]),
    );
    assert.equal(report, []);
    for (const [answer, said] of [
      ['r', 'Known.'],
      ['b', 'Known.'],
      ['Red', 'Other.'],
    ] as const) {
      const caller = phoneFor(flows, 'f');
      await caller.dial();
      assert.is(await caller.say(answer), said, `${operand} ${answer}`);
    }
  }
});

const ITALIAN = {
  localization: {
    ita: {
      aq: { text: ['Cane o gatto?'] },
      cw0: { arguments: ['cane c'] },
      cw1: { arguments: ['gatto g'] },
      kw0: { name: ['Cane'] },
    },
  },
};
const PETS = [
  say('q', 'Dog or cat?', 'w'),
  route(
    'w',
    [
      { type: 'has_any_word', args: ['dog d'], name: 'Dog', next: 'yes' },
      { type: 'has_any_word', args: ['cat c'], name: 'Cat', next: 'cat' },
    ],
    { asks: 'Pet' },
  ),
  say('yes', 'It is @results.pet.category_localized.'),
  say('cat', 'Cat it is.'),
  say('no', 'Neither.'),
];

test('the words and names of a language count for its callers only', async () => {
  const { flows, report } = convert(file([flow('f', PETS, ITALIAN)]));
  assert.equal(report, []);
  for (const [lang, answer, said] of [
    ['eng', 'c', 'Cat it is.'],
    ['eng', 'dog!', 'It is Dog.'],
    ['eng', 'cane', 'Neither.'],
    ['ita', 'c', 'It is Cane.'],
    ['ita', 'dog', 'Neither.'],
    ['ita', 'Gatto.', 'Cat it is.'],
  ] as const) {
    const caller = phoneFor(flows, 'f');
    await caller.dial({ lang });
    assert.is(await caller.say(answer), said, `${lang} ${answer}`);
  }
});

test('words that a menu tests beside its numbers choose its lines, those of no line choose without one, by language', async () => {
  const menu = [
    say('q', 'Colour?\n1. Red\n2. Blue', 'w'),
    route(
      'w',
      [
        { type: 'has_any_word', args: ['1 red crimson'], name: 'Red', next: 'red' },
        { type: 'has_any_word', args: ['2 blue red'], name: 'Blue', next: 'blue' },
        { type: 'has_only_phrase', args: ['not now'], name: 'Later', next: 'later' },
        { type: 'has_beginning', args: ['sto'], name: 'Stop', next: 'no' },
      ],
      { asks: 'Colour', other: 'q' },
    ),
    ...['red', 'blue', 'later', 'no'].map((word) => say(word, `It is ${word}: @results.colour.`)),
  ];
  const localization = { ita: { cw0: { arguments: ['1 rosso'] } } };
  const { flows, report } = convert(file([flow('f', menu, { localization })]));
  assert.equal(listErrors(flows), []);
  assert.equal(
    report.map(({ what }) => what),
    ['words', 'words sto'],
  );
  for (const [lang, answer, said] of [
    ['eng', '1', 'It is red: 1.'],
    ['eng', 'RED', 'It is red: 1.'],
    ['eng', 'Blue', 'It is blue: 2.'],
    ['eng', 'Not now', 'It is later: not now.'],
    ['ita', 'rosso', 'It is red: 1.'],
    ['ita', 'red', 'It is blue: 2.'],
    ['eng', 'rosso', 'Invalid choice.'],
    ['eng', 'stop', 'Invalid choice.'],
  ] as const) {
    const caller = phoneFor(flows, 'f');
    assert.ok(!(await caller.dial({ lang })).includes('3.'), 'no line for the words of no line');
    assert.is((await caller.say(answer)).split('\n')[0], said, `${lang} ${answer}`);
  }
});

test('a phone number is read as in the country that the test names', async () => {
  const asks = [
    say('q', 'Phone?', 'w'),
    route('w', [{ type: 'has_phone', args: ['RW'], name: 'Phone', next: 'yes' }], { asks: 'Phone' }),
    say('yes', 'Kept @results.phone'),
    say('no', 'No phone.', 'w'),
  ];
  const { flows, report } = convert(file([flow('f', asks)]));
  assert.match(report.map(reportLine).join('\n'), /^f w: has_phone\. The number has to be one of that country/);
  const caller = phoneFor(flows, 'f');
  await caller.dial();
  assert.match(await caller.say('123'), /^No phone\./);
  assert.is(await caller.say('0788 123 456'), 'Kept +250788123456');
});

test('ways that no caller can take, triggers and campaigns are told, and the time for an answer is kept', () => {
  const ends = { operand: '@child.status', other: 'no' };
  const nodes = [
    { ...say('q', 'x', 's'), actions: [{ uuid: 'a', type: 'enter_flow', flow: { uuid: 'uKid', name: 'Kid' } }] },
    route(
      's',
      [
        { type: 'has_only_text', args: ['completed'], name: 'Complete', next: 'yes' },
        { type: 'has_only_text', args: ['expired'], name: 'Expired', next: 'no' },
      ],
      ends,
    ),
    say('yes', 'Done.'),
    say('no', 'Too late.'),
  ];
  const more = {
    triggers: [{ trigger_type: 'K', keywords: ['fruit'], flow: { name: 'Boss' } }],
    campaigns: [{ name: 'Reminders', events: [{ offset: 3, unit: 'D', flow: { uuid: 'uBoss' } }] }],
  };
  const kid = flow('Kid', [say('k', 'Child.')]);
  const { flows, report } = convert(file([flow('Boss', nodes, { expire_after_minutes: 60 }), kid], more));
  assert.is(flows[0]!.limits?.session, '60m');
  const told = report.map(reportLine).join('\n');
  assert.match(told, /boss: trigger fruit\. A phone starts a flow by its service code/);
  assert.match(told, /boss: campaign Reminders, 3 D\. A phone menu calls nobody/);
  assert.match(
    told,
    /boss s: @child\.status\. It is always "completed" here, so these ways are left out: "Expired", "Other"\./,
  );
});

test('definitions 13 and 14 are read, in an export or alone; of others the true version is told', () => {
  const [nodes, form] = [yesNo('has_any_word', ['yes']), (version: string) => `RapidPro ${version}`];
  for (const spec_version of ['13.0.0', '13.6.1', '14.0.0', '14.4.2'])
    for (const document of [file([flow('f', nodes, { spec_version })]), flow('f', nodes, { spec_version })]) {
      const converted = convert(document);
      assert.is(converted.form, form(spec_version));
      assert.equal(
        converted.flows.map((one) => one.flow),
        ['f'],
      );
    }
  const mixed = file([flow('old', nodes, { spec_version: '11.12' }), flow('new', nodes)]);
  const { flows, report } = convert(mixed);
  assert.equal(
    flows.map((one) => one.flow),
    ['new'],
  );
  assert.match(
    report.map(reportLine).join('\n'),
    /^old: the whole flow\. Its flow "old" is of the definition version 11\.12/,
  );
});

test('quick replies of version 14 are options, too', async () => {
  const tapped = { ...say('q', 'Tea?', 'w') };
  const replies = [
    { type: 'text', text: 'Yes' },
    { type: 'text', text: 'No' },
  ];
  const asks = { ...tapped, actions: [{ ...tapped.actions[0], quick_replies: replies }] };
  const cases = [
    { type: 'has_only_phrase', args: ['yes'], name: 'Yes', next: 'yes' },
    { type: 'has_only_phrase', args: ['no'], name: 'No', next: 'no' },
  ];
  const { flows } = convert(
    file([flow('f', [asks, route('w', cases, { asks: 'Tea', other: 'w' }), say('yes', 'Tea.'), say('no', 'None.')])]),
  );
  assert.is(await phoneFor(flows, 'f').dial(), 'Tea?\n1. Yes\n2. No');
});

test('long messages stand on screens of their own, and a flow that cannot be made leaves the others', async () => {
  const long = (at: number) => `Advice ${at}: ${'keep calm. '.repeat(80)}`;
  const advice = [
    say('1', long(1), '2'),
    say('2', long(2), '3'),
    say('3', long(3), 'w'),
    ...yesNo('has_text', []).slice(1),
  ];
  const { flows } = convert(file([flow('Long', advice), flow('Small', [say('s', 'Hello')])]));
  assert.equal(
    flows.map((one) => one.flow),
    ['long', 'small'],
  );
  const shown = JSON.stringify(flows[0]);
  for (const at of [1, 2, 3]) assert.match(shown, long(at).trim());
  // More values at once than a screen may set.
  const many = Array.from({ length: 201 }, (_, at) => ({
    uuid: `a${at}`,
    type: 'set_run_result',
    name: `r${at}`,
    value: '1',
  }));
  const reads = say(
    't',
    many
      .map(({ name }) => `@results.${name}`)
      .slice(0, 5)
      .join(' '),
  );
  const huge = flow('Huge', [{ uuid: 'n', actions: many, exits: [{ uuid: 'x', destination_uuid: 't' }] }, reads]);
  const entering = flow('Boss', [
    { ...say('q', 'x', 'end'), actions: [{ uuid: 'a', type: 'enter_flow', flow: { uuid: 'uHuge', name: 'Huge' } }] },
    say('end', 'Done.'),
  ]);
  const { flows: kept, report } = convert(file([huge, entering]));
  assert.equal(
    kept.map((one) => one.flow),
    ['boss'],
  );
  assert.equal(listErrors(kept), []);
  const told = report.map(reportLine).join('\n');
  assert.match(told, /huge: the whole flow\. .*more than 200 entries.* The flow is left out\./);
  assert.is(await phoneFor(kept, 'boss').dial(), 'Done.');
});

test.run();
