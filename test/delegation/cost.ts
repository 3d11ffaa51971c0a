// What refusals of tokens may cost: so many checks of a signature on the same machine, at the same moment.

import { generateKeyPairSync, sign, verify } from 'node:crypto';
import * as assert from 'uvu/assert';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const PAYLOAD = Buffer.alloc(500, 7);
const SIGNATURE = sign(null, PAYLOAD, privateKey);
const BATCH = 20;

const AT_MOST_CHECKS = 80;
const TRIES = 10;
let oneCheckMs: number | undefined;

/** Fails when `work` takes the processor for more checks of a signature at each of several tries: the first ones are compiled. */
export async function assertCheap(what: string, work: () => Promise<unknown>): Promise<void> {
  // `npm run mutate` counts in every branch, which costs more than the work.
  if ('__stryker__' in globalThis) return void (await work());
  let best = Infinity;
  for (let tries = 0; tries < TRIES; tries++) {
    const ms = await cpuMs(work);
    oneCheckMs ??= await checkMs();
    best = Math.min(best, ms / oneCheckMs);
    if (best < AT_MOST_CHECKS) return;
    oneCheckMs = undefined;
  }
  assert.unreachable(`${what} took as long as ${best.toFixed(0)} checks of a signature at best`);
}

/** CPU milliseconds that `work` takes in this process. */
async function cpuMs(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** CPU milliseconds of one check of a signature of 500 bytes, the mean of a few. */
async function checkMs(): Promise<number> {
  const ms = await cpuMs(() => {
    for (let tries = 0; tries < BATCH; tries++) verify(null, PAYLOAD, publicKey, SIGNATURE);
  });
  return ms / BATCH;
}
