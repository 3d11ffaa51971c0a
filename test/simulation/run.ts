// `npm run simulate`: the engine in simulated worlds, one for each seed; a table of what it went through.
//
//   --seeds <n>     how many, default 1000000        --set <name=value,…>  options that are not left to the seed
//   --seed <n>      the first, default 1             --store <name>        the store, default simulated
//   --trace         tells all of the first seed      --processes <n>       default: one for each processor

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { clear, count, show } from '../support/command-line.ts';
import { describeFailure, lineOf } from './failure.ts';
import { simulate } from './many.ts';
import { readChanges } from './options.ts';
import { type Stretch, type Sum, simulateInPool } from './pool.ts';
import { setupOf } from './setup.ts';
import { table } from './tally.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    set: { type: 'string', default: '' },
    store: { type: 'string', default: 'simulated' },
    trace: { type: 'boolean', default: false },
    processes: { type: 'string', default: String(availableParallelism()) },
  },
});
const SHOWN_MAX = 3;

const whole: Stretch = {
  from: count('seed', values.seed),
  count: count('seeds', values.seeds),
  store: values.store,
  changes: readChanges(values.set),
};
const setup = setupOf(whole.store);
if (values.trace) await tell();
const start = performance.now();
const sum = await simulateInPool(whole, {
  processes: count('processes', values.processes),
  onProgress: progress,
});
clear();
for (const seed of sum.failed.slice(0, SHOWN_MAX))
  console.log(`${await describeFailure({ seed, store: whole.store, changes: whole.changes })}\n`);
const seconds = (performance.now() - start) / 1000;
console.log(table(sum.tally));
const { seeds } = sum.tally;
console.log(
  `\n${seeds.toLocaleString('en')} seeds in ${seconds.toFixed(1)} s, ${Math.round(seeds / seconds)} a second; traces ${sum.hash.toString(16)}`,
);
if (sum.failed.length)
  console.log(pc.red(`${sum.failed.length} seeds break a promise: ${sum.failed.slice(0, 20).join(' ')}`));
process.exitCode = sum.failed.length ? 1 : 0;

async function tell(): Promise<void> {
  const changes = { ...setup.changes, ...whole.changes };
  const { trace, options } = await simulate(whole.from, { ...setup, changes, keepsTrace: true });
  console.log(JSON.stringify(options));
  for (const { session, text } of trace) console.log(lineOf(session, text));
}

function progress({ tally, failed }: Sum): void {
  const rate = (tally.seeds / (performance.now() - start)) * 1000;
  const left = Math.round((whole.count - tally.seeds) / rate);
  const words = `${tally.seeds.toLocaleString('en')} of ${whole.count.toLocaleString('en')} seeds, ${Math.round(rate)} a second, ${left} s left, ${failed.length} failed`;
  show(words);
}
