// Ways that are never taken or may all be false, and options with the same text or a typed number.

import type { Option, Text } from '../../format/flow.ts';
import { capitalize, describePlace, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { listOptions, nameOption } from '../../screens/option.ts';
import type { LintRule } from '../rule.ts';

export const wayRules: readonly LintRule[] = [
  {
    code: 'shadowed-way',
    severity: 'error',
    means: 'a way comes after one that is always taken',
    *find({ parts }) {
      for (const { pointer, ways } of parts.ways) {
        for (const [at, { when, to }] of ways.entries()) {
          const same =
            when === undefined ? -1 : ways.findIndex((way) => way.when !== undefined && isSame(way.when, when));
          if (same < 0 || same === at) continue;
          const message = `${capitalize(describePlace(`${pointer}/${at}`))}, to "${to}", is never taken: ${describePlace(`${pointer}/${same}`)} has the same condition and comes first.`;
          yield {
            pointer: `${pointer}/${at}/when`,
            message,
            fix: `Write another condition than ${showValue(when)}, or remove the way.`,
          };
        }
        const first = ways.findIndex((way) => way.when === undefined);
        if (first < 0 || first === ways.length - 1) continue;
        const [place, taken] = [`${pointer}/${first + 1}`, describePlace(`${pointer}/${first}`)];
        const message = `${capitalize(describePlace(place))} is never taken: ${taken}, to "${ways[first]!.to}", has no "when" and comes first.`;
        const fix = `Move the way to "${ways[first]!.to}" to the end, or give it a "when".`;
        yield { pointer: place, message, fix };
      }
    },
  },
  {
    code: 'no-else',
    severity: 'error',
    means: 'every way has a condition, so none may hold',
    *find({ parts }) {
      for (const { pointer, ways } of parts.ways) {
        const last = ways.at(-1);
        if (!last || ways.some((way) => way.when === undefined)) continue;
        const place = `${pointer}/${ways.length - 1}`;
        const message = `${capitalize(describePlace(place))} has the condition ${showValue(last.when)}; when no condition holds there is no way on.`;
        const fix = `Add a last way without "when" after the one to "${last.to}".`;
        yield { pointer: place, message, fix };
      }
    },
  },
  {
    code: 'lost-error',
    severity: 'error',
    means: 'a way has an error, and leads to a screen that asks for no answer',
    *find({ flow, parts }) {
      for (const { pointer, ways } of parts.ways)
        for (const [at, { to, error }] of ways.entries()) {
          const type = flow.screens[to]?.type;
          if (error === undefined || type === undefined || type === 'input') continue;
          const place = `${pointer}/${at}`;
          const message = `${capitalize(describePlace(place))} refuses an answer with an "error", and "${to}" is a screen of the type "${type}", which asks for none.`;
          yield {
            pointer: `${place}/error`,
            message,
            fix: 'Lead to the "input" screen of the answer, or remove "error".',
          };
        }
    },
  },
  {
    code: 'constant-when',
    severity: 'warning',
    means: 'a condition without variables is constant',
    *find({ parts }) {
      for (const { pointer, role, source, compiled } of parts.expressions) {
        if (role !== 'condition' || !compiled.ok || compiled.value.names.length || READS_CLOCK.test(source)) continue;
        const message = `${capitalize(describePlace(pointer))} is ${showValue(source)}: no variable is in it, so it never changes.`;
        yield { pointer, message, fix: `Remove ${showValue(source)}, or compare a variable.` };
      }
    },
  },
  {
    code: 'counted-again',
    severity: 'warning',
    means: 'a call changes a variable by its own value; Back does not undo that, so it is changed again',
    *find({ flow, parts, graph }) {
      for (const { pointer, screen: id, into, compiled } of parts.expressions) {
        if (id === undefined || !AFTER_CALL.test(pointer) || flow.screens[id]?.type !== 'call') continue;
        if (typeof into !== 'object' || !compiled.ok || !compiled.value.names.includes(into.name)) continue;
        if (!graph.depth.get(id)) continue;
        const message = `${capitalize(describePlace(pointer))} changes "${into.name}" by its own value after the call "${id}". Back undoes no call: whoever goes back and on again changes it twice.`;
        const fix = `Set "${into.name}" where the caller answers, compute it from what the service answers, or write "back": false on the screen after "${id}".`;
        yield { pointer, message, fix };
      }
    },
  },
  {
    code: 'dup-option',
    severity: 'error',
    means: 'two options of a screen have the same id',
    *find({ flow }) {
      for (const [owner, screen] of Object.entries(flow.screens)) {
        const options = listOptions(screen);
        // What choosing a row of a list is called.
        const ids = [...(screen.type === 'list' && screen.pick ? ['pick'] : []), ...options.map(({ id }) => id)];
        const before = ids.length - options.length;
        for (const [at, option] of options.entries()) {
          const twin = ids.indexOf(option.id);
          if (twin === at + before) continue;
          const message =
            twin < before
              ? `The list "${owner}" has an option with the id "pick", which is what choosing a row is called.`
              : `The ${screen.type} "${owner}" has two options with the id "${option.id}"; only one could be chosen.`;
          const name = nameOption(option);
          const mend = name !== undefined && !ids.includes(name) && { mend: { text: JSON.stringify(name) } };
          const fix = `Rename ${twin < before ? 'the' : 'one'} option "${option.id}".`;
          yield { pointer: pointerTo('screens', owner, 'options', at, 'id'), message, fix, ...mend };
        }
      }
    },
  },
  {
    code: 'hidden-without-key',
    severity: 'error',
    means: 'a hidden option has neither a key nor words, so callers cannot choose it',
    *find({ flow }) {
      for (const [owner, screen] of Object.entries(flow.screens))
        for (const [at, { id, key, words, hidden }] of listOptions(screen).entries()) {
          if (!hidden || key !== undefined || words) continue;
          const message = `Option "${id}" of ${screen.type} "${owner}" is hidden and has no "key".`;
          const fix = `Add "key": "*", or any other key, or "words" to "${id}"; or remove "hidden".`;
          yield { pointer: pointerTo('screens', owner, 'options', at, 'hidden'), message, fix };
        }
    },
  },
  {
    code: 'same-words',
    severity: 'warning',
    means: 'two options of a screen have the same text',
    *find({ flow, langs }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        // Options with conditions may exclude each other.
        const entries = [...listOptions(screen).entries()].filter(
          ([, { when, hidden: isHidden }]) => when === undefined && !isHidden,
        );
        for (const [place, [at, option]] of entries.entries()) {
          const isTwin = (lang: string, text: Text) => {
            const mine = readWords(option.text, lang)?.toLowerCase();
            return mine !== undefined && mine === readWords(text, lang)?.toLowerCase();
          };
          const twin = entries.slice(0, place).find(([, { text }]) => langs.some((lang) => isTwin(lang, text)))?.[1];
          const lang = twin && langs.find((one) => isTwin(one, twin.text));
          if (lang === undefined) continue;
          const words = showValue(readWords(option.text, lang));
          const message = `Options "${twin!.id}" and "${option.id}" of ${screen.type} "${id}" both say ${words}.`;
          const fix = 'Write for one of them what it does otherwise, or remove it.';
          yield { pointer: pointerTo('screens', id, 'options', at, 'text'), message, fix };
        }
      }
    },
  },
  {
    code: 'typed-number',
    severity: 'warning',
    means: 'the text of an option starts with its number, which the screen prints anyway',
    *find({ flow, parts }) {
      for (const { pointer, source } of parts.wordings) {
        const [, id, at] = /^\/screens\/([^/]+)\/options\/(\d+)\/text(?:\/|$)/.exec(pointer) ?? [];
        const [typed, number] = NUMBERED.exec(source) ?? [];
        const screen = id === undefined ? undefined : flow.screens[id];
        // Below rows to choose from, numbers are known at run time only.
        if (typed === undefined || !screen || (screen.type === 'list' && screen.pick)) continue;
        if (number !== readNumber(listOptions(screen), Number(at))) continue;
        const message = `${capitalize(describePlace(pointer))} begins with ${showValue(typed)}: callers read "${number}. ${source}".`;
        yield { pointer, at: 0, message, fix: `Remove ${showValue(typed)}.`, mend: { old: typed, text: '' } };
      }
    },
  },
];

// Functions without arguments: now() and today().
const READS_CLOCK = /\(\s*\)/;
const AFTER_CALL = /^\/screens\/[^/]+\/(?:done|fail)\//;

const isSame = (one: string, other: string) => one.replace(/\s+/g, '') === other.replace(/\s+/g, '');

function readWords(text: Text, lang: string): string | undefined {
  return (typeof text === 'string' ? text : text[lang])?.trim();
}

const NUMBERED = /^(\d{1,2})\s?[.):-]\s+(?=\S)/;

/** The number or key printed before an option. */
function readNumber(options: readonly Option[], at: number): string {
  const own = options[at]?.key;
  return own ?? String(options.slice(0, at + 1).filter(({ key }) => key === undefined).length);
}
