// Texts in several languages, and the characters that phones can show.

import { nameOf, sentence, shown } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { nonGsm7 } from '../../run/gsm7.ts';
import { didYouMean, type Rule } from '../rule.ts';

export const languageRules: readonly Rule[] = [
  {
    code: 'missing-lang',
    severity: 'error',
    means: 'a text is written in some languages of the flow and not in all',
    *find({ parts, langs }) {
      for (const { pointer, text } of parts.texts) {
        if (typeof text === 'string') continue;
        const missing = langs.filter((lang) => !Object.hasOwn(text, lang));
        if (!missing.length) continue;
        const message = `${sentence(nameOf(pointer))} has no text in ${missing.map((lang) => `"${lang}"`).join(', ')}.`;
        const [lang, given] = Object.entries(text)[0]!;
        const fix = `Add ${missing.map((one) => `"${one}": …`).join(', ')} beside "${lang}": ${shown(given)}.`;
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
        const message = `${sentence(nameOf(pointer))} is never shown: "${lang}" is not in "langs" (${langs.join(', ')}).`;
        const fix = `Add "${lang}" to "langs", or remove this text.`;
        yield { pointer, at: 'key', message: message + didYouMean(nearest(lang, langs)), fix };
      }
    },
  },
  {
    code: 'lang-variable',
    severity: 'warning',
    means:
      'a flow in several languages has no variable `lang` that chooses one, or begins it with a language it has not',
    *find({ flow, langs, vars }) {
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
        yield { pointer: pointerTo('vars', 'lang', 'default'), message, fix: `Write one of: ${langs.join(', ')}.` };
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
          .map((one) => shown(one))
          .join(', ');
        const message = `${sentence(nameOf(pointer))} has ${characters}: a screen with it holds 80 characters, not 182.`;
        const fix = `Replace ${characters}, or set "limits": { "charset": "any" } if it is meant.`;
        yield { pointer, at: source.indexOf(found[0]!), message, fix };
      }
    },
  },
];
