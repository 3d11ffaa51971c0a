// Real instances on real stores, killed under callers: nothing lost, doubled or mixed up. More turns: `npm run chaos`.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import { chaos } from './chaos.ts';
import { leave } from './documents.ts';
import { type Ground, openGround } from './ground.ts';
import { breachesOf, SCENARIOS } from './scenarios.ts';

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

let mongo: MongoServer;
let ground: Ground | undefined;

test.before(async () => {
  mongo = await startMongo();
});

test.after(async () => {
  await ground?.close();
  await leave(mongo, DATABASE);
});

test.after(() => assert.ok((ground?.officials.least() ?? 1) > 0, 'no deed of some kind was acknowledged'));

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

test.run();
