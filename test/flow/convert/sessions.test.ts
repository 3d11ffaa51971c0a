// Sessions of other programs become tests that pass: their answers as keys of the menus, what webhooks answered, and what cannot be told.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { runFlowTests } from '../../../lib/flow/testing/run.ts';
import { convert, readFixture } from './support.ts';

const test = suite('convert sessions');

const pro = JSON.parse(readFixture('mkulima.rapidpro.json'));
const floip = JSON.parse(readFixture('clinic.floip.json'));
const [main] = pro.flows;
const message = (text: string) => ({ type: 'msg', msg: { text } });

async function passes({ flows, tests }: Awaited<ReturnType<typeof convert>>): Promise<string[]> {
  const all = new Map(flows.map((flow) => [flow.flow, flow]));
  const failures: string[] = [];
  for (const file of tests) {
    const report = await runFlowTests(compileFlow(all.get(file.flow)!, { flows: all }), file);
    for (const one of report.tests) failures.push(...one.failures.map((failure) => failure.message));
  }
  return failures;
}

test('a test of goflow: its messages are typed, messages that wait are gone past, its mocks answer', async () => {
  const session = {
    trigger: { type: 'manual', flow: { uuid: main.uuid, name: main.name } },
    resumes: [message('1'), message('maize'), message('yes')],
    http_mocks: { 'https://prices.example.org/today': [{ status: 200, body: '{"price": 30}' }] },
  };
  const converted = await convert(pro, 'rapidpro', session);
  assert.equal(await passes(converted), []);
  const [{ steps, services }] = converted.tests[0]!.tests as [(typeof converted.tests)[0]['tests'][0]];
  assert.equal(
    steps.map((step) => step.in),
    ['', '1', 'maize', '1', '1'],
  );
  assert.match(steps[2]!.text!, 'MAIZE is 30 shillings; ten bags are 300.');
  assert.is(steps.at(-1)!.end, true);
  assert.equal(services, { 'http.get': [{ return: { status: 200, body: { price: 30 } } }] });
});

test('a session of RapidPro: the events of its runs, and a webhook that failed', async () => {
  const session = {
    runs: [
      {
        flow: { uuid: main.uuid },
        events: [
          { type: 'msg_created', msg: { text: 'Mkulima line' } },
          { type: 'msg_received', msg: { text: 'Market Price' } },
          { type: 'msg_received', msg: { text: 'beans' } },
          { type: 'webhook_called', status: 'response_error', status_code: 503, response: 'HTTP/1.1 503\r\n\r\n{}' },
        ],
      },
    ],
  };
  const converted = await convert({ ...pro, sessions: [session] }, 'rapidpro');
  assert.equal(await passes(converted), []);
  const { steps } = converted.tests[0]!.tests[0]!;
  assert.equal(
    steps.map((step) => step.in),
    ['', '1', 'beans'],
  );
  assert.is(steps.at(-1)!.text, 'Prices are not to be had now.');
});

test('a context of FLOIP carries its flows and its interactions; names of choices are their keys', async () => {
  const [clinic] = floip.flows;
  const id = (name: string) => clinic.blocks.find((block: { name: string }) => block.name === name).uuid;
  const interaction = (name: string, value: unknown) => ({ flow_id: clinic.uuid, block_id: id(name), value });
  const context = {
    ...floip,
    interactions: [interaction('topic', 'visit'), interaction('visit_name', 'Ama'), interaction('booked', null)],
  };
  const converted = await convert(context, 'floip');
  assert.equal(await passes(converted), []);
  const { steps } = converted.tests[0]!.tests[0]!;
  assert.equal(
    steps.map((step) => step.in),
    ['', '2', 'Ama', '1'],
  );
  const told = converted.report.map(reportLine).filter((line) => line.includes('session'));
  assert.equal(told, [
    'village_clinic: session 1 webhook. The session does not say what 1 calls were answered; the test answers {}.',
  ]);
});

test('answers behind the end, and sessions of other flows, are told', async () => {
  const sessions = [
    { trigger: { flow: { uuid: main.uuid } }, resumes: [message('4'), message('hello?')] },
    { trigger: { flow: { uuid: 'elsewhere' } }, resumes: [message('1')] },
  ];
  const { report, tests } = await convert(pro, 'rapidpro', sessions);
  assert.is(tests[0]!.tests.length, 1);
  const told = report.map(reportLine).filter((line) => line.includes('session'));
  assert.equal(told, [
    'mkulima_line: session 1 answer 2. The conversation has ended before it.',
    'elsewhere: session 2. Its flow is not in the file; no test is made of it.',
  ]);
});

test('a file without a session is refused', async () => {
  const error = await convert(pro, 'rapidpro', { hello: 1 }).then(
    () => undefined,
    (one: Error) => one,
  );
  assert.match(error!.message, 'Cannot convert sessions.json: it has no sessions.');
});

test.run();
