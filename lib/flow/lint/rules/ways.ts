// Ways on that are never taken, and places where none may be left.

import { nameOf, sentence, shown } from '../../format/finding.ts';
import { pointerTo } from '../../format/source.ts';
import type { Rule } from '../rule.ts';

export const wayRules: readonly Rule[] = [
  {
    code: 'shadowed-way',
    severity: 'error',
    means: 'a way stands behind one that is always taken',
    *find({ parts }) {
      for (const { pointer, ways } of parts.ways) {
        const first = ways.findIndex((way) => way.when === undefined);
        if (first < 0 || first === ways.length - 1) continue;
        const [place, taken] = [`${pointer}/${first + 1}`, nameOf(`${pointer}/${first}`)];
        const message = `${sentence(nameOf(place))} is never taken: ${taken}, to "${ways[first]!.to}", has no "when" and comes first.`;
        const fix = `Move the way to "${ways[first]!.to}" to the end, or give it a "when".`;
        yield { pointer: place, message, fix };
      }
    },
  },
  {
    code: 'no-else',
    severity: 'error',
    means: 'every way has a condition, so that there may be none',
    *find({ parts }) {
      for (const { pointer, ways } of parts.ways) {
        const last = ways.at(-1);
        if (!last || ways.some((way) => way.when === undefined)) continue;
        const place = `${pointer}/${ways.length - 1}`;
        const message = `${sentence(nameOf(place))} has the condition ${shown(last.when)}; when no condition holds there is no way on.`;
        const fix = `Add a last way without "when" after the one to "${last.to}".`;
        yield { pointer: place, message, fix };
      }
    },
  },
  {
    code: 'constant-when',
    severity: 'warning',
    means: 'a condition without a variable, which is always the same',
    *find({ parts }) {
      for (const { pointer, role, source, compiled } of parts.expressions) {
        if (role !== 'condition' || !compiled.ok || compiled.value.names.length) continue;
        const message = `${sentence(nameOf(pointer))} is ${shown(source)}: no variable is in it, so it never changes.`;
        yield { pointer, message, fix: `Remove ${shown(source)}, or compare a variable.` };
      }
    },
  },
  {
    code: 'attempts-without-else',
    severity: 'error',
    means: 'an input counts refused answers, and does not say where the last one leads',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'input' || screen.attempts === undefined || screen.else !== undefined) continue;
        const message = `Screen "${id}" allows ${screen.attempts} attempts, and does not say what comes after them.`;
        yield { pointer: pointerTo('screens', id, 'attempts'), message, fix: `Add "else": a screen id, to "${id}".` };
      }
    },
  },
  {
    code: 'else-without-attempts',
    severity: 'warning',
    means: 'an input says where it leads after the last attempt, and allows any number of them',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'input' || screen.attempts !== undefined || screen.else === undefined) continue;
        const message = `Screen "${id}" never goes on to "${screen.else}": it sets no "attempts".`;
        yield {
          pointer: pointerTo('screens', id, 'else'),
          message,
          fix: `Add "attempts": 3 to "${id}", or remove "else".`,
        };
      }
    },
  },
];
