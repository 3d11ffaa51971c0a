// Phone numbers against the numbering plans: the example number of every region, typed in every form, is that number or none.

import fc from 'fast-check';
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js/core';
import examples from 'libphonenumber-js/examples.mobile';
import plans from 'libphonenumber-js/metadata.max';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileAccept } from '../../lib/flow/run/accept.ts';
import { findCallingCode } from '../../lib/flow/run/phone-numbers.ts';
import type { JsonObject } from '../../lib/json/json.ts';

const test = suite('phone numbers');

const NUMBERS = getCountries(plans).map((region) => getExampleNumber(region, examples, plans)!);

function saved(typed: string, country?: string): unknown {
  const rule: JsonObject = { msisdn: country === undefined ? true : { country } };
  const result = compileAccept(rule).check(typed, 0);
  return result.ok ? result.value : undefined;
}

/** A number as people type it, and whether that is a form for calls at home only. */
function listForms(number: (typeof NUMBERS)[number]): readonly (readonly [typed: string, isNational: boolean])[] {
  const { number: e164, nationalNumber } = number;
  const digits = e164.slice(1);
  const arabic = (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));
  return [
    [e164, false],
    [`00${digits}`, false],
    [digits, false],
    [number.formatInternational(), false],
    [arabic(e164), false],
    [nationalNumber, true],
    [number.formatNational(), true],
    [number.formatNational({ nationalPrefix: true }), true],
    [arabic(number.formatNational()), true],
  ];
}

// As digits without a prefix they are a fixed line at home, too: nothing says which is meant.
const EITHER = ['+4915123456789', '+62812345678', '+38343201234'];

test('the number of every region is saved in whatever form it is typed, and never another one', () => {
  assert.ok(NUMBERS.length > 240, String(NUMBERS.length));
  for (const number of NUMBERS)
    for (const [typed, isNational] of listForms(number))
      for (const country of isNational ? [number.countryCallingCode] : [number.countryCallingCode, undefined]) {
        const isEither = country !== undefined && typed === number.number.slice(1) && EITHER.includes(number.number);
        assert.is(saved(typed, country), isEither ? undefined : number.number, `${number.country} ${country} ${typed}`);
      }
});

test('a number of another country is refused where one is asked for', () => {
  for (const { number, countryCallingCode } of NUMBERS)
    if (countryCallingCode !== '263') assert.is(saved(number, '263'), undefined, number);
});

// What is dialled before a number, and what Argentina and Mexico once put into it.
const INSERTED: readonly (CountryCode | undefined)[] = ['AR', 'MX'];

test('whatever is typed, digits are never lost but in front, and none are made up', () => {
  const mistyped = fc.record({
    number: fc.constantFrom(...NUMBERS.filter(({ country }) => !INSERTED.includes(country))),
    form: fc.nat(8),
    at: fc.nat(14),
    digit: fc.constantFrom('', '0', '5', '00'),
    drop: fc.boolean(),
  });
  fc.assert(
    fc.property(mistyped, ({ number, form, at, digit, drop }) => {
      const [text] = listForms(number)[form]!;
      const typed = text.slice(0, at) + digit + text.slice(at + (drop ? 1 : 0));
      const result = saved(typed, number.countryCallingCode);
      if (result === undefined) return;
      const plain = typed
        .normalize('NFKD')
        .replace(/[^\d\u0660-\u0669]/g, '')
        .replace(/[\u0660-\u0669]/g, (sign) => String(sign.charCodeAt(0) - 0x660));
      const national = String(result).slice(1 + number.countryCallingCode.length);
      assert.ok(plain.endsWith(national) || national.endsWith(plain), `${typed} became ${result}`);
      assert.ok(national.length <= plain.length, `${typed} became ${result}`);
    }),
    { numRuns: 3000 },
  );
});

test('a length that fits no plan is refused, and a new range of the length of mobile numbers is not', () => {
  for (const [country, typed] of [
    ['263', '712345'],
    ['263', '0771234'],
    ['225', '07070707'],
    ['229', '97000000'],
    ['1', '5912705'],
  ] as const)
    assert.is(saved(typed, country), undefined, `${country} ${typed}`);
  assert.is(saved('0500000000', '256'), '+256500000000');
  assert.is(findCallingCode('RW'), '250');
  assert.is(findCallingCode('XX'), undefined);
});

test.run();
