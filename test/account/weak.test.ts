// Which PINs are too easy to guess, and why.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Weakness, weakPin } from '../../lib/account/pin.ts';

const test = suite('account/weak');

const PHONE = '+263771239471';

const CASES: readonly (readonly [string, Weakness | undefined])[] = [
  ['0000', 'same-digits'],
  ['777777', 'same-digits'],
  ['1234', 'run'],
  ['98765', 'run'],
  ['456789', 'run'],
  ['7890', 'run'],
  ['2109', 'run'],
  ['1900', 'year'],
  ['1987', 'year'],
  ['2024', 'year'],
  ['9471', 'phone'],
  ['39471', 'phone'],
  ['009471', 'phone'],
  ['1212', 'common'],
  ['1004', 'common'],
  ['13579', 'common'],
  ['123123', 'common'],
  ['159753', 'common'],
  ['1235', undefined],
  ['1342', undefined],
  ['1800', undefined],
  ['2100', undefined],
  ['19871', undefined],
  ['41987', undefined],
  ['94710', undefined],
  ['8041', undefined],
  ['80416', undefined],
  ['804163', undefined],
];

for (const [pin, weakness] of CASES)
  test(`${pin} is ${weakness ? `weak: ${weakness}` : 'not weak'}`, () => {
    assert.is(weakPin(pin, PHONE), weakness);
  });

test('a phone number that is too short weakens no PIN', () => {
  assert.is(weakPin('8041', ''), undefined);
  assert.is(weakPin('8041', '+41'), undefined);
  assert.is(weakPin('8041', '041'), undefined);
});

test('few of the 4-digit PINs are refused, so that most people keep theirs', () => {
  const pins = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, '0'));
  const refused = pins.filter((pin) => weakPin(pin, PHONE)).length;
  assert.ok(refused > 200 && refused < 300, String(refused));
});

test.run();
