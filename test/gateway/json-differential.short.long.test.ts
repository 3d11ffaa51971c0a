// The writer against the library that passes the whole conformance suite: random types, random bytes, the same JSON.

import { fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters, type JsonForm } from '../../lib/gateway/index.ts';
import { chooseSize } from '../support/size.ts';
import { suite } from '../support/suites.ts';
import { cosmosJson } from './cosmos-json.ts';
import {
  type BytesOptions,
  type Random,
  randomBytes,
  randomFrom,
  randomSchema,
  type Schema,
} from './random-protobuf.ts';

const test = suite('json differential');

const MESSAGES_PER_SCHEMA = 50;
const SCHEMAS = chooseSize({ short: 40, day: 200, whole: 2_000 });
let lastRefusal = '';

function forSchemas(schemas: number, check: (schema: Schema, random: Random, seed: number) => void): void {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const property = fc.property(seeds, (seed) => {
    const random = randomFrom(seed);
    check(randomSchema(random), random, seed);
  });
  fc.assert(property, { numRuns: schemas, endOnFailure: true });
}

/** Form → the oracle, and what it cannot read. */
const ORACLES: {
  readonly [form in JsonForm]: { readonly json: typeof cosmosJson; readonly without: Partial<BytesOptions> };
} = {
  proto3: { json: (type, message, registry) => toJson(type, message, { registry }), without: {} },
  cosmos: { json: cosmosJson, without: { noEmptyBytes: true, utf8: true } },
};

for (const form of ['proto3', 'cosmos'] as const)
  test(`random messages in the form ${form}: the JSON of an oracle, or an error where it has one`, () => {
    const counts = { same: 0, refused: 0 };
    const { json, without } = ORACLES[form];
    forSchemas(SCHEMAS, ({ registry, messages }, random, seed) => {
      const writers = createJsonWriters({ registry, form });
      for (let left = MESSAGES_PER_SCHEMA; left > 0; left--) {
        const type = random.pick(messages);
        const bytes = randomBytes(type, { registry, random, ...without });
        const ours = outcome(() => JSON.parse(writers.findWriter(type)(bytes).toString('utf8')) as JsonValue);
        const theirs = outcome(() => json(type, fromBinary(type, bytes), registry));
        counts[ours === undefined ? 'refused' : 'same']++;
        // A Value that holds nothing: the library refuses it or takes it for null, by where it stands.
        if (theirs === undefined && /Value must have a value/.test(lastRefusal)) continue;
        // An Any of a type that nobody declares: the library refuses the whole message, and we tell its bytes.
        if (theirs === undefined && /is not in the type registry/.test(lastRefusal)) continue;
        assert.equal(ours, theirs, `seed ${seed}, ${type.typeName}, ${Buffer.from(bytes).toString('hex')}`);
      }
    });
    assert.ok(counts.same > counts.refused, `too few messages were readable: ${JSON.stringify(counts)}`);
  });

test('broken bytes: valid JSON or one of our errors, never anything else', () => {
  forSchemas(SCHEMAS / 4, ({ registry, messages }, random) => {
    for (const form of ['cosmos', 'proto3'] as const) {
      const writers = createJsonWriters({ registry, form, maxBytes: 1_000_000 });
      for (let left = 20; left > 0; left--) {
        const type = random.pick(messages);
        const bytes = Buffer.from(randomBytes(type, { registry, random }));
        for (let hits = random.int(4); hits > 0 && bytes.length > 0; hits--)
          bytes[random.int(bytes.length)] = random.int(256);
        const cut = bytes.subarray(0, random.int(bytes.length + 1));
        outcome(() => JSON.parse(writers.findWriter(type)(cut).toString('utf8')));
      }
    }
  });
});

test.run();

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
