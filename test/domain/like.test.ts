// The patterns of `like`, against RegExp: whatever stands in a pattern and a text, both say the same.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { matches, parseFilter } from '../../lib/domain/twin/filter.ts';
import { compileLike } from '../../lib/domain/twin/like.ts';
import { numbersFrom } from '../support/random.ts';

const test = suite('patterns of like');
const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const write = (most: number, characters: readonly string[]) =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(characters)).join('');

/** Characters of one, two and three bytes and of two units of UTF-16; two of them share the first unit. */
const TEXT = ['a', 'a', 'b', 'é', '\n', '水', '😀', '😁', '\\', '.'];
const PATTERN = [...TEXT, '*', '?', '*', '?'];

const readParts = (pattern: string) => pattern.match(/\\[*?\\]|[\s\S]/gu) ?? [];

const makeRegExp = (pattern: string) => {
  const parts = { '*': '[\\s\\S]*', '?': '[\\s\\S]' } as const;
  const source = readParts(pattern).map(
    (one) => parts[one as '*'] ?? (/^\\[*?\\]$/.test(one) ? one : /[\\.]/.test(one) ? `\\${one}` : one),
  );
  return new RegExp(`^${source.join('')}$`, 'u');
};

/** A text that fits the pattern, but for a mistake now and then. */
const writeFor = (pattern: string) =>
  readParts(pattern)
    .map((one) => (one === '*' ? write(3, TEXT) : one === '?' || random() < 0.02 ? pick(TEXT) : one.slice(-1)))
    .join('');

const judge = (pattern: string, text: string) => {
  const filter = parseFilter(`like(x,${JSON.stringify(pattern)})`);
  const wanted = makeRegExp(pattern).test(text);
  assert.is(matches(filter, { x: text }), wanted, JSON.stringify({ pattern, text }));
  return wanted;
};

test('random patterns and texts, short ones and those of several words of bits', () => {
  let fitting = 0;
  const cases = 6_000;
  for (let at = 0; at < cases; at++) {
    const isLong = at % 3 === 0;
    const pattern = isLong ? write(120, [...TEXT, ...TEXT, ...PATTERN]).replaceAll(/\*{2,}/g, '*') : write(8, PATTERN);
    if (isLong && pattern.split('*').length > 6) continue;
    const text = random() < 0.8 ? writeFor(pattern) : write(12, TEXT);
    if (judge(pattern, text)) fitting++;
  }
  assert.ok(fitting > cases / 10 && fitting < (cases * 9) / 10, String(fitting));
});

test('patterns end at every bit of a word, with a star or a character', () => {
  for (let length = 28; length <= 68; length++)
    for (const pattern of ['a'.repeat(length), `${'?'.repeat(length)}*`, `*${'a'.repeat(length)}`])
      for (const more of [-1, 0, 1]) judge(pattern, 'a'.repeat(length + more));
});

test('what a comparison costs is said beforehand: the text by the words of the pattern, and nothing else', () => {
  const measure = (pattern: string, text: string) => {
    let work = 0;
    compileLike(pattern)(text, (more) => {
      work += more;
    });
    return work;
  };
  for (const [pattern, text] of [
    [`*${'a'.repeat(500)}b`, 'a'],
    ['*a*a*a*a*b', 'a'],
    [`*${'?'.repeat(500)}b`, '😀'],
  ] as const) {
    const [once, twice] = [1_000, 2_000].map((times) => measure(pattern, text.repeat(times)));
    assert.is(twice, 2 * once!, pattern);
    assert.is(
      measure(pattern, text.repeat(1_000)),
      measure(pattern, 'x'.repeat(1_000 * text.length)),
      'whatever stands in it',
    );
  }
});

test.run();
