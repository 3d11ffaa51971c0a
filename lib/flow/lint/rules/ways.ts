// Ways on: conditions that never hold or leave none, options of menus, and the keys that callers press.

import { toAsciiDigits } from '../../expression/values.ts';
import { DEFAULT_KEYS, type Keys, type MenuScreen, type NavigationKey } from '../../format/flow.ts';
import { capitalize, describePlace, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import type { LintRule, RuleFinding } from '../rule.ts';

export const wayRules: readonly LintRule[] = [
  {
    code: 'shadowed-way',
    severity: 'error',
    means: 'a way stands behind one that is always taken',
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
    means: 'every way has a condition, so that there may be none',
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
    code: 'constant-when',
    severity: 'warning',
    means: 'a condition without a variable, which is always the same',
    *find({ parts }) {
      for (const { pointer, role, source, compiled } of parts.expressions) {
        if (role !== 'condition' || !compiled.ok || compiled.value.names.length) continue;
        const message = `${capitalize(describePlace(pointer))} is ${showValue(source)}: no variable is in it, so it never changes.`;
        yield { pointer, message, fix: `Remove ${showValue(source)}, or compare a variable.` };
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
  {
    code: 'dup-option',
    severity: 'error',
    means: 'two options of a menu have the same id',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'menu') continue;
        const seen = new Set<string>();
        const ids = screen.options.map((option) => option.id);
        for (const [at, option] of screen.options.entries()) {
          const message = `Menu "${id}" has two options with the id "${option.id}"; only one could be chosen.`;
          const pointer = pointerTo('screens', id, 'options', at, 'id');
          const name = nameOption(option);
          const mend = name !== undefined && !ids.includes(name) && { mend: { text: JSON.stringify(name) } };
          if (seen.has(option.id)) yield { pointer, message, fix: `Rename one option "${option.id}".`, ...mend };
          seen.add(option.id);
        }
      }
    },
  },
  {
    code: 'key-clash',
    severity: 'error',
    means: 'one key would do two things',
    *find({ flow, keys }) {
      yield* navigationClashes(keys, flow.keys ?? {});
      for (const [id, screen] of Object.entries(flow.screens))
        if (screen.type === 'menu') yield* menuClashes(id, screen, keys);
    },
  },
  {
    code: 'hidden-without-key',
    severity: 'error',
    means: 'an option is hidden and has no key of its own, so that nobody can know what to press',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'menu') continue;
        for (const [at, option] of screen.options.entries()) {
          if (!option.hidden || option.key !== undefined) continue;
          const message = `Option "${option.id}" of menu "${id}" is hidden and has no "key".`;
          const fix = `Add "key": "*", or any other key, to "${option.id}"; or remove "hidden".`;
          yield { pointer: pointerTo('screens', id, 'options', at, 'hidden'), message, fix };
        }
      }
    },
  },
];

const isSame = (one: string, other: string) => one.replace(/\s+/g, '') === other.replace(/\s+/g, '');

// By what it says in its first language.
function nameOption({ text }: MenuScreen['options'][number]): string | undefined {
  const words = /[A-Za-z]+(?: [A-Za-z]+)*/.exec(typeof text === 'string' ? text : (Object.values(text)[0] ?? ''))?.[0];
  const [first, ...rest] = words?.toLowerCase().split(' ').slice(0, 4) ?? [];
  return first === undefined ? undefined : first + rest.map(capitalize).join('');
}

const NAVIGATION: readonly NavigationKey[] = ['back', 'home', 'more', 'exit'];

// A key in other digits is the same to a caller.
const isSameKey = (one: string | false, other: string | false) =>
  one !== false && other !== false && toAsciiDigits(one) === toAsciiDigits(other);

function* navigationClashes(keys: Keys, own: { readonly [key in NavigationKey]?: unknown }): Iterable<RuleFinding> {
  for (const [at, name] of NAVIGATION.entries()) {
    const other = NAVIGATION.slice(0, at).find((one) => isSameKey(keys[one], keys[name]));
    if (other === undefined) continue;
    const mine = Object.hasOwn(own, name) ? name : other;
    const message = `The key "${keys[name]}" is both ${other} and ${name}.`;
    const usual = DEFAULT_KEYS[mine];
    const isFree = usual !== false && !Object.values(keys).includes(usual);
    yield {
      pointer: pointerTo('keys', mine),
      message,
      fix: `Give ${mine} another key than "${keys[name]}", or false.`,
      ...(isFree && { mend: { text: JSON.stringify(usual) } }),
    };
  }
}

function* menuClashes(id: string, { options }: MenuScreen, keys: Keys): Iterable<RuleFinding> {
  const taken = new Map<string, string>();
  for (const name of NAVIGATION) if (keys[name] !== false) taken.set(toAsciiDigits(keys[name]), `the key ${name}`);
  let number = 0;
  for (const [at, option] of options.entries()) {
    if (option.key !== undefined) continue;
    number++;
    const other = taken.get(String(number));
    const pointer = pointerTo('screens', id, 'options', at);
    const message = `Option "${option.id}" of menu "${id}" would be number ${number}, and "${number}" is ${other}.`;
    if (other) yield { pointer, message, fix: `Give ${other} another key than "${number}" in "keys".` };
  }
  for (let one = 1; one <= number; one++) taken.set(String(one), `the number of another option`);
  for (const [at, option] of options.entries()) {
    if (option.key === undefined) continue;
    const other = taken.get(toAsciiDigits(option.key));
    const pointer = pointerTo('screens', id, 'options', at, 'key');
    const message = `Option "${option.id}" of menu "${id}" has the key "${option.key}", which is ${other} too.`;
    if (other) yield { pointer, message, fix: `Give option "${option.id}" another key than "${option.key}".` };
    taken.set(toAsciiDigits(option.key), `the key of option "${option.id}"`);
  }
}
