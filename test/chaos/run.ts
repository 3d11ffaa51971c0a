// `npm run chaos`: real instances and real stores, killed while thousands of turns are taken; a table of what came of it.
//
//   --turns <n>          of each scenario, default 2000      --callers <n>  at the same time, default 24
//   --scenario <id,…>    default all: see scenarios.ts               --seed <n>     default 1

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { clear, count, show, timeLeft } from '../support/command-line.ts';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import { chaos } from './chaos.ts';
import { leave } from './documents.ts';
import { openGround } from './ground.ts';
import { breachesOf, SCENARIOS, type Scenario } from './scenarios.ts';
import { CAPTION, type Tally, table } from './tally.ts';

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '2000' },
    callers: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    scenario: { type: 'string', default: Object.keys(SCENARIOS).join() },
  },
});

const turns = count('turns', values.turns);
const callers = count('callers', values.callers);
const seed = count('seed', values.seed);
const chosen = values.scenario.split(',').map((id) => {
  const scenario = Object.hasOwn(SCENARIOS, id) ? SCENARIOS[id]! : undefined;
  if (!scenario) throw new Error(`--scenario knows ${Object.keys(SCENARIOS).join(', ')}, but not "${id}".`);
  return scenario;
});
const DATABASE = `chaos-${process.pid}`;
const rows: { name: string; tally: Tally }[] = [];
let failed = 0;

console.log(`${availableParallelism()} cores, Node ${process.versions.node}`);
for (const scenario of chosen) {
  const mongo = await startMongo();
  const { name } = scenario;
  try {
    if (scenario === SCENARIOS.documents && !mongo.restart)
      console.log(`${name}: left out, MONGODB_URL is not ours to kill`);
    else failed += await take(scenario, mongo);
  } catch (error) {
    // One that cannot be run must not cost the others' numbers.
    console.log(`${name}: ${error instanceof Error ? error.stack : error}`);
    failed++;
  } finally {
    await leave(mongo, DATABASE);
  }
}
console.log(`\n${table(rows)}\n\n${CAPTION}`);
if (failed) console.log(pc.red(`${failed} broken promises`));
process.exitCode = failed ? 1 : 0;

/** The number of broken promises. */
async function take(scenario: Scenario, mongo: MongoServer): Promise<number> {
  const { name } = scenario;
  const start = performance.now();
  const onProgress = (tally: Tally) => progress(name, { tally, start });
  const ground = await openGround({ store: scenario.store, mongo, database: DATABASE });
  const { tally, breaches, logged } = await chaos(ground, {
    ...{ scenario, callers, seed, onProgress },
    isOver: (tally) => tally.turns >= turns,
  }).finally(ground.close);
  clear();
  rows.push({ name, tally });
  if (breaches.length) console.log([name, ...breaches, ...logged].join('\n  '));
  console.log(pc.dim(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`));
  return breachesOf(scenario, tally);
}

function progress(name: string, { tally, start }: { tally: Tally; start: number }): void {
  const rate = (tally.turns / (performance.now() - start)) * 1000;
  const words = `${name}: ${tally.turns.toLocaleString('en')} of ${turns.toLocaleString('en')} turns, ${Math.round(rate)} a second, ${tally.faults} faults${timeLeft({ done: tally.turns, total: turns, start })}`;
  show(words);
}
