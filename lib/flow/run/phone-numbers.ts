// Phone numbers as callers type them → E.164, by the numbering plans of libphonenumber. The plans take some 150 KB and are loaded by
// the first flow that asks for a number.

import { createRequire } from 'node:module';
import type { MetadataJson, PhoneNumber } from 'libphonenumber-js/core';
import { TwinlineError } from '../../errors.ts';
import { toAsciiDigits } from '../expression/values.ts';

interface NumberingPlan {
  /** A pattern of what is dialled before calls abroad, such as `011`. */
  IDDPrefix(): string | undefined;
  /** What is dialled before national numbers, such as `0`. */
  nationalPrefix(): string | undefined;
  type(kind: 'MOBILE'): { possibleLengths(): readonly number[] } | undefined;
}

interface Plans {
  readonly data: MetadataJson;
  parse(text: string, callingCode?: string): PhoneNumber | undefined;
  findPlan(callingCode: string): NumberingPlan | undefined;
}

let loaded: Plans | undefined;

function plans(): Plans {
  loaded ??= loadPlans();
  return loaded;
}

// Compiling a flow is synchronous, and most flows ask for no number: an import would cost each program that loads flows 50 ms.
function loadPlans(): Plans {
  const { core, data } = requireParts();
  const { parsePhoneNumberFromString, Metadata } = core;
  const table = new Metadata(data);
  return {
    data,
    parse: (text, defaultCallingCode) => parsePhoneNumberFromString(text, { extract: false, defaultCallingCode }, data),
    findPlan: (callingCode) => {
      table.selectNumberingPlan(callingCode);
      return table.numberingPlan;
    },
  };
}

// By names that bundlers can read: webpack takes both along.
function requireParts() {
  const require = createRequire(import.meta.url);
  try {
    const data: MetadataJson = require('libphonenumber-js/metadata.max');
    return { core: require('libphonenumber-js/core'), data };
  } catch (cause) {
    throw new TwinlineError(
      'ERR_CONFIG',
      'A flow reads phone numbers (msisdn), and libphonenumber-js is not installed here. Install it; beside a bundle, too.',
      { cause },
    );
  }
}

/** Whether some country, or a worldwide service, has this calling code. */
export function isCallingCode(code: string): boolean {
  const { country_calling_codes, nonGeographic } = plans().data;
  return Object.hasOwn(country_calling_codes, code) || Object.hasOwn(nonGeographic, code);
}

/** `263` for the region `ZW` of ISO 3166-1; undefined where there is no such region. */
export function findCallingCode(region: string): string | undefined {
  const codes = Object.entries(plans().data.country_calling_codes);
  return codes.find(([, regions]) => regions.some((one) => one === region))?.[0];
}

// What people put between digits, and marks of direction, which phones add.
const BETWEEN = /[\s().\-/\u00b7\u2010-\u2015\u2212\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const TYPED = /^\+?\d{4,20}$/;

/**
 * The E.164 number that a caller means: typed with `+`, `00` or the country's own prefix for calls abroad, as an international
 * number without any, or, when there is a `country` (a calling code), as at home, with or without the trunk prefix. Undefined
 * where no plan knows such a number, where it is of another country, and where it could be two different numbers.
 */
export function readPhoneNumber(text: string, country?: string): string | undefined {
  const plain = toAsciiDigits(text).replace('\uff0b', '+').replace(BETWEEN, '');
  if (!TYPED.test(plain)) return undefined;
  const numbers = listReadings(plain, country).flatMap(([digits, code]) => {
    const number = plans().parse(digits, code);
    return number && !number.ext && (country === undefined || number.countryCallingCode === country) ? [number] : [];
  });
  const valid = new Set(numbers.filter((number) => number.isValid()).map(({ number }) => number));
  // Countries open new ranges before the table has them; their numbers are as long as the other mobile numbers there.
  const likely = valid.size ? valid : new Set(numbers.filter(isAsLongAsMobile).map(({ number }) => number));
  return likely.size === 1 ? [...likely][0] : undefined;
}

type Reading = readonly [digits: string, country?: string];

function listReadings(plain: string, country: string | undefined): Reading[] {
  if (plain.startsWith('+')) return [[plain]];
  if (plain.startsWith('00')) return [[`+${plain.slice(2)}`]];
  if (country === undefined) return plain.startsWith('0') ? [] : [[`+${plain}`]];
  const readings: Reading[] = [[plain, country]];
  if (plain.startsWith(country)) readings.push([`+${plain}`]);
  const prefix = plans().findPlan(country)?.IDDPrefix();
  const abroad = prefix && new RegExp(`^(?:${prefix})`).exec(plain)?.[0];
  if (abroad) readings.push([`+${plain.slice(abroad.length)}`]);
  return readings;
}

// A number that no plan knows keeps a trunk prefix that was dialled: it is no part of the number.
function isAsLongAsMobile({ countryCallingCode, nationalNumber }: PhoneNumber): boolean {
  const plan = plans().findPlan(countryCallingCode);
  const trunk = plan?.nationalPrefix();
  if (trunk && nationalNumber.startsWith(trunk)) return false;
  return plan?.type('MOBILE')?.possibleLengths().includes(nationalNumber.length) ?? false;
}
