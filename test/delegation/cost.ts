// What refusals of tokens may cost: so many checks of a signature on the same machine, at the same moment.

import { generateKeyPairSync, sign, verify } from 'node:crypto';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const PAYLOAD = Buffer.alloc(500, 7);
const SIGNATURE = sign(null, PAYLOAD, privateKey);
const BATCH = 20;

/** CPU milliseconds that `work` takes in this process. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** CPU milliseconds of one check of a signature of 500 bytes, the mean of a few. */
export async function checkMs(): Promise<number> {
  const ms = await cpuMs(() => {
    for (let tries = 0; tries < BATCH; tries++) verify(null, PAYLOAD, publicKey, SIGNATURE);
  });
  return ms / BATCH;
}
