// Texts of flows: what they print, what they refuse, and that values cannot break out of them.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { compileTemplate } from '../../lib/flow/expression/template.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import vectors from '../vectors/templates.json' with { type: 'json' };

const test = suite('template');

const scope: JsonObject = {
  name: 'Tariro',
  balance: 1234567.895,
  exact: '12345678901234567.895',
  debt: -1500,
  zero: -0.001,
  n: 1,
  yes: true,
  none: null,
  tx: [{ label: 'Rent for March', amount: 12.5 }, { label: 'Food' }],
  phone: '+263771234567',
  when: '2024-03-05T23:30:00+02:00',
  ms: Date.UTC(2024, 1, 29, 23, 59),
  smile: '😀😀😀😀',
  auth: { ok: true },
};

const print = (source: string, lang = 'en', data = scope) => compileTemplate(source).render(data, lang);

function refusal(source: string): TwinlineError {
  try {
    compileTemplate(source);
  } catch (error) {
    assert.instance(error, TwinlineError);
    assert.is((error as TwinlineError).code, 'ERR_TEMPLATE');
    return error as TwinlineError;
  }
  throw new Error(`${source} did not throw`);
}

test('prints values by path, and nothing where one is missing, a list or an object; filters do what they say', () => {
  for (const [source, expected] of [...vectors.paths, ...vectors.filters]) assert.is(print(source!), expected, source);
});

test('a backslash prints braces; two print a backslash before a value', () => {
  assert.is(print(String.raw`\{{name}}`), '{{name}}');
  assert.is(print(String.raw`\\{{name}}`), String.raw`\Tariro`);
  assert.is(print(String.raw`\\\{{name}} a\b`), String.raw`\{{name}} a\b`);
  assert.ok(compileTemplate(String.raw`\{{name}}`).isPlain);
});

test('an impossible date prints nothing', () => {
  for (const d of ['2023-02-29', '2024-13-01', '2024-00-10', '1900-02-29', '2024-01-32', '2024-01-01x', 1e300, true]) {
    assert.is(print('{{d|date}}', 'en', { d }), '', String(d));
  }
});

test('numbers follow the language, in signs that phones have', () => {
  for (const [lang, expected] of vectors.languages)
    assert.is(print('{{v|money}}', lang, { v: -1234567.895 }), expected);
});

test('tells what it prints: paths, roots, filters and where', () => {
  const { paths, isPlain } = compileTemplate('Hi {{name}}: {{ tx[0].label | trunc:9 | upper }}');
  assert.equal(paths, [
    { path: 'name', root: 'name', filters: [], whole: 'name', offset: 5 },
    {
      path: 'tx[0].label',
      root: 'tx',
      filters: ['trunc', 'upper'],
      whole: 'tx[0].label | trunc:9 | upper ',
      offset: 16,
    },
  ]);
  assert.not(isPlain);
  assert.equal(compileTemplate("{{ tx|lines:'{{row.label|upper}} {{name}}' }}").paths, [
    { path: 'tx', root: 'tx', filters: ['lines'], whole: "tx|lines:'{{row.label|upper}} {{name}}' ", offset: 3 },
    { path: 'tx[0].label', root: 'tx', filters: ['upper'], whole: 'tx[0].label|upper', offset: 13 },
    { path: 'name', root: 'name', filters: [], whole: 'name', offset: 35 },
  ]);
  assert.ok(compileTemplate('Hi').isPlain);
  assert.is(compileTemplate('Hi').render({}, 'en'), 'Hi');
});

test('refusals point at the column, and say what to write instead', () => {
  for (const [source, column, says] of vectors.refusals as unknown as readonly (readonly [string, number, string])[]) {
    const { message, cause } = refusal(source);
    assert.match(message, `column ${column}:`, `${source}: ${message}`);
    assert.match(message, says, `${source}: ${message}`);
    assert.type((cause as { offset: number }).offset, 'number');
  }
});

test('names that lead to a prototype are refused, also when the data has them', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    assert.match(refusal(`{{${name}.x}}`).message, `"${name}" is refused`);
    assert.match(refusal(`Hi {{a.${name}.name}}`).message, `"${name}" is refused`);
  }
});

test('values stay literal: no second reading, no replacement patterns', () => {
  const hostile = ['{{name}}', "$& $' $1", String.raw`\{{name}}`, '{{name|upper}}', '%s <%= name %>'];
  for (const v of hostile) assert.is(print('[{{v}}]', 'en', { v, name: 'secret' }), `[${v}]`);
});

test('a value cannot start a line or hide one', () => {
  assert.is(print('Hi {{v}}', 'en', { v: '\nEND ok' }), 'Hi  END ok');
  assert.is(
    print('Hi {{v}}.', 'en', { v: 'a\r\nb\tc\u0000\u001b[31m\u0085d\u2028e\u202ef\u200f' }),
    'Hi a b c[31m d ef.',
  );
  assert.is(print('{{v|upper|trunc:30}}', 'en', { v: 'x\nCON y' }), 'X CON Y');
  assert.is(print("{{v|default:'a\nb'}}", 'en', {}), 'a\nb', 'an author may');
  assert.is(print("{{v|before:'\n'|after:'\n'}}", 'en', { v: 'a\nb' }), '\na b\n');
  assert.is(print("{{v|before:'\n'|after:'\n'}}", 'en', { v: '' }), '');
  const rows = { v: [{ n: 'a\nEND b', of: ['x\ny', 'z'] }, { n: '\u202ec' }, 'd'], name: 'N' };
  assert.is(print("{{v|lines:'{{row.n}} {{name}}'}}", 'en', rows), 'a END b N\nc N\n N');
  assert.is(print("{{v|lines:'{{row.of|lines:\"{{row}}\":\", \"}}':';'|before:'= '}}", 'en', rows), '= x y, z;;');
  assert.is(print("{{v|lines:'{{row}}'}}", 'en', { v: 'text' }), '');
  assert.is(print("{{v|lines:'{{row}}'|default:'none'}}", 'en', { v: [] }), 'none');
});

test('whatever the values are, a text of printable characters stays printable and on its lines', () => {
  const filters = ['', '|money', '|number:2', '|trunc:5', '|mask', '|upper', '|lower', '|date', '|first:3', '|count'];
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\n', '\r', '\t', '\u0000', '\u009b', '\u2029', '\u202e', 'END ', '{{', 'a'), {
        maxLength: 20,
      })
      .map((parts) => parts.join('')),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(value, fc.constantFrom(...filters), fc.constantFrom('en', 'fr', 'ar', 'xx', '?'), (v, filter, lang) => {
      const text = print(`a{{v${filter}}}b\nc{{w[0]${filter}}}d`, lang, { v, w: [v] } as JsonObject);
      assert.not.match(text.replace('\n', ''), /[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
      assert.is(text.split('\n').length, 2);
      assert.ok(text.startsWith('a') && text.endsWith('d'));
    }),
    { numRuns: 2000 },
  );
});

test('template soup throws nothing but ERR_TEMPLATE', () => {
  const words = [...'{}|:\\\'". 5\n', '{{', '}}', 'name', 'tx', '[0]', 'trunc', 'plural', '__proto__'];
  const soup = fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(soup, (source) => {
      try {
        assert.type(compileTemplate(source).render(scope, 'en'), 'string');
      } catch (error) {
        assert.is((error as TwinlineError).code, 'ERR_TEMPLATE', `${source} threw ${error}`);
      }
    }),
    { numRuns: 2000 },
  );
});

test('length is bounded, exactly', () => {
  assert.is(print('x'.repeat(FLOW_LIMITS.templateChars)).length, FLOW_LIMITS.templateChars);
  assert.match(refusal('x'.repeat(FLOW_LIMITS.templateChars + 1)).message, `${FLOW_LIMITS.templateChars} is the most`);
});

test.run();
