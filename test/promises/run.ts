// `npm run promises [-- words]`: runs the proof of each promise and prints what came out, at the whole size
// of each (test/support/size.ts). Exit code 1 when one does not hold.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { PROMISES, type Promised } from './promises.ts';

/** What became of a test file: `✓ store/lmdb.test.ts  41 passed  4.9 s`. */
const FILE = /^([✓✘-]) (\S+)\.test\.ts {2}(.+)$/;

const words = process.argv.slice(2);
const isChosen = ({ promise, proofs }: Promised) =>
  words.length === 0 || words.some((word) => [promise, ...proofs].some((text) => text.includes(word)));
const rooms = Object.entries(PROMISES)
  .map(([room, all]) => [room, all.filter(isChosen)] as const)
  .filter(([, rows]) => rows.length > 0);
const files = [...new Set(rooms.flatMap(([, rows]) => rows.flatMap(({ proofs }) => proofs)))];
const outcomes = new Map<string, { readonly holds: boolean; readonly figure: string }>();

if (!files.length) {
  console.error(`No promise has ${words.join(' or ')} in its words or its proofs.`);
  process.exitCode = 2;
} else {
  await runProofs();
  printTable();
}

/** Runs the files one after the other; what a test prints is the figure of its file. */
async function runProofs(): Promise<void> {
  const args = ['--import', 'tsx', 'test/run.ts', '--jobs', '1', ...files.map((file) => `${file}.test.ts`)];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TEST_SIZE: 'whole', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const begun = performance.now();
  let printed: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [, mark, file, counts] = FILE.exec(line) ?? [];
    if (file === undefined) {
      if (/^\S.*\d/.test(line) && !line.startsWith('{')) printed.push(line);
      continue;
    }
    outcomes.set(file, { holds: mark === '✓', figure: [counts!, ...printed].join('; ') });
    printed = [];
    const seconds = Math.round((performance.now() - begun) / 1_000);
    console.error(`${mark} ${file} (${outcomes.size} of ${files.length}, ${seconds} s)`);
  }
}

function printTable(): void {
  const day = new Date().toISOString().slice(0, 10);
  console.log(
    `${day}, Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores\n`,
  );
  let broken = 0;
  for (const [room, rows] of rooms) {
    console.log(`${room}`);
    for (const { promise, proofs } of rows) {
      const holds = proofs.every((file) => outcomes.get(file)?.holds);
      if (!holds) broken++;
      console.log(`  ${holds ? '✓' : '✘'} ${promise}`);
      for (const file of proofs) console.log(`      ${file}: ${outcomes.get(file)?.figure ?? 'did not run'}`);
    }
  }
  const all = rooms.reduce((sum, [, rows]) => sum + rows.length, 0);
  console.log(`\n${all - broken} of ${all} promises hold`);
  if (broken) process.exitCode = 1;
}
