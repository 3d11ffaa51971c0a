// `npm run fuzz`: random requests to every route of a server with all doors; whatever breaks a promise is kept in corpus/.
//
//   --requests <n>  how many, default 50000      --seed <n>     default: from the clock
//   --minutes <n>   ends it after so long
//   --packets <n>   in place of requests: spoilt packets to each parser and to sockets; findings are kept in packets/

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { clear, count, show } from '../support/command-line.ts';
import { asCurl, type Finding, fuzz } from './fuzz.ts';
import { fuzzPackets } from './packets.ts';
import { READERS } from './readers.ts';
import { openSocketReader } from './socket-reader.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '50000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    minutes: { type: 'string', default: '1000' },
    packets: { type: 'string' },
  },
});

const requests = count('requests', values.requests);
const seed = count('seed', values.seed);
const endMs = count('minutes', values.minutes) * 60_000;
const uncaught: unknown[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error) => void uncaught.push(error));

const start = performance.now();
if (values.packets !== undefined) process.exit(await runPackets(count('packets', values.packets)));
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

/** The exit code of a run with packets. */
async function runPackets(packets: number): Promise<number> {
  const sockets = await openSocketReader();
  const onPacket = (sent: number, reader: string) => {
    const spentMs = performance.now() - start;
    const words = `${reader}: ${sent.toLocaleString('en')} packets so far, ${Math.round((sent / spentMs) * 1000)} a second`;
    show(words);
  };
  const readers = { ...READERS, socket: sockets.reader };
  const { sent, findings, outcomes } = await fuzzPackets(readers, { packets, seed, onPacket });
  await sockets.close();
  clear();
  for (const { problem, ...kept } of findings) {
    console.log([pc.red(problem), keep('packets', kept), ''].join('\n'));
  }
  for (const error of uncaught) console.log(pc.red(`uncaught: ${error instanceof Error ? error.stack : error}`));
  const bad = findings.length + uncaught.length;
  const kinds = [...outcomes.values()].reduce((sum, seen) => sum + seen.size, 0);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `${bad ? pc.red(`${bad} broken promises`) : 'no broken promise'}: ${sent.toLocaleString('en')} packets to ${outcomes.size} readers in ${seconds} s, ${kinds} kinds of outcomes, ${findings.length} findings, ${uncaught.length} uncaught errors, seed ${seed}`,
  );
  return bad ? 1 : 0;
}

/** Writes it into a folder of the corpus; its name there. */
function keep(folder: string, kept: object): string {
  const text = `${JSON.stringify(kept, null, 2)}\n`;
  const file = `${folder}/${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`;
  writeFileSync(new URL(file, import.meta.url), text);
  return file;
}

function onRequest(done: number, found: number): boolean {
  const spentMs = performance.now() - start;
  const rate = (done / spentMs) * 1000;
  show(
    `${done.toLocaleString('en')} of ${requests.toLocaleString('en')} requests, ${Math.round(rate)} a second, ${Math.round((requests - done) / rate)} s left, ${found} findings`,
  );
  return spentMs < endMs && uncaught.length === 0;
}

function onFinding({ request, problems }: Finding): void {
  clear();
  console.log([pc.red(problems.join('\n')), asCurl(request).slice(0, 2_000), keep('corpus', request), ''].join('\n'));
}
