// Numbers as languages write them, in signs that every phone shows.

import type { Json } from '../../store/store.ts';
import { isDecimal } from './values.ts';

// Formatters cost 50 times more to make than to use. Languages can come from data, so the cache is bounded.
const FORMATTERS_KEPT = 200;
const formatters = new Map<string, Intl.NumberFormat>();

/** The number with at least and at most so many decimals, as the language of this tag writes it; null for what is no number. */
export function formatNumber(value: Json, lang: string, least: number, most: number): string | null {
  // Amounts are often decimal texts; they are formatted from their digits, so that none are lost.
  if (typeof value !== 'number' && !(typeof value === 'string' && isDecimal(value))) return null;
  const key = `${least}${most}${lang}`;
  let formatter = formatters.get(key);
  if (!formatter) {
    formatter = numberFormat(lang, least, most);
    if (formatters.size >= FORMATTERS_KEPT) formatters.clear();
    formatters.set(key, formatter);
  }
  const text = formatter.format(value as number);
  return NOT_ASCII.test(text) ? text.replace(PHONE_UNSAFE, (sign) => PLAIN_SIGNS[sign] ?? ' ') : text;
}

function numberFormat(lang: string, least: number, most: number): Intl.NumberFormat {
  const options = {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    numberingSystem: 'latn',
    signDisplay: 'negative',
  } as const;
  try {
    // English follows, because the next choice would be the language of the machine that runs this.
    return new Intl.NumberFormat([lang, 'en'], options);
  } catch {
    return new Intl.NumberFormat('en', options);
  }
}

// Signs that some languages put into numbers and that phones with a GSM alphabet cannot show. Other spaces become plain.
const NOT_ASCII = /[^ -~]/;
const PHONE_UNSAFE = /[\u00a0\u2009\u202f\u2019\u2212\u200e\u200f\u061c]/g;
const PLAIN_SIGNS: { readonly [sign: string]: string } = {
  '\u2019': "'",
  '\u2212': '-',
  '\u200e': '',
  '\u200f': '',
  '\u061c': '',
};
