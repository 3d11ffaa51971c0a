// `npm run fuzz`: random requests to every route of a server with all doors; whatever breaks a promise is kept in corpus/.
//
//   --requests <n>  how many, default 50000      --seed <n>     default: from the clock
//   --minutes <n>   ends it after so long

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { clear, count, isShown, show } from '../support/command-line.ts';
import { asCurl, type Finding, fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '50000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    minutes: { type: 'string', default: '1000' },
  },
});
const TELL_MS = isShown ? 500 : 60_000;

const requests = count('requests', values.requests);
const seed = count('seed', values.seed);
const endMs = count('minutes', values.minutes) * 60_000;
const uncaught: unknown[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error) => void uncaught.push(error));

const start = performance.now();
let toldMs = 0;
const { sent, findings, answers } = await fuzz({ requests, seed, onRequest, onFinding }).catch((error) => {
  console.error(error);
  process.exit(2);
});
clear();
for (const error of uncaught) console.log(pc.red(`uncaught: ${error instanceof Error ? error.stack : error}`));
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage();
const bad = findings.length + uncaught.length;
console.log(
  `${bad ? pc.red(`${bad} broken promises`) : 'no broken promise'}: ${sent.toLocaleString('en')} requests in ${seconds.toFixed(0)} s (${((user + system) / 1e6).toFixed(0)} s of CPU), ${answers.size} kinds of answers, ${findings.length} findings, ${uncaught.length} uncaught errors, seed ${seed}`,
);
process.exit(bad ? 1 : 0);

function onRequest(done: number, found: number): boolean {
  const spentMs = performance.now() - start;
  if (spentMs - toldMs > TELL_MS) {
    toldMs = spentMs;
    const rate = (done / spentMs) * 1000;
    const words = `${done.toLocaleString('en')} of ${requests.toLocaleString('en')} requests, ${Math.round(rate)} a second, ${Math.round((requests - done) / rate)} s left, ${found} findings`;
    if (isShown) show(words);
    else console.log(words);
  }
  return spentMs < endMs && uncaught.length === 0;
}

function onFinding({ request, problems }: Finding): void {
  clear();
  const text = `${JSON.stringify(request, null, 2)}\n`;
  const file = `${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`;
  writeFileSync(new URL(`corpus/${file}`, import.meta.url), text);
  console.log([pc.red(problems.join('\n')), asCurl(request).slice(0, 2_000), `corpus/${file}`, ''].join('\n'));
}
