// What input screens accept: the value that is saved, and which rules are refused.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { ACCEPT_RULES, compileAccept, DATE_FORMATS } from '../../lib/flow/run/accept.ts';
import { ID_CHECKS } from '../../lib/flow/run/id-checks.ts';
import type { Json, JsonObject } from '../../lib/store/store.ts';

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

test('digits keep their zeros and are ASCII', () => {
  table({ digits: 4 }, { '0123': '0123', ' 9999 ': '9999' }, ['123', '12345', '12a4', '-123', '١٢٣٤', '12 34']);
  table({ digits: { min: 4, max: 6 } }, { '1234': '1234', '123456': '123456' }, ['123', '1234567']);
  table({ digits: { min: 2 } }, { '12': '12', ['1'.repeat(182)]: '1'.repeat(182) }, ['1', '1'.repeat(183)]);
});

test('length counts characters, not code units', () => {
  table({ length: 2 }, { ab: 'ab', '😀😀': '😀😀', ' ab ': 'ab' }, ['a', 'abc', '😀']);
  table({ length: { max: 3 } }, { '': '', abc: 'abc' }, ['abcd']);
});

// Published examples; of national ids those that their authorities or their articles print.
const VECTORS: { readonly [check: string]: readonly [valid: readonly string[], invalid: readonly string[]] } = {
  luhn: [
    ['79927398713', '4111 1111 1111 1111', '490154203237518'],
    ['79927398710', '4111111111111112', '7', ''],
  ],
  verhoeff: [
    ['2363', '1428570'],
    ['2364', '1428571', '2633'],
  ],
  mod97: [
    ['79444', '3214282912345698765432161182'],
    ['79445', '97444'],
  ],
  iban: [
    ['GB82 WEST 1234 5698 7654 32', 'de89370400440532013000', 'FR14 2004 1010 0505 0001 3M02 606'],
    ['GB82WEST12345698765433', 'GB82'],
  ],
  'br-cpf': [
    ['529.982.247-25', '111.444.777-35'],
    ['529.982.247-26', '111.111.111-11', '123'],
  ],
  'es-dni': [
    ['12345678Z', '00000000-t'],
    ['12345678A', '1234567Z'],
  ],
  'gh-card': [
    ['GHA-123456789-0', '1234567890'],
    ['GHA-12345678-0', 'ABC-123456789-0'],
  ],
  'in-aadhaar': [['9999 4105 7058'], ['999941057059', '099941057058', '99994105705']],
  'ke-id': [
    ['12345678', '1234567'],
    ['012345678', '123456'],
  ],
  'ng-nin': [['12345678901'], ['1234567890', '1234567890a']],
  'tz-nida': [['19901231-11121-00001-25'], ['19901331111210000125', '1990123111121000012']],
  'za-id': [
    ['8001015009087', '800101 5009 08 7'],
    ['8001015009086', '8013015009083', '8001015309084'],
  ],
  'zm-nrc': [
    ['123456/10/1', '123456101'],
    ['123456/10/4', '12345/10/1', '123456-10'],
  ],
};

test('a check takes what its standard calls right, in its usual form, and nothing else', () => {
  assert.equal(Object.keys(VECTORS).sort(), Object.keys(ID_CHECKS).sort());
  for (const [check, [valid, invalid]] of Object.entries(VECTORS)) {
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

test('numbers are plain decimals', () => {
  table({ number: true }, { '12': 12, '-0.50': -0.5, '007': 7, '-0': 0, ' 3 ': 3 }, [
    '',
    '1e3',
    '0x10',
    '1,000',
    '+1',
    '.5',
    '5.',
    'NaN',
    '٣',
    '9007199254740993',
    '1.2.3',
  ]);
  table({ number: { min: 1, max: 10 } }, { '1': 1, '10': 10, '1.5': 1.5 }, ['0.99', '10.01', '-5']);
  table({ number: { integer: true } }, { '5': 5, '-5': -5 }, ['5.0', '5.5']);
  table({ number: { decimals: 2, min: 0 } }, { '5': 5, '5.25': 5.25 }, ['5.250', '-1']);
});

test('choices are found in any case and saved as the author spelled them', () => {
  table({ oneOf: ['Yes', 'No way', 'ÉCOLE'] }, { yes: 'Yes', ' NO WAY ': 'No way', école: 'ÉCOLE' }, [
    'y',
    'noway',
    '',
    'toString',
    '__proto__',
  ]);
});

test('phone numbers are saved as E.164', () => {
  table(
    { msisdn: { country: '263' } },
    {
      '+263771234567': '+263771234567',
      '263771234567': '+263771234567',
      '00263771234567': '+263771234567',
      '0771234567': '+263771234567',
      '077 123-4567': '+263771234567',
      '(077) 123.4567': '+263771234567',
    },
    [
      '771234567',
      '+27821234567',
      '0027821234567',
      '+2630771234567',
      '07712',
      '+263',
      '0',
      '',
      '077123456a',
      '+26377123456789012',
      '++263771234567',
    ],
  );
  table(
    { msisdn: true },
    { '+27821234567': '+27821234567', '27821234567': '+27821234567', '0027821234567': '+27821234567' },
    ['0821234567', '+0821234567', '1234567', '1234567890123456', '+27 82 x'],
  );
});

test('dates are real calendar days, saved as ISO', () => {
  table(
    { date: true },
    {
      '29022024': '2024-02-29',
      '5/3/2024': '2024-03-05',
      '05-03-2024': '2024-03-05',
      '05.03.2024': '2024-03-05',
      '5 3 2024': '2024-03-05',
      '31121999': '1999-12-31',
    },
    [
      '29022023',
      '31042024',
      '00012024',
      '01002024',
      '01132024',
      '32012024',
      '5/3-2024',
      '5324',
      '2024-03-05',
      '010120245',
      '01010000',
      'today',
      '',
    ],
  );
  table(
    { date: { format: 'YYYY-MM-DD' } },
    { '2024-03-05': '2024-03-05', '20240305': '2024-03-05', '2024-3-5': '2024-03-05' },
    ['05032024', '2024-02-30'],
  );
  table({ date: { format: 'MM/DD/YYYY' } }, { '03052024': '2024-03-05' }, ['13012024']);
  table(
    { date: { format: 'DDMMYYYY', min: '2024-01-01', max: 'today' } },
    { '01012024': '2024-01-01', '20112026': '2026-11-20' },
    ['31122023', '21112026'],
  );
});

test('"today" is the day of the check, in UTC', () => {
  const rule = { date: { max: 'today' } };
  assert.is(saved(rule, '21112026', Date.UTC(2026, 10, 20, 23, 59)), undefined);
  assert.is(saved(rule, '21112026', Date.UTC(2026, 10, 21)), '2026-11-21');
  assert.is(saved({ date: { min: 'today' } }, '20112026', Date.UTC(2026, 10, 21)), undefined);
});

test('a year of two digits is the latest that fits', () => {
  table(
    { date: { format: 'DDMMYY' } },
    { '010146': '2046-01-01', '010147': '1947-01-01', '290200': '2000-02-29', '1/1/99': '1999-01-01' },
    ['290223', '29022024'],
  );
  table(
    { date: { format: 'DDMMYY', max: 'today' } },
    { '201126': '2026-11-20', '211126': '1926-11-21', '010140': '1940-01-01' },
    [],
  );
  table({ date: { format: 'YYMMDD', min: '2020-01-01', max: '2030-12-31' } }, { '300101': '2030-01-01' }, [
    '310101',
    '190101',
  ]);
});

test('patterns match the whole text', () => {
  table({ pattern: '[A-Z]{2}[0-9]{3}|x' }, { AB123: 'AB123', x: 'x' }, ['AB1234', 'xAB123', 'ab123', 'x\nx']);
  table({ pattern: String.raw`\p{L}+` }, { école: 'école' }, ['a1']);
  table({ pattern: String.raw`\\1|a\(?=b` }, { 'a(=b': 'a(=b', 'a=b': 'a=b', '\\1': '\\1' }, []);
});

// On an engine that backtracks this test hangs.
test('patterns that never end on an engine that backtracks come to an end', () => {
  const hostile = `${'a'.repeat(COMMON_LIMITS.ussdTextChars - 1)}!`;
  for (const pattern of ['(a+)+', '(a|a)*', '(a|aa)+', '([a-z]+)*x', '(a?){30}a{30}', '(.*)*(.*)*b'])
    assert.is(saved({ pattern }, hostile), undefined, pattern);
});

test('several rules hold together', () => {
  table({ digits: { min: 3 }, pattern: '1.*' }, { '123': '123' }, ['223', '12']);
  table({ digits: 3, number: { max: 500 } }, { '012': 12, '500': 500 }, ['501', '5']);
  table({ number: true, length: { max: 3 } }, { '1.5': 1.5 }, ['1000']);
  assert.is(compileAccept({ length: 3, pattern: 'a+' }).name, 'length+pattern');
});

test('a text longer than a request is refused before it is read', () => {
  const most = COMMON_LIMITS.ussdTextChars;
  assert.is(saved({ length: { max: most } }, 'x'.repeat(most)), 'x'.repeat(most));
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
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /is empty.*digits/],
    [{ digit: 4 }, /Did you mean "digits"\?/],
    [{ constructor: 4 }, /no rule "constructor"/],
    [{ number: true, date: true }, /number and date.*keep one/],
    [{ digits: '4' }, /"digits" got "4".*Write "digits": 4 or/],
    [{ digits: 0 }, /1 to 182.*Write "digits"/],
    [{ digits: 1.5 }, /whole numbers/],
    [{ digits: 183 }, /1 to 182/],
    [{ digits: { min: 6, max: 4 } }, /the smaller as "min"/],
    [{ digits: { mim: 4 } }, /no "mim"\. Did you mean "min"\?/],
    [{ length: [1] }, /Write "length": 20/],
    [{ number: 5 }, /Write true, or an object/],
    [{ number: { min: '1' } }, /are numbers/],
    [{ number: { min: 2, max: 1 } }, /no number fits/],
    [{ number: { integer: 1 } }, /true or false/],
    [{ number: { decimals: 10 } }, /0 to 9/],
    [{ oneOf: [] }, /list of different texts/],
    [{ oneOf: ['a', 1] }, /list of different texts/],
    [{ oneOf: ['a', ' A '] }, /twice/],
    [{ msisdn: { country: 263 } }, /calling code in quotes/],
    [{ msisdn: { country: '+263' } }, /without \+/],
    [{ msisdn: false }, /Write true/],
    [{ date: { format: 'D/M/Y' } }, /"format" is one of DDMMYYYY/],
    [{ date: { format: 'constructor' } }, /"format" is one of/],
    [{ date: { min: 'tomorrow' } }, /"today" or a real date/],
    [{ date: { max: '2023-02-29' } }, /real date/],
    [{ date: { min: '2024-01-02', max: '2024-01-01' } }, /no date fits/],
    [{ pattern: 5 }, /regular expression/],
    [{ pattern: '' }, /regular expression/],
    [{ pattern: '(?=a)' }, /[Ll]ook-ahead/],
    [{ pattern: '(?<!a)b' }, /[Ll]ook-ahead/],
    [{ pattern: String.raw`(a)\1` }, /Back-references/],
    [{ pattern: String.raw`(?<n>a)\k<n>` }, /Back-references/],
    [{ pattern: '(a' }, /cannot be read.*missing closing \)/],
    [{ pattern: 'a{1001}' }, /cannot be read.*up to 1000/],
    [{ pattern: '((a{30}){40})' }, /cannot be read/],
    [{ pattern: '(a?){1000}a{900}' }, /too many steps/],
    [{ pattern: 'a'.repeat(FLOW_LIMITS.patternChars + 1) }, /longer than 200/],
  ];
  for (const [rule, message] of cases) {
    try {
      compileAccept(rule);
    } catch (error) {
      assert.instance(error, TwinlineError);
      assert.is((error as TwinlineError).code, 'ERR_FLOW_INVALID');
      assert.match((error as TwinlineError).message, message);
      continue;
    }
    assert.unreachable(`${JSON.stringify(rule)} was taken`);
  }
});

test('tells its rule names', () => {
  assert.equal(ACCEPT_RULES, ['digits', 'length', 'number', 'oneOf', 'msisdn', 'date', 'pattern', 'check']);
});

test.run();
