// Days and times belong to callers: to the time zone of the flow, of the caller or of the setting, at the time of the turn.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileExpression } from '../../lib/flow/expression/expression.ts';
import { compileTemplate } from '../../lib/flow/expression/template.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileAccept } from '../../lib/flow/run/accept.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseRecording, replayDialogue } from '../../lib/flow/testing/replay.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';

const test = suite('days');
const DAY_MS = 86_400_000;

// The last moment of the older offset before the clocks change, found by halving.
function findChange(wall: (ms: number) => number, from: number, to: number): number | undefined {
  const offset = (ms: number) => wall(ms) - ms;
  if (offset(from) === offset(to)) return undefined;
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === offset(from)) low = middle;
    else high = middle;
  }
  return low;
}

test('today, dates and times are those of Intl in every time zone, also where clocks change', () => {
  const random = fc.sample(fc.integer({ min: 0, max: Date.UTC(2040, 0) }), 418 * 3);
  for (const [at, zone] of Intl.supportedValuesOf('timeZone').entries()) {
    const oracle = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    const wall = (ms: number) =>
      Date.parse(`${oracle.format(Math.floor(ms / 1000) * 1000).replace(' ', 'T')}Z`) + (ms % 1000);
    const year = Date.UTC(2026, 0);
    const change = findChange(wall, year, year + 180 * DAY_MS);
    const near = change === undefined ? [] : [change, change + 1, change + 3_600_000, change - 3_600_000];
    let now = 0;
    const calendar = { now: () => now, timezone: zone };
    const [today, time] = ['today()', 'timeOf(now())'].map((source) => compileExpression(source, calendar));
    const text = compileTemplate('{{ms|date:iso}} {{ms|time}} {{iso|date:iso}} {{iso|time}}', calendar);
    const own = compileTemplate('{{ms|date:iso}} {{ms|time}}');
    for (now of [...random.slice(at * 3, at * 3 + 3), ...near]) {
      const [day, clock] = [oracle.format(now).slice(0, 10), oracle.format(now).slice(11, 16)];
      const scope = { ms: now, iso: new Date(now).toISOString() };
      const words = `${zone} at ${scope.iso}`;
      assert.equal([today!.evaluate({}), time!.evaluate({})], [day, clock], words);
      assert.is(text.render(scope, 'en'), `${day} ${clock} ${day} ${clock}`, words);
      assert.is(own.render({ ...scope, timezone: zone }, 'en'), `${day} ${clock}`, words);
      for (const rule of [{ min: 'today' }, { max: 'today' }, { min: 'today', max: 'today' }]) {
        const { check } = compileAccept({ date: { ...rule, format: 'YYYY-MM-DD' } });
        assert.equal(check(day, now, { lang: 'en', zone }), { ok: true, value: day }, words);
      }
    }
  }
});

test('days are counted on the calendar, and texts without a zone are taken as they are written', () => {
  const day = fc.date({ min: new Date('0001-01-01T00:00Z'), max: new Date('9999-12-31T00:00Z'), noInvalidDate: true });
  const value = (source: string, scope = {}, timezone?: string) =>
    compileExpression(source, { now: () => 0, timezone }).evaluate(scope);
  fc.assert(
    fc.property(day, day, (one, other) => {
      const [a, b] = [one, other].map((date) => date.toISOString().slice(0, 10));
      const days = Math.round((Date.parse(b!) - Date.parse(a!)) / DAY_MS);
      assert.is(value('daysBetween(a, b)', { a, b }), days);
      assert.is(value('addDays(a, n)', { a, n: days }), b);
    }),
  );
  const late = '2026-12-01T22:30:00Z';
  assert.is(value('daysBetween(late, day)', { late, day: '2026-12-02' }), 1);
  assert.is(value('daysBetween(late, day)', { late, day: '2026-12-02' }, 'Africa/Nairobi'), 0);
  assert.is(value('addDays(null, 1)'), null);
  assert.is(value("timeOf('2026-12-01')"), null);
  assert.is(value("timeOf('2026-12-01T25:00')"), null);
  for (const source of [
    "addDays('soon', 1)",
    "addDays('2026-01-01', 0.5)",
    "addDays('9999-12-31', 1)",
    "daysBetween(true, '2026-01-01')",
  ])
    assert.throws(() => value(source), /Expression .*column 1/, source);
  const written = compileTemplate('{{d|date}} {{d|time}}');
  assert.is(written.render({ d: '2026-03-01T00:30:00+03:00' }, 'en'), '01/03/2026 00:30');
  assert.is(written.render({ d: '2026-03-01T00:30:00+03:00', timezone: 'UTC' }, 'en'), '28/02/2026 21:30');
  assert.is(written.render({ d: '2026-03-01 00:30', timezone: 'Asia/Tokyo' }, 'en'), '01/03/2026 00:30');
});

const VISIT: Flow = {
  flow: 'visit',
  version: 1,
  start: 'ask',
  timezone: 'Africa/Nairobi',
  vars: { day: { type: 'string' }, timezone: { type: 'string' } },
  screens: {
    ask: {
      type: 'input',
      text: 'Day of the visit?',
      accept: { date: { min: 'today' } },
      error: 'Not before {{timezone}}.',
      save: 'day',
      to: 'done',
    },
    done: { type: 'end', text: '{{day|date}}, in {{day}}', output: { day: '=day', today: '=today()' } },
  },
};
const CALLER: Flow = {
  flow: 'caller',
  version: 1,
  start: 'visit',
  timezone: 'America/New_York',
  vars: { visit: { type: 'object' } },
  screens: {
    visit: { type: 'flow', flow: 'visit', save: 'visit', done: 'bye' },
    bye: { type: 'end', text: '{{visit.today}}' },
  },
};

test('a test has the time that it names; a called flow the zone of its caller, the variable `timezone` before all', async () => {
  const flows = new Map([['visit', VISIT]]);
  const now = '2026-12-01T22:30:00Z';
  const refused = { in: '01122026', screen: 'ask' };
  const late = { in: '02122026', screen: 'done' };
  const cases = [
    { name: 'in Nairobi', now, steps: [{ in: '' }, refused, late] },
    { name: 'with an offset', now: '2026-12-02T01:30:00+03:00', steps: [{ in: '' }, refused, late] },
    { name: 'of the caller', now, given: { timezone: 'UTC' }, steps: [{ in: '' }, { ...late, in: '01122026' }] },
    { name: 'not one', now, given: { timezone: 'Mars' }, steps: [{ in: '' }, refused, late] },
    { name: 'always the same', steps: [{ in: '' }, { ...refused, in: '31122025' }, { ...late, in: '01012026' }] },
  ];
  const own = await runFlowTests(compileFlow(VISIT), { flow: 'visit', tests: cases });
  assert.equal(
    own.tests.flatMap(({ name, failures }) => failures.map((one) => `${name}: ${failureText(one)}`)),
    [],
  );
  const steps = [{ in: '' }, { in: '01122026', text: '2026-12-01' }];
  const called = await runFlowTests(compileFlow(CALLER, { flows }), {
    flow: 'caller',
    tests: [{ name: 'called', now, steps }],
  });
  assert.equal(
    called.tests.flatMap(({ failures }) => failures.map(failureText)),
    [],
  );
  assert.throws(() => compileFlow({ ...VISIT, timezone: 'Africa/Nairobo' }), /no time zone "Africa\/Nairobo"/);
  assert.throws(
    () => compileFlow(CALLER, { flows, timezone: 'x' }) && compileFlow({ ...CALLER, timezone: 'x' }, { flows }),
    'x',
  );
});

test('a replay has the time of its recording', async () => {
  const line = (turn: number, at: string, more: object) =>
    JSON.stringify({
      ...{ session: 'a', turn, flow: 'visit', version: 1, end: false, calls: [], at: Date.parse(at) },
      ...more,
    });
  const text = [
    line(1, '2026-12-01T20:59:00Z', { in: '', text: 'Day of the visit?' }),
    line(2, '2026-12-01T21:01:00Z', { in: '01122026', text: 'Not before .\nDay of the visit?' }),
  ].join('\n');
  const [dialogue] = parseRecording(text, 'recording');
  assert.equal(
    (await replayDialogue(compileFlow(VISIT), dialogue!)).map(({ outcome }) => outcome),
    ['same', 'same'],
  );
});

test.run();
