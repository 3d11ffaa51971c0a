// Which PINs are too easy to guess, and why.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Weakness, weakPin } from '../../lib/account/pin.ts';

const test = suite('account/weak');

const PHONE = '+263771239471';

const CASES = JSON.parse(
  readFileSync(new URL('../fixtures/account/weak-pins.json', import.meta.url), 'utf8'),
) as readonly (readonly [pin: string, weakness: Weakness | null])[];

for (const [pin, weakness] of CASES)
  test(`${pin} is ${weakness ? `weak: ${weakness}` : 'not weak'}`, () => {
    assert.is(weakPin(pin, PHONE), weakness ?? undefined);
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
