// `npm run restarts`: the restart loop for longer. `--cycles <n>`: processes to kill, default 1000; `--seed <n>`, default 1.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clear, count, show } from '../support/command-line.ts';
import { type Restarts, restartLoop, wordsOf } from './loop.ts';

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const cycles = count('cycles', values.cycles);
const seed = count('seed', values.seed);
const start = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'twinline-restarts-'));

function progress(so: Restarts): void {
  const rate = (so.cycles / (performance.now() - start)) * 1000;
  const left = Math.max(0, Math.round((cycles - so.cycles) / rate));
  show(`${so.cycles} of ${cycles} cycles, ${rate.toFixed(1)} a second, ${left} s left`);
}

try {
  const so = await restartLoop({ folder, cycles, seed, onRound: progress });
  clear();
  console.log(`${wordsOf(so)} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
