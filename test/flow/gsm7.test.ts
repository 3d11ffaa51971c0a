// What fits on a phone screen, checked against the standard's own table.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clean, fits, nonGsm7, room, septets } from '../../lib/flow/run/render.ts';
import alphabet from '../vectors/gsm-03.38.json' with { type: 'json' };

const test = suite('gsm7');

const characters = (rows: string[][]) => rows.map((row) => row[2] ?? '');
const basic = characters(alphabet.basic);
const extension = characters(alphabet.extension);

test('basic characters cost one septet and extension characters two', () => {
  for (const character of basic) assert.is(septets(character), 1, character);
  for (const character of extension) assert.is(septets(character), 2, character);
});

test('no other character of the basic plane costs anything but UCS-2', () => {
  const inside = new Set([...basic, ...extension]);
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    if (!inside.has(character)) assert.is(septets(character), undefined, code.toString(16));
  }
});

test('a screen holds 182 septets, or 80 UTF-16 units when one character is foreign', () => {
  assert.equal(room('a'.repeat(182)), { encoding: 'gsm7', used: 182, limit: 182 });
  assert.equal(room('€'.repeat(92)), { encoding: 'gsm7', used: 184, limit: 182 });
  assert.equal(room(`1–2 times`), { encoding: 'ucs2', used: 9, limit: 80 });
  assert.equal(room('😀'), { encoding: 'ucs2', used: 2, limit: 80 });
  assert.equal(room(''), { encoding: 'gsm7', used: 0, limit: 182 });
  const table: [string, boolean][] = [
    ['a'.repeat(182), true],
    ['a'.repeat(183), false],
    ['€'.repeat(91), true],
    [`${'€'.repeat(91)}a`, false],
    [`ũ${'a'.repeat(79)}`, true],
    [`ũ${'a'.repeat(80)}`, false],
    ['😀'.repeat(40), true],
    ['😀'.repeat(41), false],
  ];
  for (const [text, expected] of table) assert.is(fits(text), expected, text);
});

test('the characters that force UCS-2 are named once each, in order, and whole', () => {
  assert.equal(nonGsm7('José – “ça” 😀 – €{}'), ['–', '“', 'ç', '”', '😀']);
  assert.equal(nonGsm7('plain\n€'), []);
});

test('cleaning removes control characters but newlines, and nothing else', () => {
  assert.is(clean('a\r\nb\tc\u0000\u007f\u0085\u001b[31m€ñ😀'), 'a\nbc[31m€ñ😀');
  assert.is(clean(''), '');
});

test('room, fits, septets and nonGsm7 agree on every text', () => {
  const unit = fc.oneof(fc.constantFrom(...basic, ...extension), fc.string({ unit: 'grapheme', maxLength: 1 }));
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 200 }), (parts) => {
      const text = parts.join('');
      const { encoding, used, limit } = room(text);
      assert.is(fits(text), used <= limit);
      assert.is(encoding === 'gsm7', nonGsm7(text).length === 0);
      const expected = [...text].reduce((sum, character) => sum + (extension.includes(character) ? 2 : 1), 0);
      if (encoding === 'gsm7') assert.is(used, expected);
      else assert.is(used, text.length);
    }),
    { numRuns: 300 },
  );
});

test.run();
