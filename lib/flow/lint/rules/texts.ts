// Texts and rules of inputs that cannot be compiled, texts in several languages, and the characters that phones can show.

import type { Json } from '../../../store/store.ts';
import { FILTERS } from '../../expression/filters.ts';
import { findNearest } from '../../expression/suggest.ts';
import { capitalize, describePlace, type Mend, showValue, writeValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { ACCEPT_RULES, compileAccept } from '../../run/accept.ts';
import { nonGsm7 } from '../../run/render.ts';
import { didYouMean, type LintRule, type RuleFinding } from '../rule.ts';

export const textRules: readonly LintRule[] = [
  {
    code: 'template',
    severity: 'error',
    means: 'a text with {{ }} cannot be read',
    find: ({ parts }) => wordingFaults(parts.wordings, false),
  },
  {
    code: 'filter',
    severity: 'error',
    means: 'a text uses a filter that does not exist, or gives it the wrong arguments',
    find: ({ parts }) => wordingFaults(parts.wordings, true),
  },
  {
    code: 'accept',
    severity: 'error',
    means: 'the rule of an input can accept nothing, or cannot be read',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'input' || !screen.accept) continue;
        const { sameAs, ...rules } = screen.accept;
        const pointer = pointerTo('screens', id, 'accept');
        const single = Object.entries(rules).flatMap(([name, setting]) =>
          acceptFault(pointer + pointerTo(name), { [name]: setting }),
        );
        yield* single.length || !Object.keys(rules).length ? single : acceptFault(pointer, rules);
      }
    },
  },
  {
    code: 'missing-lang',
    severity: 'error',
    means: 'a text is written in some languages of the flow and not in all',
    *find({ parts, langs }) {
      for (const { pointer, text } of parts.texts) {
        if (typeof text === 'string') continue;
        const missing = langs.filter((lang) => !Object.hasOwn(text, lang));
        if (!missing.length) continue;
        const message = `${capitalize(describePlace(pointer))} has no text in ${missing.map((lang) => `"${lang}"`).join(', ')}.`;
        const [lang, given] = Object.entries(text)[0]!;
        const fix = `Add ${missing.map((one) => `"${one}": …`).join(', ')} beside "${lang}": ${showValue(given)}.`;
        yield { pointer, message, fix };
      }
    },
  },
  {
    code: 'unknown-lang',
    severity: 'warning',
    means: 'a text is written in a language that the flow does not list',
    *find({ parts, langs, nearest }) {
      for (const { pointer, lang } of parts.wordings) {
        if (lang === undefined || langs.includes(lang)) continue;
        const message = `${capitalize(describePlace(pointer))} is never shown: "${lang}" is not in "langs" (${langs.join(', ')}).`;
        const fix = `Add "${lang}" to "langs", or remove this text.`;
        yield { pointer, at: 'key', message: message + didYouMean(nearest(lang, langs)), fix };
      }
    },
  },
  {
    code: 'lang-variable',
    severity: 'warning',
    means:
      'a flow in several languages has no variable `lang` that is set to one, or begins it with a language it has not',
    *find({ flow, langs, vars, parts, graph, flows }) {
      if (flow.langs === undefined || langs.length < 2) return;
      const lang = vars.get('lang');
      const begin = lang?.default;
      if (!lang) {
        const message = `The flow has the languages ${langs.join(', ')}, and no variable "lang": every caller reads "${langs[0]}".`;
        yield {
          pointer: '/langs',
          message,
          fix: `Add "lang": { "type": "string", "default": "${langs[0]}" } to "vars".`,
        };
      } else if (typeof begin === 'string' && !langs.includes(begin)) {
        const message = `Variable "lang" begins as "${begin}", which is not in "langs"; callers read "${langs[0]}".`;
        const fix = `Write one of: ${langs.join(', ')}.`;
        // What callers read stays as it is.
        const mend = { text: JSON.stringify(langs[0]) };
        yield { pointer: pointerTo('vars', 'lang', 'default'), message, fix, mend };
      } else if (
        flows &&
        !graph.isCalled &&
        !parts.writes.some(({ name, of }) => name === 'lang' && of === undefined)
      ) {
        const read = typeof begin === 'string' ? begin : langs[0];
        const others = langs.filter((one) => one !== read);
        const message = `Nothing sets the variable "lang": every caller reads "${read}", and no text in ${others.join(', ')} is ever shown.`;
        const fix = `Let an option choose: "set": { "lang": "${others[0]}" }.`;
        yield { pointer: pointerTo('vars', 'lang'), at: 'key', message, fix };
      }
    },
  },
  {
    code: 'non-gsm',
    severity: 'warning',
    means: 'a text has characters outside the GSM alphabet, so that its screen holds less than half',
    *find({ flow, parts }) {
      if (flow.limits?.charset === 'any') return;
      for (const { pointer, source, compiled } of parts.wordings) {
        const found = compiled.ok ? nonGsm7(source) : [];
        if (!found.length) continue;
        const characters = found
          .slice(0, 10)
          .map((one) => showValue(one))
          .join(', ');
        const message = `${capitalize(describePlace(pointer))} has ${characters}: a screen with it holds 80 characters, not 182.`;
        const fix = `Replace ${characters}, or set "limits": { "charset": "any" } if it is meant.`;
        const isTypeset = found.every((one) => TYPESET.has(one));
        const mend = isTypeset && { mend: { text: JSON.stringify(typePlain(source)) } };
        yield { pointer, at: source.indexOf(found[0]!), message, fix, ...mend };
      }
    },
  },
];

/** Signs that word processors put in the place of those of a keyboard. */
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
    const fix = isFilter ? `Filters: ${usages.join(', ')}.` : 'Write {{name}} or {{name|filter}}; \\{{ prints braces.';
    const written = /^[A-Za-z_]\w*/.exec(source.slice(offset))?.[0] ?? '';
    const meant = isFilter && !Object.hasOwn(FILTERS, written) ? findNearest(written, Object.keys(FILTERS)) : undefined;
    const mend = meant?.isAlone
      ? { old: written, text: meant.name }
      : (mendCurrency(source.slice(offset)) ?? mendBraces(source, offset));
    yield { pointer, at: offset, message: compiled.error.message, fix, ...(mend && { mend }) };
  }
}

function mendCurrency(rest: string): Mend | undefined {
  const [old] = /^money:\s*[A-Za-z]{3}(?=\s*[|}])/.exec(rest) ?? [];
  return old === undefined ? undefined : { old, text: old.slice(0, -3) + old.slice(-3).toUpperCase() };
}

// One brace too many at both ends, or one too few at the end.
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

// A range whose ends are the wrong way round.
function mendRange([setting, ...others]: readonly Json[]): { readonly mend?: Mend } {
  if (others.length || setting === null || typeof setting !== 'object' || Array.isArray(setting)) return {};
  const { min, max } = setting as { readonly min?: Json; readonly max?: Json };
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return {};
  return { mend: { text: writeValue({ ...setting, min: max, max: min }) } };
}

export function readOffset(error: Error): number {
  return (error.cause as { offset?: number } | undefined)?.offset ?? 0;
}
