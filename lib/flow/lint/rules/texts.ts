// Texts and input rules that do not compile, characters outside the GSM alphabet, and long SMS.

import type { Json } from '../../../json/json.ts';
import { FILTERS } from '../../expression/filters.ts';
import { findNearest } from '../../expression/suggest.ts';
import { capitalize, describePlace, type Mend, showValue, writeValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import { ACCEPT_RULES, compileAccept } from '../../run/accept.ts';
import { nonGsm7 } from '../../run/render.ts';
import { measureSms } from '../../run/sms-parts.ts';
import type { LintRule, RuleFinding } from '../rule.ts';
import { findImpossible } from './answers.ts';
import { listSms } from './calls.ts';

export const textRules: readonly LintRule[] = [
  {
    code: 'template',
    severity: 'error',
    means: 'a placeholder {{ }} has a syntax error',
    find: ({ parts }) => wordingFaults(parts.wordings, false),
  },
  {
    code: 'filter',
    severity: 'error',
    means: 'a text uses an unknown filter, or passes it wrong arguments',
    find: ({ parts }) => wordingFaults(parts.wordings, true),
  },
  {
    code: 'broken-text',
    severity: 'error',
    means: 'a value with "=text" is no text',
    *find({ parts }) {
      for (const { pointer } of parts.brokenTexts) {
        const message = `${capitalize(describePlace(pointer))} has "=text", and is no text: it needs that one key, with a text or a text for each language.`;
        yield { pointer, message, fix: 'Write { "=text": { "en": "..." } }.' };
      }
    },
  },
  {
    code: 'accept',
    severity: 'error',
    means: 'an input rule is invalid, or accepts nothing',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'input' || !screen.accept) continue;
        const { sameAs, ...rules } = screen.accept;
        const pointer = pointerTo('screens', id, 'accept');
        const single = Object.entries(rules).flatMap(([name, setting]) =>
          acceptFault(pointer + pointerTo(name), { [name]: setting }),
        );
        const faults = single.length || !Object.keys(rules).length ? single : acceptFault(pointer, rules);
        yield* faults;
        const why = faults.length ? undefined : findImpossible(screen.accept);
        if (why === undefined) continue;
        const message = `Screen "${id}" accepts nothing that a caller can type: ${why}.`;
        yield { pointer, message, fix: `Correct "${Object.keys(rules).join('" or "')}" of "${id}".` };
      }
    },
  },
  {
    code: 'non-gsm',
    severity: 'warning',
    means: 'a text has characters outside the GSM alphabet, so its screen fits less than half',
    *find({ flow, parts }) {
      if (flow.limits?.charset === 'any') return;
      for (const { pointer, source, compiled } of parts.wordings) {
        const strange = compiled.ok ? nonGsm7(source) : [];
        if (!strange.length) continue;
        const characters = strange
          .slice(0, 10)
          .map((one) => showValue(one))
          .join(', ');
        const message = `${capitalize(describePlace(pointer))} has ${characters}: a screen with it holds 80 characters, not 182.`;
        const fix = `Replace ${characters}, or set "limits": { "charset": "any" } if it is meant.`;
        const isTypeset = strange.every((one) => TYPESET.has(one));
        const mend = isTypeset && { mend: { text: JSON.stringify(typePlain(source)) } };
        yield { pointer, at: source.indexOf(strange[0]!), message, fix, ...mend };
      }
    },
  },
  {
    code: 'long-sms',
    severity: 'warning',
    means: 'an SMS takes many parts (warning), or more than are sent (error)',
    *find({ flow, parts }) {
      const places = listSms(flow).map(({ id, steps }) => pointerTo('screens', id, ...steps, 'with', 'text'));
      const isText = (pointer: string) => places.some((place) => pointer === place || pointer.startsWith(`${place}/`));
      for (const { pointer, source } of [...parts.wordings, ...parts.literals]) {
        if (!isText(pointer)) continue;
        // What is in the place of a slot comes on top.
        const size = measureSms(source.replace(SLOT, ''));
        if (size.parts <= FLOW_LIMITS.smsPartsCheap) continue;
        const isRefused = size.parts > FLOW_LIMITS.smsParts;
        const why = size.encoding === 'ucs2' ? ` ${nonGsm7(source).slice(0, 5).join(' ')} not being in GSM 7-bit` : '';
        const message = `${capitalize(describePlace(pointer))} takes ${size.parts} messages${why && `,${why}`}: ${isRefused ? `more than ${FLOW_LIMITS.smsParts} are not sent` : 'each is paid for'}.`;
        const whole = size.encoding === 'ucs2' ? FLOW_LIMITS.smsUcs2Units : FLOW_LIMITS.smsSeptets;
        yield {
          pointer,
          message,
          fix: `Shorten it: one message has ${whole} characters.`,
          severity: isRefused ? 'error' : 'warning',
        };
      }
    },
  },
];

const SLOT = /\{\{.*?\}\}/gs;

/** Typographic characters that word processors insert, and their plain equivalents. */
const TYPESET: ReadonlyMap<string, string> = new Map([
  ...[...'“”„«»'].map((quote) => [quote, '"'] as const),
  ...[...'‘’‚'].map((quote) => [quote, "'"] as const),
  ...[...'–—‑−'].map((dash) => [dash, '-'] as const),
  ...[...'\u00a0\u2009\u202f'].map((space) => [space, ' '] as const),
  ['…', '...'],
  ['•', '-'],
]);

function typePlain(text: string): string {
  return [...text].map((one) => TYPESET.get(one) ?? one).join('');
}

type Wordings = Parameters<LintRule['find']>[0]['parts']['wordings'];

function* wordingFaults(wordings: Wordings, ofFilters: boolean): Iterable<RuleFinding> {
  for (const { pointer, source, compiled } of wordings) {
    if (compiled.ok) continue;
    const offset = readOffset(compiled.error);
    const isFilter = /\|\s*$/.test(source.slice(0, offset)) && /^[A-Za-z_]/.test(source.slice(offset));
    if (isFilter !== ofFilters) continue;
    const usages = Object.values(FILTERS).map(({ usage }) => usage.replace(/ or .*/, ''));
    const isComputed = /^\s*[-+*/%=<>!(?]/.test(source.slice(offset));
    const fix = isFilter
      ? `Filters: ${usages.join(', ')}.`
      : isComputed
        ? 'Compute it into a variable before, with "set" of the way that leads here, and print that one: {{name}} or {{name|filter}}.'
        : 'Write {{name}} or {{name|filter}}; \\{{ prints braces.';
    const written = /^[A-Za-z_]\w*/.exec(source.slice(offset))?.[0] ?? '';
    const isUnknown = isFilter && !Object.hasOwn(FILTERS, written);
    const same = isUnknown ? SAME_FILTERS.get(written.toLowerCase()) : undefined;
    const similar = same
      ? { name: same, isAlone: true }
      : isUnknown
        ? findNearest(written, Object.keys(FILTERS))
        : undefined;
    const mend = similar?.isAlone
      ? { old: written, text: similar.name }
      : (mendCurrency(source.slice(offset)) ?? mendBraces(source, offset));
    yield { pointer, at: offset, message: compiled.error.message, fix, ...(mend && { mend }) };
  }
}

/** Filters of other languages, in lower case, and our equivalents. */
const SAME_FILTERS: ReadonlyMap<string, string> = new Map([
  ...['uppercase', 'upcase', 'toupper'].map((name) => [name, 'upper'] as const),
  ...['lowercase', 'downcase', 'tolower'].map((name) => [name, 'lower'] as const),
  ...['truncate', 'shorten', 'limit'].map((name) => [name, 'trunc'] as const),
  ...['length', 'size'].map((name) => [name, 'count'] as const),
  ['currency', 'money'],
  ['pluralize', 'plural'],
]);

function mendCurrency(rest: string): Mend | undefined {
  const [old] = /^money:\s*[A-Za-z]{3}(?=\s*[|}])/.exec(rest) ?? [];
  return old === undefined ? undefined : { old, text: old.slice(0, -3) + old.slice(-3).toUpperCase() };
}

// An extra brace at both ends, or a missing one at the end.
function mendBraces(source: string, offset: number): Mend | undefined {
  const rest = source.slice(offset);
  const [triple, inside] = /^\{([^{}]*)\}\}\}/.exec(rest) ?? [];
  if (triple !== undefined) return { old: triple, text: `${inside}}}` };
  return /^\}(?!\})/.test(rest) ? { old: '}', text: '}}' } : undefined;
}

function acceptFault(pointer: string, rules: { readonly [rule: string]: Json }): RuleFinding[] {
  try {
    compileAccept(rules);
    return [];
  } catch (error) {
    const fix = `Correct "${Object.keys(rules).join('" and "')}". Rules: ${ACCEPT_RULES.join(', ')}, sameAs.`;
    return [{ pointer, message: (error as Error).message, fix, ...mendRange(Object.values(rules)) }];
  }
}

// A range with min and max swapped.
function mendRange([setting, ...others]: readonly Json[]): { readonly mend?: Mend } {
  if (others.length || setting === null || typeof setting !== 'object' || Array.isArray(setting)) return {};
  const { min, max } = setting as { readonly min?: Json; readonly max?: Json };
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return {};
  return { mend: { text: writeValue({ ...setting, min: max, max: min }) } };
}

export function readOffset(error: Error): number {
  return (error.cause as { offset?: number } | undefined)?.offset ?? 0;
}
