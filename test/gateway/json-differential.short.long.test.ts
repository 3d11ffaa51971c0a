// The writer against the library that passes the whole conformance suite: random types, random bytes, the same JSON.

import { type DescMessage, type FileRegistry, fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters } from '../../lib/gateway/index.ts';
import { suite } from '../support/suites.ts';
import { cosmosJson } from './cosmos-json.ts';
import { randomBytes, randomFrom, randomSchema } from './random-protobuf.ts';

const test = suite('json differential');

let lastRefusal = '';
const MESSAGES_PER_SCHEMA = 50;
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

test('20,000 random messages in the proto3 form: the JSON of the library, or an error where it has one', () => {
  const counts = { same: 0, refused: 0 };
  fc.assert(
    fc.property(seeds, (seed) => {
      const random = randomFrom(seed);
      const { registry, messages } = randomSchema(random);
      const writers = createJsonWriters({ registry, form: 'proto3' });
      for (let left = MESSAGES_PER_SCHEMA; left > 0; left--) {
        const type = random.pick(messages);
        const bytes = randomBytes(type, { registry, random });
        const ours = outcome(() => JSON.parse(writers.findWriter(type)(bytes).toString('utf8')) as JsonValue);
        const theirs = outcome(() => toJson(type, fromBinary(type, bytes), { registry }));
        compare({ ours, theirs, what: `seed ${seed}, ${type.typeName}, ${Buffer.from(bytes).toString('hex')}` });
        counts[ours === undefined ? 'refused' : 'same']++;
      }
    }),
    { numRuns: 400, endOnFailure: true },
  );
  assert.ok(counts.same > 10_000, `too few messages were readable: ${JSON.stringify(counts)}`);
});

test('5,000 random messages in the Cosmos form: what a plain walk by its rules gives', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const random = randomFrom(seed);
      const { registry, messages } = randomSchema(random);
      const writers = createJsonWriters({ registry, form: 'cosmos' });
      for (let left = MESSAGES_PER_SCHEMA; left > 0; left--) {
        const type = random.pick(messages);
        const bytes = randomBytes(type, { registry, random, tidy: true });
        const ours = outcome(() => JSON.parse(writers.findWriter(type)(bytes).toString('utf8')) as JsonValue);
        const theirs = outcome(() => reference(type, { bytes, registry }));
        compare({ ours, theirs, what: `seed ${seed}, ${type.typeName}, ${Buffer.from(bytes).toString('hex')}` });
      }
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test('broken bytes: valid JSON or one of our errors, never anything else', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const random = randomFrom(seed);
      const { registry, messages } = randomSchema(random);
      for (const form of ['cosmos', 'proto3'] as const) {
        const writers = createJsonWriters({ registry, form, maxBytes: 1_000_000 });
        for (let left = 20; left > 0; left--) {
          const type = random.pick(messages);
          const bytes = Buffer.from(randomBytes(type, { registry, random }));
          for (let hits = random.int(4); hits > 0 && bytes.length > 0; hits--)
            bytes[random.int(bytes.length)] = random.int(256);
          outcome(() =>
            JSON.parse(
              writers
                .findWriter(type)(bytes.subarray(0, random.int(bytes.length + 1)))
                .toString('utf8'),
            ),
          );
        }
      }
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test.run();

function reference(type: DescMessage, { bytes, registry }: { bytes: Uint8Array; registry: FileRegistry }): JsonValue {
  return cosmosJson(type, fromBinary(type, bytes), registry);
}

// Undefined for a refusal. JSON that does not parse fails the test.
function outcome(work: () => JsonValue): JsonValue | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    lastRefusal = (error as Error).message;
    if (error instanceof TwinlineError)
      assert.ok(error.reason === 'unreadable' || error.reason === 'no-json', String(error));
    else if ((error as Error).stack?.includes('/lib/gateway/')) throw error;
    return undefined;
  }
}

// A Value that holds nothing: the library refuses it or takes it for null, by where it stands.
function compare({
  ours,
  theirs,
  what,
}: {
  ours: JsonValue | undefined;
  theirs: JsonValue | undefined;
  what: string;
}): void {
  if (theirs === undefined && /Value must have a value/.test(lastRefusal)) return;
  // An Any of a type that nobody declares: the library refuses the whole message, and we tell its bytes.
  if (theirs === undefined && /is not in the type registry/.test(lastRefusal)) return;
  assert.equal(ours, theirs, what);
}
