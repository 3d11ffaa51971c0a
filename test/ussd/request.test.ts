// The checks at the door: which requests of a gateway are taken, and that a refusal gives nothing away.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import { readEcho, readFields } from '../../lib/ussd/fields.ts';
import { INVALID_INPUT } from '../../lib/ussd/reply.ts';
import { type RawRequest, readDialled, readMsisdn } from '../../lib/ussd/request.ts';

const test = suite('ussd request');

const { africastalking } = createAdapters('cumulative');
const GOOD = { sessionId: 's1', serviceCode: '*123#', phoneNumber: '+260971234567', text: '' };

const post = (body: string): RawRequest => ({
  method: 'POST',
  path: [],
  query: new URLSearchParams(),
  headers: {},
  body,
});
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

/** Each field with each of its values. */
const listPairs = (table: { readonly [name: string]: readonly string[] }) =>
  Object.entries(table).flatMap(([name, values]) => values.map((value) => [name, value] as const));

function refusedOrThrow(body: string): TwinlineError {
  try {
    africastalking.read(post(body));
  } catch (error) {
    assert.instance(error, TwinlineError);
    const refused = error as TwinlineError;
    assert.is(refused.code, 'ERR_INPUT');
    assert.is(africastalking.refuse(INVALID_INPUT, post(body)).body, 'END Invalid input. Please try again.');
    return refused;
  }
  throw new Error(`not refused: ${body.slice(0, 120)}`);
}

test('values at the edge of every rule are taken', () => {
  const table = {
    sessionId: ['a'.repeat(100), '😀'.repeat(100), 'AT:uid/é 1'],
    text: ['1'.repeat(182), '😀'.repeat(182), '1**2*'],
    phoneNumber: ['+1234567', '+123456789012345'],
    serviceCode: ['*1#', '*384*1234*7#'],
  };
  for (const [name, value] of listPairs(table)) {
    const fields = { ...GOOD, [name]: value };
    const expected = { ...fields, event: 'turn', mode: 'cumulative' };
    assert.equal(africastalking.read(post(JSON.stringify(fields))), expected);
    assert.equal(africastalking.read(post(form(fields))), expected);
  }
});

test('values that break a rule get the exact END text, as JSON and as a form', () => {
  const table = {
    sessionId: ['', 'a'.repeat(101), 's1\r\nX: y', 's\u0000'],
    text: ['1'.repeat(183), '\u0000'.repeat(183)],
    phoneNumber: [
      ...['260971234567', '+0971234567', '00254711000111', '0971', '+123456', '+1234567890123456', '+٢٥٤٧١١٠٠٠١١١'],
      ...['+254711000111\r\n', '+254711000111\n', ' +254711000111', '+254 711 000111'],
    ],
    serviceCode: [...['', '2233', '*#', '**1#', '*1*#', '*1', '*1#\n', '*1\r\n#', '*١٢٣#', `*${'1'.repeat(181)}#`]],
  };
  for (const [name, value] of listPairs(table)) {
    refusedOrThrow(JSON.stringify({ ...GOOD, [name]: value }));
    refusedOrThrow(form({ ...GOOD, [name]: value }));
  }
});

test('values of another type, missing values and lone surrogates are refused', () => {
  for (const name of Object.keys(GOOD)) {
    for (const value of [undefined, null, 1, true, ['x'], { x: 1 }, '\ud800']) {
      refusedOrThrow(JSON.stringify({ ...GOOD, [name]: value }));
    }
  }
});

test('control characters in text are removed, and everything else stays', () => {
  const read = (text: string) => africastalking.read(post(JSON.stringify({ ...GOOD, text }))).text;
  assert.is(read('1\r\n*2\t\u0000\u007f\u0085'), '1*2');
  assert.is(read(` O'Brien & <Zoë> "x" ; -- 😀 `), ` O'Brien & <Zoë> "x" ; -- 😀 `);
});

test('malformed, mislabelled and ambiguous bodies are refused', () => {
  const good = JSON.stringify(GOOD);
  const table = [
    '',
    'null',
    `[${good}]`,
    '"text"',
    `${good} {}`,
    good.slice(0, -1),
    '<xml/>',
    `{"text":"1",${good.slice(1)}`,
    `{"te\\u0078t":"1",${good.slice(1)}`,
    `{"__proto__":{"a":1},${good.slice(1)}`,
    `{"\\u005f_proto__":1,${good.slice(1)}`,
    `${form(GOOD)}&text=1`,
    `${form(GOOD)}&te%78t=1`,
    `${form(GOOD)}&__proto__=1`,
    `${form({ ...GOOD, text: '1' })}%`,
    `${form(GOOD)}&x=%ff`,
    `${form(GOOD).replace('text=', 'text[]=')}`,
    JSON.stringify({ ...GOOD, padding: 'x'.repeat(8192) }),
  ];
  for (const body of table) refusedOrThrow(body);
});

test('a repeated name deep inside a field that nobody reads does no harm', () => {
  const body = `{"extra":{"a":":","a":[{"a":1}]},"more":"\\"{:\\\\",${JSON.stringify(GOOD).slice(1)}`;
  assert.is(africastalking.read(post(body)).sessionId, 's1');
});

test('fields come out of JSON and of forms exactly as they went in', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((key) => key !== '__proto__');
  const fields = fc.dictionary(name, fc.string({ unit: 'grapheme', maxLength: 20 }), {
    maxKeys: 6,
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(fields, (sent) => {
      assert.equal({ ...readFields(JSON.stringify(sent)) }, sent);
      assert.equal({ ...readFields(form(sent)) }, sent);
    }),
    { numRuns: 300 },
  );
});

test('a refusal names the field and never the value', () => {
  const pin = '90817263';
  const bodies = [
    JSON.stringify({ ...GOOD, text: pin.repeat(30) }),
    `{"text":"1*${pin}",`,
    `text=1*${pin}&text=1*${pin}`,
    `text=1*${pin}%`,
    JSON.stringify({ ...GOOD, phoneNumber: pin }),
  ];
  for (const body of bodies) {
    const error = refusedOrThrow(body);
    assert.not.match(`${error.message} ${error.stack} ${String(error.cause)}`, pin);
  }
  assert.match(refusedOrThrow(JSON.stringify({ ...GOOD, text: 5 })).message, 'text must be a string');
});

test('numbers without a plus become E.164, and strange ones are refused', () => {
  assert.is(readMsisdn('233265542141', 'msisdn'), '+233265542141');
  assert.is(readMsisdn('+233265542141', 'msisdn'), '+233265542141');
  for (const value of ['0265542141', '00233265542141', '233 26', '', '٢٣٣٢٦٥٥٤٢١٤١', 233265542141, null]) {
    assert.throws(() => readMsisdn(value, 'msisdn'), /msisdn must be/);
  }
});

test('a strange network is left out, and so are long or odd values that a dialect wants back', () => {
  const read = (networkCode: unknown) => africastalking.read(post(JSON.stringify({ ...GOOD, networkCode }))).network;
  assert.is(read('63902'), '63902');
  for (const strange of [63902, '', 'x'.repeat(41), 'a\nb', ['x']]) assert.is(read(strange), undefined);
  const fields = { id: 'x'.repeat(100), long: 'x'.repeat(101), odd: 5 };
  assert.equal(readEcho(fields, ['id', 'long', 'odd', 'none']), { id: fields.id, long: '', odd: '', none: '' });
});

test('a dialled string becomes a service code in its one form', () => {
  const table: [unknown, string | undefined][] = [
    ['*920*1#', '*920*1#'],
    ['920', '*920#'],
    ['711*2', '*711*2#'],
    ['*123#1#', '*123*1#'],
    ['*123', '*123#'],
    ['', undefined],
    ['*', undefined],
    ['**1#', undefined],
    ['1**2', undefined],
    ['Ama', undefined],
    ['*1##', undefined],
    ['1\n', undefined],
    [920, undefined],
    [undefined, undefined],
    ['1'.repeat(182), `*${'1'.repeat(182)}#`],
    ['1'.repeat(183), undefined],
  ];
  for (const [value, expected] of table) assert.is(readDialled(value), expected, String(value));
});

test.run();
