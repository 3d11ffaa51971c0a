// Frames at random: whatever comes in whatever pieces, nothing throws, every stream ends once, and pieces change nothing.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { ERROR, FLAG, FRAME, SETTING } from '../../lib/gateway/http2/protocol.ts';
import { chooseSize } from '../support/size.ts';
import { hear, LAST } from './heard.ts';
import { answer, blockOf, END, HEAD, messageOf, rawFrame, rawNode } from './raw-node.ts';

const test = suite('http2 fuzz');
const id = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(1, 3, 5, 7) }, fc.constantFrom(0, 2, 9, 2 ** 31 - 1));
const flags = fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 9, 12, 13, 0x24), fc.nat(255));
const some = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const block = fc.constantFrom(
  HEAD,
  END,
  blockOf(':status', '103'),
  blockOf('x', 'y'),
  HEAD.subarray(0, 7),
  Buffer.from([0xbe]),
);
const number = fc.oneof(fc.nat(100_000), fc.constantFrom(0, 1, 2 ** 31 - 1)).map((value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
});
const setting = fc
  .tuple(fc.constantFrom(...Object.values(SETTING), 99), number)
  .map(([name, value]) => Buffer.concat([Buffer.from([0, name]), value]));

/** A frame that may be right. */
const likely = fc.oneof(
  fc.tuple(id, flags, block).map(([on, bits, bytes]) => rawFrame(FRAME.headers, bits, on, bytes)),
  fc
    .tuple(id, fc.constantFrom(0, FLAG.endStream), some)
    .map(([on, bits, bytes]) => rawFrame(FRAME.data, bits, on, messageOf(bytes))),
  fc.tuple(id, flags, some).map(([on, bits, bytes]) => rawFrame(FRAME.data, bits, on, bytes)),
  fc.tuple(id, flags, block).map(([on, bits, bytes]) => rawFrame(FRAME.continuation, bits, on, bytes)),
  fc.tuple(id, number).map(([on, more]) => rawFrame(FRAME.window, 0, on, more)),
  fc.tuple(id, number).map(([on, code]) => rawFrame(FRAME.reset, 0, on, code)),
  fc.array(setting, { maxLength: 3 }).map((all) => rawFrame(FRAME.settings, 0, 0, Buffer.concat(all))),
  fc.tuple(number, number).map(([last, code]) => rawFrame(FRAME.goaway, 0, 0, Buffer.concat([last, code]))),
  fc.constantFrom(1, 3, 5, 7).map(answer),
);
/** A frame of any kind. */
const odd = fc.tuple(fc.nat(12), flags, id, some).map(([type, bits, on, bytes]) => rawFrame(type, bits, on, bytes));

/** Frames, and where bytes of them are spoilt. */
const talk = fc
  .tuple(
    fc.array(fc.oneof({ weight: 6, arbitrary: likely }, odd), { maxLength: 25 }),
    fc.array(fc.tuple(fc.nat(10_000), fc.nat(255)), { maxLength: 2 }),
  )
  .map(([frames, spoilt]) => {
    const bytes = Buffer.concat(frames);
    for (const [at, value] of spoilt) if (at < bytes.length) bytes[at] = value;
    return bytes;
  });

const inPieces = (bytes: Buffer, size: (at: number) => number): Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Math.max(1, size(at));
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
};

test('every stream ends once, and the same whether bytes come alone or together', async () => {
  await fc.assert(
    fc.asyncProperty(talk, fc.infiniteStream(fc.nat(60)), async (bytes, sizes) => {
      const whole = await hear([bytes]);
      for (const events of whole.told) {
        assert.is(events.filter((event) => LAST.test(event)).length, 1, events.join(', '));
        assert.match(events.at(-1)!, LAST);
      }
      assert.equal(await hear(inPieces(bytes, () => 1)), whole);
      assert.equal(await hear(inPieces(bytes, () => sizes.next().value)), whole);
    }),
    { numRuns: chooseSize({ short: 60, day: 500, whole: 5_000 }) },
  );
});

test('a frame that is too long is refused with the last byte of its header', async () => {
  const header = Buffer.from([1, 0, 0, FRAME.settings, 0, 0, 0, 0, 0]);
  const refused = rawFrame(FRAME.goaway, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, ERROR.frameSize])).toString('hex');
  const inBytes = await hear(inPieces(header, () => 1));
  assert.ok(inBytes.sent.endsWith(refused));
  assert.equal(await hear([header]), inBytes);
});

test('every call ends with a status by its deadline', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(talk, { minLength: 1, maxLength: 3 }), async (talks) => {
      const node = await rawNode({ request: (peer, _id, nth) => peer.send(talks[nth % talks.length]!) });
      const channel = http2Channel({ upstream: `127.0.0.1:${node.port}`, backoffMs: 1, backoffMaxMs: 1 });
      const call = { path: '/t/T', deadlineMs: 40 };
      const streams = [1, 2].map(async () => {
        const stream = channel.stream({ ...call, requests: [Buffer.alloc(3)] });
        for await (const message of stream.messages) assert.ok(message.length < 100);
        return stream.end;
      });
      const calls = [1, 2].map(() => channel.unary({ ...call, request: Buffer.alloc(3) }));
      for (const { status } of await Promise.all([...streams, ...calls])) assert.type(status.code, 'number');
      await channel.close();
      await node.stop();
    }),
    { numRuns: chooseSize({ short: 10, day: 30, whole: 300 }) },
  );
});

test.run();
