// What options of menus say: the same twice, or a number that the menu writes already.

import type { Option, Text } from '../../format/flow.ts';
import { capitalize, describePlace, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import type { LintRule } from '../rule.ts';

export const optionRules: readonly LintRule[] = [
  {
    code: 'same-words',
    severity: 'warning',
    means: 'two options of a menu say the same, so that callers cannot tell them apart',
    *find({ flow, langs }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'menu') continue;
        // Of options that conditions show, only one may be there.
        const shown = [...screen.options.entries()].filter(
          ([, { when, hidden: isHidden }]) => when === undefined && !isHidden,
        );
        for (const [place, [at, option]] of shown.entries()) {
          const isTwin = (lang: string, text: Text) => {
            const mine = readWords(option.text, lang)?.toLowerCase();
            return mine !== undefined && mine === readWords(text, lang)?.toLowerCase();
          };
          const twin = shown.slice(0, place).find(([, { text }]) => langs.some((lang) => isTwin(lang, text)))?.[1];
          const lang = twin && langs.find((one) => isTwin(one, twin.text));
          if (lang === undefined) continue;
          const words = showValue(readWords(option.text, lang));
          const message = `Options "${twin!.id}" and "${option.id}" of menu "${id}" both say ${words}.`;
          const fix = 'Write for one of them what it does otherwise, or remove it.';
          yield { pointer: pointerTo('screens', id, 'options', at, 'text'), message, fix };
        }
      }
    },
  },
  {
    code: 'typed-number',
    severity: 'warning',
    means: 'the text of an option begins with its number, which the menu writes too',
    *find({ flow, parts }) {
      for (const { pointer, source } of parts.wordings) {
        const [, id, at] = /^\/screens\/([^/]+)\/options\/(\d+)\/text(?:\/|$)/.exec(pointer) ?? [];
        const [typed, number] = NUMBERED.exec(source) ?? [];
        const screen = id === undefined ? undefined : flow.screens[id];
        if (typed === undefined || screen?.type !== 'menu' || number !== readNumber(screen.options, Number(at)))
          continue;
        const message = `${capitalize(describePlace(pointer))} begins with ${showValue(typed)}: callers read "${number}. ${source}".`;
        yield { pointer, at: 0, message, fix: `Remove ${showValue(typed)}.`, mend: { old: typed, text: '' } };
      }
    },
  },
];

function readWords(text: Text, lang: string): string | undefined {
  return (typeof text === 'string' ? text : text[lang])?.trim();
}

const NUMBERED = /^(\d{1,2})\s?[.):-]\s+(?=\S)/;

/** The number or key that the menu writes before an option. */
function readNumber(options: readonly Option[], at: number): string {
  const own = options[at]?.key;
  return own ?? String(options.slice(0, at + 1).filter(({ key }) => key === undefined).length);
}
