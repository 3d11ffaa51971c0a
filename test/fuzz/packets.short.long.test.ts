// Whatever bytes a parser or the door of sockets is given: an outcome that is known, soon, nothing uncaught, no secret. In short;
// more: `npm run fuzz -- --packets 1000000`.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fuzzPackets, type KeptPacket, problemOf, type Reader } from './packets.ts';
import { READERS } from './readers.ts';
import { openSocketReader } from './socket-reader.ts';

const test = suite('random packets');
const KEPT = new URL('packets/', import.meta.url);
const PACKETS = 4_000;

test(`about ${PACKETS} spoilt packets: every reader ends each of them as it should`, async () => {
  const sockets = await openSocketReader();
  try {
    const { findings, outcomes } = await fuzzPackets(
      { ...READERS, socket: sockets.reader },
      { packets: PACKETS, seed: 7 },
    );
    assert.equal(findings, []);
    // A reader with one outcome would turn all packets away before it reads them, or nothing at all.
    for (const [name, seen] of outcomes) assert.ok(seen.size > 1, `${name}: ${[...seen]}`);
  } finally {
    await sockets.close();
  }
});

test('what is kept of packets that broke a promise, or might, does so no more', async () => {
  const sockets = await openSocketReader();
  const readers: Readonly<Record<string, Reader>> = { ...READERS, socket: sockets.reader };
  try {
    for (const file of readdirSync(KEPT)) {
      const { reader, base64 } = JSON.parse(readFileSync(new URL(file, KEPT), 'utf8')) as KeptPacket;
      assert.is(await problemOf(readers[reader]!, Buffer.from(base64, 'base64')), undefined, file);
    }
  } finally {
    await sockets.close();
  }
});

test('an error, a rejection and a packet that takes too long are findings, made small', async () => {
  const reader = (read: Reader['read']): Reader => ({
    seeds: [Buffer.from('good')],
    pieces: ['bad'],
    mostMs: 10,
    read,
  });
  const stall = () => {
    const begun = process.cpuUsage();
    while (process.cpuUsage(begun).user < 80_000);
    return 'late';
  };
  const hurt = (packet: Buffer) => {
    if (packet.includes('bad')) throw new TypeError('x of undefined');
    return 'fine';
  };
  const { findings } = await fuzzPackets(
    {
      fine: reader(() => 'fine'),
      throws: reader(hurt),
      rejects: reader(async (packet) => hurt(packet)),
      stalls: reader(stall),
    },
    { packets: 2_000, seed: 7 },
  );
  assert.equal(
    findings.map((one) => one.reader),
    ['throws', 'rejects', 'stalls'],
  );
  assert.match(findings[0]!.problem, 'x of undefined');
  assert.is(Buffer.from(findings[0]!.base64, 'base64').length <= 7, true);
  assert.match(findings[2]!.problem, /it took \d+ ms/);
});

test.run();
