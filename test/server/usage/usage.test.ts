// What callers did in a flow: random turns on several instances, whose store fails now and then, against a plain count of the same
// turns; and the report of a server.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import { sharedNotes } from '../../../lib/store/shared-note.ts';
import type { SnapshotStore } from '../../../lib/store/store.ts';
import type { UssdTurn } from '../../../lib/ussd/service.ts';
import { HOUR_MS, STAY_SECONDS, USAGE_KEEP_MS, type UsageCounts, usageCounts } from '../../../server/usage/counts.ts';
import { readUsage, type UsageReport, usageCsv } from '../../../server/usage/report.ts';
import { numbersFrom } from '../../support/random.ts';
import { DIAL, withServer } from '../support/serve.ts';

const test = suite('usage');
const SEED = Number(process.env.TEST_SEED ?? 1);

function turnOf(from: string | undefined, to: string, more: object = {}): UssdTurn {
  const move = {
    flow: 'main',
    version: 1,
    from,
    to,
    language: 'en',
    ...(from !== undefined && { stayMs: 1_000 }),
    ...more,
  };
  const rest = {
    dialect: 'africastalking',
    key: 'ussd:africastalking:s1',
    phoneNumber: '+260971234567',
    requestId: 'r',
  };
  return { ...rest, ms: 1, reply: to === 'bye' ? 'end' : 'continue', move } as UssdTurn;
}

test('the counts of several instances, whose writes fail before or after they are stored, are those of all turns', async () => {
  const clock = new SimulatedClock();
  const next = numbersFrom(SEED);
  const below = (count: number) => Math.floor(next() * count);
  const store = memorySnapshots({ clock });
  // As a connection breaks: the write is stored or not, and nobody is told.
  const commit: SnapshotStore['commit'] = async (...args) => {
    const fate = below(4);
    if (fate === 0) throw new TwinlineError('ERR_STORE', 'broken before');
    const result = await store.commit(...args);
    if (fate === 1) throw new TwinlineError('ERR_STORE', 'broken after');
    return result;
  };
  const open = (shaky: SnapshotStore) =>
    usageCounts({ notes: sharedNotes({ store: shaky, clock, keepMs: USAGE_KEEP_MS }), clock, onProblem: () => {} });
  const instances = [1, 2, 3].map(() => open({ ...store, commit }));
  const SCREENS = ['welcome', 'prices', 'order', 'bye'];
  const expected = new Map<string, number>();
  for (let nth = 0; nth < 3_000; nth++) {
    const from = below(5) === 0 ? undefined : SCREENS[below(3)];
    const to = SCREENS[below(4)]!;
    instances[below(3)]!.note(turnOf(from, to, { version: 1 + below(2), stayMs: below(200) * 1_000 }));
    const name = `${from ?? null} ${to}`;
    expected.set(name, (expected.get(name) ?? 0) + 1);
    if (below(200) === 0) await instances[below(3)]!.flush();
    if (below(100) === 0) await clock.advance(HOUR_MS / 2);
  }
  const reader = open(store);
  for (const one of instances) for (let tries = 0; tries < 60; tries++) await one.flush();
  const { ways, screens, other } = await readUsage(reader, 'main', { days: 31, now: clock.now() });
  const counted = new Map<string, number>();
  for (const { from, to, turns } of ways) counted.set(`${from} ${to}`, (counted.get(`${from} ${to}`) ?? 0) + turns);
  assert.equal([...counted].sort(), [...expected].sort());
  assert.is(other, 0);
  for (const { screen, reached, left, ended, unanswered } of screens) {
    const sum = (isCounted: (from: string, to: string) => boolean) =>
      [...expected].reduce((total, [name, turns]) => {
        const [from, to] = name.split(' ') as [string, string];
        return total + (isCounted(from, to) ? turns : 0);
      }, 0);
    assert.is(
      reached,
      sum((from, to) => to === screen && from !== screen),
    );
    assert.is(
      left,
      sum((from, to) => from === screen && to !== screen),
    );
    assert.is(unanswered, Math.max(0, reached - left - ended));
  }
  await Promise.all([...instances, reader].map((one) => one.close()));
});

const withCounts = async (work: (usage: UsageCounts, clock: SimulatedClock) => Promise<void>) => {
  const clock = new SimulatedClock();
  const notes = sharedNotes({ store: memorySnapshots({ clock }), clock, keepMs: USAGE_KEEP_MS });
  const usage = usageCounts({ notes, clock, onProblem: (error) => assert.unreachable(String(error)) });
  await work(usage, clock);
  await usage.close();
};

test('the median is that of the answers; versions, languages and days are told apart', () =>
  withCounts(async (usage, clock) => {
    for (const seconds of [1, 2, 7, 50, 170]) usage.note(turnOf('welcome', 'prices', { stayMs: seconds * 1_000 }));
    usage.note(turnOf('welcome', 'prices', { version: 2, language: 'ny', stayMs: 100_000 }));
    const read = (query: object) => readUsage(usage, 'main', { days: 1, now: clock.now(), ...query });
    const medianOf = ({ screens }: UsageReport) => screens.find(({ screen }) => screen === 'welcome')?.medianSeconds;
    assert.is(
      medianOf(await read({ version: 1 })),
      STAY_SECONDS.find((bound) => bound >= 7),
    );
    assert.is(
      medianOf(await read({ language: 'ny' })),
      STAY_SECONDS.find((bound) => bound >= 100),
    );
    await clock.advance(24 * HOUR_MS);
    assert.equal((await read({})).ways, []);
    assert.is((await read({ days: 2 })).ways.length, 2);
  }));

test('ways beyond those that are counted each are counted together, and simulated phones not at all', () =>
  withCounts(async (usage, clock) => {
    const long = 'x'.repeat(60);
    for (let nth = 0; nth < 1_000; nth++) usage.note(turnOf(`${long}${nth}`, `${long}${nth + 1}`));
    for (let nth = 2_000; nth < 2_500; nth++) {
      usage.note(turnOf(`${long}${nth}`, `${long}${nth + 1}`));
      if (nth % 100 === 0) await usage.flush();
    }
    usage.note({ ...turnOf('welcome', 'prices'), key: 'ussd:simulated/africastalking:sim-1' });
    const { ways, other } = await readUsage(usage, 'main', { days: 1, now: clock.now() });
    assert.ok(ways.length <= 400, `${ways.length}`);
    assert.is(ways.reduce((sum, { turns }) => sum + turns, 0) + other, 1_500);
  }));

test('a field of the table is never a formula, and is quoted where it has to be', () => {
  const way = { version: 1, language: 'en', from: '=cmd|1', to: 'a,"b"', outcome: 'continue', turns: 3 } as const;
  const report = { flow: 'main', since: '', until: '', ways: [way], screens: [], other: 0 };
  assert.is(usageCsv(report), 'version,language,from,to,outcome,turns\r\n1,en,\'=cmd|1,"a,""b""",continue,3\r\n');
});

test('a server tells what its callers did, as JSON and as a table, without a caller in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'usage-'));
  const flow = {
    flow: 'main',
    version: 3,
    langs: ['en', 'fr'],
    start: 'hello',
    screens: {
      hello: {
        type: 'menu',
        text: { en: 'Hello', fr: 'Bonjour' },
        options: [{ id: 'go', text: { en: 'Go', fr: 'Va' }, to: 'bye' }],
      },
      bye: { type: 'end', text: { en: 'Bye', fr: 'Adieu' } },
    },
  };
  writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
  return withServer({ env: { MENUS_DIR: folder } }, async ({ ask, ussd: dial }) => {
    for (const sessionId of ['a', 'b', 'c']) await dial({ ...DIAL, sessionId });
    await dial({ ...DIAL, sessionId: 'a', text: '1' });
    await dial({ ...DIAL, sessionId: 'b', text: '9' });
    const report = JSON.parse((await ask('/api/ussd/usage/main')).text) as UsageReport;
    const ways = report.ways.map(({ from, to, outcome, turns, version, language }) => [
      from,
      to,
      outcome,
      turns,
      version,
      language,
    ]);
    assert.equal(ways.sort(), [
      [null, 'hello', 'continue', 3, 3, 'en'],
      ['hello', 'bye', 'end', 1, 3, 'en'],
      ['hello', 'hello', 'continue', 1, 3, 'en'],
    ]);
    const hello = report.screens.find(({ screen }) => screen === 'hello')!;
    assert.equal([hello.reached, hello.again, hello.left, hello.unanswered, hello.medianSeconds], [3, 1, 1, 2, 1]);
    const table = await ask('/api/ussd/usage/main?format=csv&days=7');
    assert.match(table.text, /^version,language,from,to,outcome,turns\r\n3,en,,hello,continue,3\r\n/);
    assert.not.match(JSON.stringify(report) + table.text, /\d{6}/);
    assert.is((await ask('/api/ussd/usage/main?days=32')).status, 400);
    assert.equal(JSON.parse((await ask('/api/ussd/usage/nobody')).text).ways, []);
  }).finally(() => rmSync(folder, { recursive: true }));
});

test.run();
