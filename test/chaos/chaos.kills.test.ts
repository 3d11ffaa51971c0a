// Real instances on real stores, killed under callers: nothing lost, doubled or mixed up; and a broken store is found out.
// More turns: `npm run chaos`.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import { skipped } from '../support/skip.ts';
import type { Lack } from './broken.ts';
import { type ChaosOptions, chaos, type Outcome } from './chaos.ts';
import { leave } from './documents.ts';
import { type GroundOptions, openGround } from './ground.ts';
import { breachesOf, SCENARIOS } from './scenarios.ts';
import { BREACHES, type Breach } from './tally.ts';

const test = suite('chaos');

const STALL_MAX_MS = 30_000;
/** Instances on all grounds but the first: each takes most of a second of the machine to start. */
const FEW = 2;
const DATABASE = `chaos-test-${process.pid}`;
/** Callers who leave the machine some time: two scenarios run at a time, beside whatever else does. */
const CALM = { callers: 10, thinkMs: 30 };

/** Grounds, and on each one scenario after the other, with turns enough for its faults. The others: `npm run chaos`. */
const GROUNDS: readonly { readonly [id: string]: number }[] = [
  { calm: 80, emptied: 220, rolling: 120, instances: 120 },
  { always: 120 },
];

interface Broken extends Partial<ChaosOptions> {
  readonly lack: Lack;
  readonly turns: number;
  /** At least one of them. */
  readonly found: readonly Breach[];
}

// A gateway that does not wait for an instance that stands still, so that the next turn meets the last one's late write.
const IMPATIENT = { turns: 250, timeoutMs: 300, mix: ['counting'] } as const;
const BROKEN: { readonly [sentence: string]: Broken } = {
  'commits that stand still break nothing': { lack: 'nothing', found: [], ...IMPATIENT },
  'late writes that are not refused are found': {
    lack: 'compare-and-set',
    found: ['lost', 'mismatched'],
    ...IMPATIENT,
  },
  'copies that get the answer of others are found': { lack: 'kept-answer', found: ['mismatched'], turns: 60 },
  'calls that are not announced are found, by a ledger that knows no keys': {
    ...{ lack: 'intent', found: ['doubled'], mix: ['buying'], turns: 220 },
  },
};

const servers: MongoServer[] = [];
const outcomes = new Map<string, Promise<Outcome>>();
const ends: Promise<void>[] = [];

test.before(async () => {
  servers.push(await startMongo());
  // The first ground's is killed, which must not be that of others.
  servers.push(process.env.MONGODB_URL ? servers[0]! : await startMongo());
  begin();
});

test.after(async () => {
  await Promise.all(ends);
  for (const server of new Set(servers)) await leave(server, DATABASE);
});

interface Job {
  readonly ground: GroundOptions;
  readonly runs: Readonly<Record<string, ChaosOptions>>;
}

// Much of their time they wait for votes and starts, so two are done at a time.
function begin(): void {
  const [own, mongo] = servers as [MongoServer, MongoServer];
  const common = { mongo, database: DATABASE };
  const jobs = GROUNDS.map((turns, at): Job => {
    const ids = Object.keys(turns);
    const ground = { ...common, store: SCENARIOS[ids[0]!]!.store, ...(at ? { size: FEW } : { mongo: own }) };
    const runOf = (id: string) => ({ ...CALM, scenario: SCENARIOS[id]!, turns: turns[id]! });
    return { ground, runs: Object.fromEntries(ids.map((id) => [id, runOf(id)])) };
  });
  const brokenRuns = Object.entries(BROKEN).map(([sentence, { found: _, ...run }]) => {
    return [sentence, { ...CALM, scenario: SCENARIOS.calm!, ...run }] as const;
  });
  const ledger = { knowsKeys: false };
  jobs.push({
    ground: { ...common, store: 'one', main: 'test/chaos/broken.ts', size: FEW, ledger },
    runs: Object.fromEntries(brokenRuns),
  });
  const [first, ...others] = jobs;
  let after = Promise.resolve();
  for (const job of others) after = done(job, after);
  ends.push(after, done(first!, Promise.resolve()));
}

/** Never rejects: each outcome does, where it is asked for. */
async function done({ ground: options, runs }: Job, after: Promise<void>): Promise<void> {
  const opened = after.then(() => openGround(options));
  let last: Promise<unknown> = opened;
  for (const [name, run] of Object.entries(runs)) {
    const before = last;
    const outcome = opened.then(async (ground) => {
      await before.catch(() => {});
      return chaos(ground, run);
    });
    outcome.catch(() => {});
    outcomes.set(name, outcome);
    last = outcome;
  }
  await last.catch(() => {});
  await opened.then((ground) => ground.close()).catch(() => {});
}

for (const turns of GROUNDS)
  for (const id of Object.keys(turns)) {
    const scenario = SCENARIOS[id]!;
    test(scenario.name, async () => {
      if (id === 'documents' && !servers[0]?.restart) skipped('MONGODB_URL names a server that is not ours to kill');
      const { tally, breaches, logged } = await outcomes.get(id)!;
      const told = JSON.stringify(tally);
      assert.is(breachesOf(scenario, tally), 0, [told, ...breaches, ...logged].join('\n'));
      assert.ok(tally.turns >= turns[id]! && tally.duplicates > turns[id]! / 2, told);
      assert.is(tally.faults > 0, scenario.fault !== undefined, told);
      assert.ok(tally.accounts > 0, `no account was opened: ${told}`);
      assert.ok(tally.stallMs < STALL_MAX_MS, told);
    });
  }

for (const [sentence, { found }] of Object.entries(BROKEN))
  test(sentence, async () => {
    const { tally, breaches } = await outcomes.get(sentence)!;
    const seen = BREACHES.filter((name) => tally[name] > 0);
    if (found.length)
      assert.ok(
        found.some((name) => seen.includes(name)),
        JSON.stringify(tally),
      );
    else assert.equal(seen, [], breaches.join('\n'));
  });

test.run();
