// Numbers, currencies and plurals as a language writes them, with characters that every phone can display.

import type { Json } from '../../json/json.ts';
import { isDecimal } from './values.ts';

// Creating a formatter costs 50 times more than using it. Languages may come from data, so the caches are bounded.
const FORMATTERS_KEPT = 200;
const formatters = new Map<string, Intl.NumberFormat>();
const pluralRulesByLang = new Map<string, Intl.PluralRules>();

/** The plural rules of a language; those of English for an unknown one. */
export function pluralRules(lang: string): Intl.PluralRules {
  const before = pluralRulesByLang.get(lang);
  if (before) return before;
  const rules = makePluralRules(lang);
  if (pluralRulesByLang.size >= FORMATTERS_KEPT) pluralRulesByLang.clear();
  pluralRulesByLang.set(lang, rules);
  return rules;
}

function makePluralRules(lang: string): Intl.PluralRules {
  try {
    return new Intl.PluralRules([lang, 'en']);
  } catch {
    return new Intl.PluralRules('en');
  }
}

/** Formats a number with at least `least` and at most `most` decimals in a language; null if it is not a number. */
export function formatNumber(value: Json, lang: string, least: number, most: number): string | null {
  // Amounts are often decimal strings; format their digits, so that no precision is lost.
  if (typeof value !== 'number' && !(typeof value === 'string' && isDecimal(value))) return null;
  const key = `${least}${most}${lang}`;
  let formatter = formatters.get(key);
  if (!formatter) {
    formatter = numberFormat(lang, least, most);
    if (formatters.size >= FORMATTERS_KEPT) formatters.clear();
    formatters.set(key, formatter);
  }
  const text = formatter.format((Number.isInteger(value) ? value : String(value)) as number);
  return NOT_ASCII.test(text) ? text.replace(PHONE_UNSAFE, (sign) => PLAIN_SIGNS[sign] ?? ' ') : text;
}

/** The decimals of a currency. */
export function currencyPlaces(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

function numberFormat(lang: string, least: number, most: number): Intl.NumberFormat {
  const options = {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    numberingSystem: 'latn',
    signDisplay: 'negative',
  } as const;
  try {
    // Fall back to English, because the next choice would be the host's locale.
    return new Intl.NumberFormat([lang, 'en'], options);
  } catch {
    return new Intl.NumberFormat('en', options);
  }
}

// Characters that some locales use in numbers but GSM phones cannot display. Other spaces become plain spaces.
const NOT_ASCII = /[^ -~]/;
const PHONE_UNSAFE = /[\u00a0\u2009\u202f\u2019\u2212\u200e\u200f\u061c]/g;
const PLAIN_SIGNS: { readonly [sign: string]: string } = {
  '\u2019': "'",
  '\u2212': '-',
  '\u200e': '',
  '\u200f': '',
  '\u061c': '',
};

type PluralForms = { readonly [form in Intl.LDMLPluralRule]?: string };

const FORM = /^(zero|one|two|few|many|other)=(.*)$/s;

/** Two texts, or each form by its name. */
export function readPluralForms(texts: readonly string[]): PluralForms | { readonly problem: string } {
  const named = texts.map((text) => FORM.exec(text));
  if (named.every((one) => one === null) && texts.length === 2) return { one: texts[0]!, other: texts[1]! };
  const forms = Object.fromEntries(named.flatMap((one) => (one ? [[one[1], one[2]]] : [])));
  if (named.includes(null) || Object.keys(forms).length < texts.length || forms.other === undefined)
    return { problem: "write two texts, or each form once by its name, 'other=' among them" };
  return forms;
}
