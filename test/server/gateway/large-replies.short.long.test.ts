// Large replies as JSON in a thread: the same bytes as at once, one after the other, within time, memory and patience.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../../lib/errors.ts';
import { Stop } from '../../../lib/gateway/channel/channel.ts';
import { createJsonWriters, entityTag, type JsonForm, readDescriptorSet } from '../../../lib/gateway/index.ts';
import { type LargeOptions, type LargeReplies, largeReplies } from '../../../server/gateway/answers/large-replies.ts';
import { refusalOf } from '../../gateway/refusal.ts';
import { field, SHAPES, SHAPES_SET } from '../../gateway/shapes.ts';
import { chooseSize } from '../../support/size.ts';

const test = suite('large replies');
const { registry } = readDescriptorSet(SHAPES_SET);
const TYPE = 'shapes.Shape';
const SMALL = field(1, 'x');
const waiting = (deadlineMs = 60_000) => ({ deadlineMs, signal: new Stop() });
const order = (bytes: Uint8Array, only?: string) => ({ type: TYPE, only, bytes: new Uint8Array(bytes) });

/** Takes long to write; of `size` 9 MB, more than 48 MB of memory. */
const huge = (size = chooseSize({ short: 3_000_000, day: 9_000_000, whole: 9_000_000 })) =>
  SHAPES['a map of many']!(size);

async function withLarge(options: Partial<LargeOptions>, work: (large: LargeReplies) => Promise<void>): Promise<void> {
  const large = largeReplies({ base: registry, form: 'cosmos', ...options });
  try {
    await work(large);
  } finally {
    await large.close();
  }
}

for (const form of ['cosmos', 'proto3'] as const satisfies readonly JsonForm[])
  test(`the JSON is that of the writer, byte by byte, and so are its refusals: ${form}`, () =>
    withLarge({ form }, async (large) => {
      const writers = createJsonWriters({ registry, form });
      const type = registry.getMessage(TYPE)!;
      const bytesOf = chooseSize({ short: 5_000, day: 50_000, whole: 50_000 });
      for (const [name, shape] of Object.entries(SHAPES))
        for (const only of [undefined, 'text', 'counts']) {
          const bytes = shape(bytesOf);
          const written = large.write(order(bytes, only), waiting());
          try {
            const json = writers.findWriter(type, only)(bytes);
            const { json: found, tag } = await written;
            assert.ok(found.equals(json), `${name} ${only}`);
            assert.is(tag, entityTag(json));
          } catch (error) {
            const { code, reason, message } = error as TwinlineError;
            if (code === undefined) throw error;
            const found = await refusalOf(written);
            assert.equal([found.code, found.reason, found.message], [code, reason, message], name);
          }
        }
    }));

test('bytes that lie among those of others are copied, those in memory of their own are moved', () =>
  withLarge({}, async (large) => {
    const page = Buffer.alloc(100, SMALL);
    const inside = page.subarray(3, 6);
    await large.write({ type: TYPE, only: undefined, bytes: inside }, waiting());
    assert.is(inside.length, 3);
    const own = new Uint8Array(SMALL);
    const { json } = await large.write({ type: TYPE, only: undefined, bytes: own }, waiting());
    assert.equal([own.length, JSON.parse(json.toString()).text], [0, 'x']);
  }));

test('too many that wait are refused, and all that were taken are written', () =>
  withLarge({ most: 3 }, async (large) => {
    const taken = Array.from({ length: 4 }, () => large.write(order(SMALL), waiting()));
    const { code, retry } = await refusalOf(large.write(order(SMALL), waiting()));
    assert.equal([code, retry], ['ERR_BUSY', true]);
    for (const written of taken) assert.is(JSON.parse((await written).json.toString()).text, 'x');
    await large.write(order(SMALL), waiting());
  }));

test('so are those that are too large together', () =>
  withLarge({ mostBytes: 100_000 }, async (large) => {
    const bytes = SHAPES['a text of quotes']!(60_000);
    const first = large.write(order(bytes), waiting());
    assert.is((await refusalOf(large.write(order(bytes), waiting()))).code, 'ERR_BUSY');
    await first;
    await large.write(order(bytes), waiting());
  }));

test('one whose client left, or whose deadline passed, is not written, and the others are', () =>
  withLarge({}, async (large) => {
    const stop = new Stop();
    const first = large.write(order(SMALL), waiting());
    const left = large.write(order(SMALL), { deadlineMs: 60_000, signal: stop });
    const late = large.write(order(SMALL), waiting(1));
    const last = large.write(order(SMALL), waiting());
    stop.abort();
    assert.equal([(await refusalOf(left)).code, (await refusalOf(late)).code], ['ERR_TIMEOUT', 'ERR_TIMEOUT']);
    await Promise.all([first, last]);
    assert.is((await refusalOf(large.write(order(SMALL), { deadlineMs: 60_000, signal: stop }))).code, 'ERR_TIMEOUT');
  }));

test('one that takes too long is refused, and the next one is written by a new thread', () =>
  withLarge({ ms: 150 }, async (large) => {
    const slow = large.write(order(huge()), waiting());
    const after = large.write(order(SMALL), waiting()).catch((error: unknown) => error);
    const { code, reason, message } = await refusalOf(slow);
    assert.equal([code, reason], ['ERR_SERVICE', 'too-large']);
    assert.match(message, /more than 150 ms/);
    // The thread itself may take longer than that to start on a busy machine.
    const next = await after;
    if (next instanceof Error) assert.match(next.message, /more than 150 ms/);
  }));

test('one that takes too much memory is refused, and the next one is written', () =>
  withLarge({ memoryMb: 48, ms: 60_000 }, async (large) => {
    const { code, reason, message } = await refusalOf(large.write(order(huge(9_000_000)), waiting()));
    assert.equal([code, reason], ['ERR_SERVICE', 'too-large']);
    assert.match(message, /more than 48 MB/);
    assert.is(JSON.parse((await large.write(order(SMALL), waiting())).json.toString()).text, 'x');
  }));

test('what is not written when all is closed is refused, and so is what comes later', async () => {
  const large = largeReplies({ base: registry, form: 'cosmos' });
  const all = [1, 2].map(() => refusalOf(large.write(order(SMALL), waiting())));
  await large.close();
  for (const one of all) assert.is((await one).code, 'ERR_TIMEOUT');
  assert.is((await refusalOf(large.write(order(SMALL), waiting()))).code, 'ERR_TIMEOUT');
});

test.run();
