// What operators learn of turns and calls: a line of the log for each turn, counts by screen and service.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { TROUBLE_LIMITS } from '../../../server/telemetry/trouble.ts';
import { serviceCalls, turnWatch } from '../../../server/telemetry/turn-watch.ts';
import { until } from '../../support/until.ts';
import { DIAL, readMetric, withServer } from '../support/serve.ts';

const test = suite('what operators learn of turns');

const NAMES = { clock: new SimulatedClock(), alias: String, nameSession: String };
const TURN = {
  dialect: 'd',
  key: 'k',
  phoneNumber: '+260971230001',
  requestId: 'r',
  ms: 1,
  reply: 'continue',
} as const;

test('each turn is one line: who by another name, which version, from where to where, how long; screens are counted', () =>
  withServer({ env: { LOG_LEVEL: 'info' } }, async (server) => {
    const phoneNumber = '+260971230077';
    for (const text of ['', '2', '2*0', '2*0*0', '2*0*0*9'])
      await server.ussd({ ...DIAL, sessionId: 'lines', phoneNumber, text });
    const lines = server.logged.filter(({ turn }) => turn !== undefined);
    const [first, second] = lines as { [field: string]: unknown }[];
    assert.match(first!.turn as string, /^main@\d+$/);
    assert.equal(
      [first!.from, first!.to, first!.outcome, first!.dialect],
      [null, 'preMenu', 'continue', 'africastalking'],
    );
    assert.equal([second!.from, second!.to], ['preMenu', 'accountMenu']);
    assert.type(first!.ms, 'number');
    assert.type(first!.requestId, 'string');
    assert.is(first!.caller, second!.caller);
    assert.not.ok(JSON.stringify(server.logged).includes(phoneNumber.slice(1)));
    // The dial and each way back show the first screen.
    const flow = 'flow="main",screen="preMenu"';
    const [shown, answered] = [
      await readMetric(server, `twinline_screens_shown_total{${flow}}`),
      await readMetric(server, `twinline_screens_answered_total{${flow}}`),
    ];
    assert.equal(
      [shown, answered],
      [lines.filter(({ to }) => to === 'preMenu').length, lines.filter(({ from }) => from === 'preMenu').length],
    );
    await server.ussd({ ...DIAL, sessionId: 'lines', phoneNumber, text: '2*0*0*9' });
    assert.is(
      server.logged.filter(({ turn }) => turn !== undefined).length,
      lines.length,
      'a repeated request is no turn',
    );
    // What is stored is counted beside the answer.
    await until('a session to be counted', async () => (await readMetric(server, 'twinline_ussd_sessions')) === 1);
    assert.ok((await readMetric(server, 'nodejs_heap_size_used_bytes')) > 1e6);
    assert.match((await server.ask('/metrics')).text, /^twinline_build_info\{version="\d[^"]*",node="\d[^"]*"\} 1$/m);
  }));

test('screens beyond the most that are counted count as other, and without its level nothing is logged', () => {
  const lines: unknown[] = [];
  const log = { info: (line: unknown) => void lines.push(line), isLevelEnabled: () => false };
  const { note, metrics } = turnWatch({ ...NAMES, log: log as never });
  for (let number = 0; number < 2_010; number++)
    note({
      ...TURN,
      move: { flow: 'main', version: 1, from: undefined, to: `s${number}` },
    });
  const series = metrics().filter((line) => line.startsWith('twinline_screens_shown_total{'));
  assert.is(series.length, 2_001);
  assert.is(series.at(-1), 'twinline_screens_shown_total{flow="other",screen="other"} 10');
  assert.is(lines.length, 0);
});

test('the last turns of the last sessions that failed are kept, from before the failure on; refusals are no failures', () => {
  const log = { info: () => {}, isLevelEnabled: () => false };
  const { note, fail, trouble } = turnWatch({ ...NAMES, log: log as never });
  const turn = (key: string, screen: number) =>
    note({ ...TURN, key, move: { flow: 'main', version: 1, from: undefined, to: `s${screen}` } });
  const ways = () => trouble()[0]!.turns.map(({ to, reason }) => reason ?? to);
  for (let screen = 0; screen < 3; screen++) for (const key of ['bad', 'good']) turn(key, screen);
  note({ ...TURN, key: 'good', move: undefined, refused: 'unknown' });
  assert.equal(trouble(), []);
  note({ ...TURN, key: 'bad', move: undefined, failure: 'ERR_STORE' });
  assert.equal(ways(), ['s0', 's1', 's2', 'ERR_STORE']);
  for (let screen = 0; screen < 2 * TROUBLE_LIMITS.turns; screen++) turn('bad', screen);
  assert.equal(
    ways(),
    Array.from({ length: TROUBLE_LIMITS.turns }, (_, at) => `s${TROUBLE_LIMITS.turns + at}`),
  );
  for (let number = 0; number <= TROUBLE_LIMITS.sessions; number++) fail({ key: `k${number}`, reason: 'service s' });
  assert.is(trouble().length, TROUBLE_LIMITS.sessions);
  assert.is(trouble()[0]!.session, `k${TROUBLE_LIMITS.sessions}`);
  assert.not.ok(trouble().some(({ session }) => session === 'bad'));
  // Turns that are long ago are forgotten.
  turn('late', 0);
  for (let number = 0; number < TROUBLE_LIMITS.recent; number++) turn('good', 1);
  fail({ key: 'late', reason: 'service s' });
  assert.equal(trouble()[0]!.turns, []);
});

test('calls of services are counted by how they ended, with their time', async () => {
  const calls = serviceCalls();
  const { good, bad } = calls.watch({
    good: async () => 1,
    bad: async () => {
      throw new Error('no');
    },
  }) as Services & { good: Services[string]; bad: Services[string] };
  const stop = new AbortController();
  const call = { signal: stop.signal, idempotencyKey: 'k', session: { id: 's' } };
  assert.is(await good({}, call), 1);
  await bad({}, call).then(
    () => assert.unreachable(),
    () => {},
  );
  stop.abort();
  await good({}, call);
  const text = calls.metrics().join('\n');
  for (const [service, outcome] of [
    ['good', 'answered'],
    ['bad', 'failed'],
    ['good', 'late'],
  ])
    assert.ok(text.includes(`twinline_service_calls_total{service="${service}",outcome="${outcome}"} 1`), outcome);
  assert.match(text, /twinline_service_call_seconds_bucket\{service="good",le="0.001"\} \d/);
  assert.match(text, /twinline_service_call_seconds_count\{service="good"\} 2/);
});

test.run();
