// `npm run test:chance -- [words] [--suite <names>] [--times N]`: runs the tests on a machine that is busy with something else, again and
// again, and lists every test that was not green each time. Exit code 1 when there is one.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

/** Leaves a test about a quarter of a core beside a busy loop of ordinary priority. */
const NICE = 5;
const FAILURE = /^✘ failed: (.+)$/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '5' }, suite: { type: 'string' }, seed: { type: 'string' } },
});
const times = Number(values.times);
const options = [
  ...(values.suite ? ['--suite', values.suite] : []),
  ...(values.seed ? ['--seed', values.seed] : []),
  // Files beside each other, also when words choose them.
  ...['--jobs', String(availableParallelism() + 1)],
];
const failures = new Map<string, number>();

const loops = Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }));
for (let nth = 1; nth <= times; nth++) {
  const { failed, last } = await runOnce();
  for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
  console.log(`run ${nth} of ${times}: ${last}`);
}
await Promise.all(loops.map((loop) => loop.terminate()));

for (const [name, count] of failures) console.log(`✘ ${count} of ${times} runs: ${name}`);
console.log(failures.size ? `${failures.size} tests fail by chance` : `every test was green in each of ${times} runs`);
process.exit(failures.size ? 1 : 0);

/** One run: the names of the tests that failed, and the last line. */
async function runOnce(): Promise<{ readonly failed: ReadonlySet<string>; readonly last: string }> {
  const run = fileURLToPath(new URL('run.ts', import.meta.url));
  const args = ['-n', String(NICE), process.execPath, '--import', 'tsx', run, ...options, ...positionals];
  const child = spawn('nice', args, { env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = new Set<string>();
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    const [, name] = FAILURE.exec(line) ?? [];
    if (name) {
      failed.add(name);
      console.log(line);
    }
  }
  // A run without a last line of its own is a failure by itself.
  if (!/^[1-9]\d* passed, \d+ failed/.test(last)) failed.add(`the run ended with "${last}"`);
  return { failed, last };
}
