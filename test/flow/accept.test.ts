// What input screens accept: the value that is saved, and which rules are refused.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { compileAccept } from '../../lib/flow/run/accept.ts';
import { DATE_FORMATS } from '../../lib/flow/run/date-rule.ts';
import { ID_CHECKS } from '../../lib/flow/run/id-checks.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import vectors from '../vectors/answers.json' with { type: 'json' };

const test = suite('accept');
const NOW = Date.UTC(2026, 10, 20, 12);

/** The saved value, or undefined when the text is refused. */
function saved(rule: JsonObject, text: string, now = NOW): Json | undefined {
  const result = compileAccept(rule).check(text, now);
  return result.ok ? result.value : undefined;
}

function table(rule: JsonObject, accepted: { [text: string]: Json }, refused: readonly string[]): void {
  const shown = JSON.stringify(rule);
  for (const [text, value] of Object.entries(accepted)) assert.is(saved(rule, text), value, `${shown} on ${text}`);
  for (const text of refused) assert.is(saved(rule, text), undefined, `${shown} on ${JSON.stringify(text)}`);
}

type Rows = readonly (readonly [rule: JsonObject, accepted: { [text: string]: Json }, refused: readonly string[]])[];

test('each rule, alone or with others, saves what fits it in its one form, and refuses the rest', () => {
  for (const row of vectors.rules as unknown as Rows) table(...row);
  assert.is(compileAccept({ length: 3, pattern: 'a+' }).name, 'length+pattern');
});

// Published examples; of national ids those that their authorities or their articles print.
const CHECKS = vectors.checks as unknown as { readonly [check: string]: readonly [valid: string[], invalid: string[]] };

test('a check takes what its standard calls right, in its usual form, and nothing else', () => {
  assert.equal(Object.keys(CHECKS).sort(), Object.keys(ID_CHECKS).sort());
  for (const [check, [valid, invalid]] of Object.entries(CHECKS)) {
    const { example } = ID_CHECKS[check]!;
    assert.is(saved({ check }, example), example, check);
    for (const text of valid) assert.ok(saved({ check }, text), `${check} on ${text}`);
    for (const text of invalid) assert.is(saved({ check }, text), undefined, `${check} on ${text}`);
    const usual = saved({ check }, valid[0]!) as string;
    assert.is(saved({ check }, usual), usual, 'the usual form is its own');
  }
  assert.is(saved({ check: 'zm-nrc' }, '123456101'), '123456/10/1');
  assert.is(saved({ check: 'br-cpf' }, '529.982.247-25'), '52998224725');
  assert.is(saved({ check: 'luhn', digits: 11 }, '79927398713'), '79927398713');
});

test('one wrong digit is always seen, and by Verhoeff and MOD 97-10 also two neighbours that changed places', () => {
  const digits = fc.stringMatching(/^[1-9]\d{5,14}$/);
  const complete = (check: string, base: string) => {
    const ends = check === 'mod97' ? 100 : 10;
    for (let end = 0; end < ends; end++) {
      const text = base + String(end).padStart(String(ends - 1).length, '0');
      if (saved({ check }, text) !== undefined) return text;
    }
    throw new Error(`${check} has no end for ${base}`);
  };
  for (const check of ['luhn', 'verhoeff', 'mod97'])
    fc.assert(
      fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (base, place, add) => {
        const right = complete(check, base);
        const at = place % right.length;
        const wrong = right.slice(0, at) + ((Number(right[at]) + add) % 10) + right.slice(at + 1);
        assert.is(saved({ check }, wrong), undefined, `${right} ${wrong}`);
        const next = (place % (right.length - 1)) + 1;
        const swapped = right.slice(0, next - 1) + right[next] + right[next - 1] + right.slice(next + 1);
        if (check !== 'luhn' && swapped !== right)
          assert.is(saved({ check }, swapped), undefined, `${right} ${swapped}`);
      }),
      { numRuns: 60 },
    );
});

test('the schema lists the checks that there are', () => {
  const { definitions } = JSON.parse(readFileSync('menus/flow.schema.json', 'utf8')) as {
    definitions: { accept: { properties: { check: { enum: string[] } } } };
  };
  assert.equal(definitions.accept.properties.check.enum, Object.keys(ID_CHECKS));
});

test('"today" is the day of the check, in UTC', () => {
  const rule = { date: { max: 'today' } };
  assert.is(saved(rule, '21112026', Date.UTC(2026, 10, 20, 23, 59)), undefined);
  assert.is(saved(rule, '21112026', Date.UTC(2026, 10, 21)), '2026-11-21');
  assert.is(saved({ date: { min: 'today' } }, '20112026', Date.UTC(2026, 10, 21)), undefined);
});

// On an engine that backtracks this test hangs.
test('patterns that never end on an engine that backtracks come to an end', () => {
  const hostile = `${'a'.repeat(COMMON_LIMITS.ussdTextChars - 1)}!`;
  for (const pattern of ['(a+)+', '(a|a)*', '(a|aa)+', '([a-z]+)*x', '(a?){30}a{30}', '(.*)*(.*)*b'])
    assert.is(saved({ pattern }, hostile), undefined, pattern);
});

test('a text longer than a request is refused before it is read', () => {
  const most = COMMON_LIMITS.ussdTextChars;
  assert.is(saved({ length: { max: most } }, 'x'.repeat(most)), 'x'.repeat(most));
  assert.is(saved({ digits: { min: 2 } }, '1'.repeat(most)), '1'.repeat(most));
  assert.is(saved({ digits: { min: 2 } }, '1'.repeat(most + 1)), undefined);
  assert.is(saved({ length: { max: most } }, `x${' '.repeat(most)}`), undefined);
});

test('whatever is typed: accepted values are JSON, and nothing throws', () => {
  const rules: readonly JsonObject[] = [
    { digits: { min: 1 } },
    { length: { max: 9 } },
    { number: true },
    { oneOf: ['a'] },
    { msisdn: { country: '263' } },
    ...DATE_FORMATS.map((format) => ({ date: { format } })),
    { pattern: '.*' },
  ];
  const accepts = rules.map((rule) => compileAccept(rule));
  const typed = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0123456789+-./ 0') }));
  fc.assert(
    fc.property(typed, fc.constantFrom(...accepts), (text, { name, check }) => {
      const result = check(text, NOW);
      if (!result.ok) return;
      assert.equal(JSON.parse(JSON.stringify(result.value)), result.value, name);
      if (name === 'date') assert.is(new Date(`${result.value}T00:00:00Z`).toISOString().slice(0, 10), result.value);
      if (name === 'msisdn') assert.match(String(result.value), /^\+263[1-9]\d{4,11}$/);
    }),
    { numRuns: 1500 },
  );
});

test('every real day of a format is read back', () => {
  const day = fc.date({ min: new Date('1947-01-01'), max: new Date('2045-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(day, fc.constantFrom(...DATE_FORMATS), (date, format) => {
      const iso = date.toISOString().slice(0, 10);
      const [year, month, dayOfMonth] = iso.split('-') as [string, string, string];
      const typed = format
        .replace('YYYY', year)
        .replace('YY', year.slice(2))
        .replace('MM', month)
        .replace('DD', dayOfMonth);
      assert.is(saved({ date: { format } }, typed), iso, `${format} ${typed}`);
    }),
    { numRuns: 300 },
  );
});

test('rules that cannot be are refused, with what to write', () => {
  for (const [rule, says] of vectors.refusals as unknown as readonly (readonly [JsonObject, string | string[]])[]) {
    try {
      compileAccept(rule);
    } catch (error) {
      assert.instance(error, TwinlineError);
      assert.is((error as TwinlineError).code, 'ERR_FLOW_INVALID');
      for (const words of [says].flat()) assert.match((error as TwinlineError).message, words);
      continue;
    }
    assert.unreachable(`${JSON.stringify(rule)} was taken`);
  }
});

test.run();
