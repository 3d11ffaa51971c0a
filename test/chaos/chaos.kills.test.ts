// Real instances on real stores, killed under callers: nothing lost, doubled or mixed up; and a broken store is found out.
// More turns: `npm run chaos`.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import type { Lack } from './broken.ts';
import { type ChaosOptions, chaos } from './chaos.ts';
import { leave } from './documents.ts';
import { type Ground, openGround } from './ground.ts';
import { breachesOf, SCENARIOS } from './scenarios.ts';
import type { Breach } from './tally.ts';

/** Whole servers with deadlines of their own, which a busy machine makes them miss. */
export const runs = 'alone';

const test = suite('chaos');

const DATABASE = `chaos-test-${process.pid}`;
const SEED = Number(process.env.TEST_SEED ?? 1);
/** Callers who leave the machine some time; one of the first five buys something. */
const CALM = { callers: 6, thinkMs: 40, seed: SEED } as const;
/** Each instance takes seconds of the machine to start. */
const FEW = 2;

/** Scenario → turns enough for its faults. All on one ground, one after the other. The others: `npm run chaos`. */
const TURNS = { calm: 60, emptied: 200, rolling: 60, instances: 60, always: 150 } as const;

/** A server whose store lacks something; goes on until one of its breaches is seen. */
interface Broken extends Pick<ChaosOptions, 'mix'> {
  readonly lack: Lack;
  readonly finds: Breach;
}

const BROKEN: { readonly [sentence: string]: Broken } = {
  'copies that get the answer of others are found': { lack: 'kept-answer', finds: 'mismatched' },
  'calls that are not announced are found, by a ledger that knows no keys': {
    ...{ lack: 'intent', finds: 'doubled', mix: ['buying'] },
  },
};

let mongo: MongoServer;
let ground: Ground | undefined;

test.before(async () => {
  mongo = await startMongo();
});

test.after(async () => {
  await ground?.close();
  await leave(mongo, DATABASE);
});

for (const [id, turns] of Object.entries(TURNS)) {
  const scenario = SCENARIOS[id]!;
  test(scenario.name, async () => {
    ground ??= await openGround({ store: 'always', size: FEW, mongo, database: DATABASE });
    const isOver = ({ turns: taken }: { turns: number }) => taken >= turns;
    const { tally, breaches, logged } = await chaos(ground, { ...CALM, scenario, isOver });
    const told = [JSON.stringify(tally), ...breaches, ...logged].join('\n');
    assert.is(breachesOf(scenario, tally), 0, told);
    assert.ok(tally.turns >= turns && tally.duplicates > 0, told);
    assert.is(tally.faults > 0, scenario.fault !== undefined, told);
    if (!scenario.allows.length) assert.ok(tally.accounts > 0, `no account was opened: ${told}`);
  });
}

test('what a store lacks is found out', async () => {
  await ground?.close();
  ground = await openGround({
    ...{ store: 'one', main: 'test/chaos/broken.ts', size: FEW, mongo, database: DATABASE },
    ledger: { knowsKeys: false },
  });
  for (const [sentence, { finds, ...run }] of Object.entries(BROKEN)) {
    const isOver = (tally: Readonly<Record<Breach, number>>) => tally[finds] > 0;
    const { tally } = await chaos(ground, { ...CALM, ...run, scenario: SCENARIOS.calm!, isOver });
    assert.ok(tally[finds] > 0, sentence);
  }
});

test.run();
