// Whatever bytes a parser or the door of sockets is given: an outcome that is known, soon, nothing uncaught, no secret. In short;
// more: `npm run fuzz -- --packets 1000000`.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseSize, isShort } from '../support/size.ts';
import { fuzzPackets, type KeptPacket, problemOf, type Reader } from './packets.ts';
import { READERS } from './readers.ts';
import { openSocketReader, type SocketReader } from './socket-reader.ts';

const test = suite('random packets');
const KEPT = new URL('packets/', import.meta.url);
const PACKETS = chooseSize({ short: 1_000, day: 2_000, whole: 8_000 });

let sockets: SocketReader;
let readers: Readonly<Record<string, Reader>>;

test.before(async () => {
  sockets = await openSocketReader();
  const all = Object.entries<Reader>({ ...READERS, socket: sockets.reader });
  // In short only what never ends is too slow: time is measured where the machine does little else.
  readers = Object.fromEntries(
    all.map(([name, one]) => [name, isShort ? { ...one, mostMs: Number.MAX_SAFE_INTEGER } : one]),
  );
});

test.after(() => sockets.close());

test(`about ${PACKETS} spoilt packets: every reader ends each of them as it should`, async () => {
  const { findings, outcomes } = await fuzzPackets(readers, { packets: PACKETS, seed: 7 });
  assert.equal(findings, []);
  // A reader with one outcome would turn all packets away before it reads them, or nothing at all.
  for (const [name, seen] of outcomes) assert.ok(seen.size > 1, `${name}: ${[...seen]}`);
});

test('what is kept of packets that broke a promise, or might, does so no more', async () => {
  for (const file of readdirSync(KEPT)) {
    const { reader, base64 } = JSON.parse(readFileSync(new URL(file, KEPT), 'utf8')) as KeptPacket;
    assert.is(await problemOf(readers[reader]!, Buffer.from(base64, 'base64')), undefined, file);
  }
});

test.run();
