// Names of screens, variables and options.

import { isRefusedName } from '../../expression/path.ts';
import { type Flow, isName } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import type { Rule, RuleFinding } from '../rule.ts';

interface Named {
  readonly what: 'screen' | 'variable' | 'option';
  readonly name: string;
  readonly pointer: string;
  readonly isKey: boolean;
}

// Words of the expression language, and the names that rows and failures bring along.
const WORDS = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null']);
const BROUGHT = new Set(['row', 'error']);

export const nameRules: readonly Rule[] = [
  {
    code: 'bad-name',
    severity: 'error',
    means: 'the name of a screen, variable or option has other characters than letters, digits and _',
    *find({ flow }) {
      for (const { what, name, ...place } of namesOf(flow)) {
        if (isName(name) || isTaken(what, name)) continue;
        const fix = `Rename "${name}": a letter first, then letters, digits and _, at most 64.`;
        yield finding(place, `${what} "${name}" has a name that cannot be used.`, fix);
      }
    },
  },
  {
    code: 'reserved-name',
    severity: 'error',
    means: 'the name of a screen, variable or option means something else already',
    *find({ flow }) {
      for (const { what, name, ...place } of namesOf(flow)) {
        const why = isTaken(what, name);
        if (why) yield finding(place, `${what} "${name}" has a reserved name: ${why}.`, `Rename "${name}".`);
      }
    },
  },
];

function finding({ pointer, isKey }: Pick<Named, 'pointer' | 'isKey'>, message: string, fix: string): RuleFinding {
  return { pointer, ...(isKey && { at: 'key' }), message: message.charAt(0).toUpperCase() + message.slice(1), fix };
}

function isTaken(what: Named['what'], name: string): string | undefined {
  if (name in Object.prototype || isRefusedName(name)) return 'every JavaScript object has it';
  if (what !== 'variable') return undefined;
  if (WORDS.has(name.toLowerCase())) return 'it is a word of the expression language';
  return BROUGHT.has(name) ? 'it is what rows and failures are called' : undefined;
}

function* namesOf(flow: Flow): Iterable<Named> {
  for (const name of Object.keys(flow.vars ?? {}))
    yield { what: 'variable', name, pointer: pointerTo('vars', name), isKey: true };
  for (const [id, screen] of Object.entries(flow.screens)) {
    yield { what: 'screen', name: id, pointer: pointerTo('screens', id), isKey: true };
    if (screen.type !== 'menu') continue;
    for (const [at, option] of screen.options.entries())
      yield { what: 'option', name: option.id, pointer: pointerTo('screens', id, 'options', at, 'id'), isKey: false };
  }
}
