// Ways on: conditions that never hold or leave none, options of menus, and the keys that callers press.

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
    code: 'key-clash',
    severity: 'error',
    means: 'one key would do two things',
    *find({ flow, keys }) {
      yield* navigationClashes(keys, flow.keys ?? {});
      for (const [id, screen] of Object.entries(flow.screens))
        if (screen.type === 'menu') yield* menuClashes(id, screen, keys);
    },
  },
];

const isSame = (one: string, other: string) => one.replace(/\s+/g, '') === other.replace(/\s+/g, '');

const NAVIGATION: readonly NavigationKey[] = ['back', 'home', 'more', 'exit'];

function* navigationClashes(keys: Keys, own: { readonly [key in NavigationKey]?: unknown }): Iterable<RuleFinding> {
  for (const [at, name] of NAVIGATION.entries()) {
    const other = NAVIGATION.slice(0, at).find((one) => keys[one] !== false && keys[one] === keys[name]);
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
  const uses = new Map<string, string>();
  for (const name of NAVIGATION) if (keys[name] !== false) uses.set(keys[name], `the key ${name}`);
  let number = 0;
  for (const [at, option] of options.entries()) {
    if (option.key !== undefined) continue;
    number++;
    const other = uses.get(String(number));
    const pointer = pointerTo('screens', id, 'options', at);
    const message = `Option "${option.id}" of menu "${id}" would be number ${number}, and "${number}" is ${other}.`;
    if (other) yield { pointer, message, fix: `Give ${other} another key than "${number}" in "keys".` };
  }
  for (let one = 1; one <= number; one++) uses.set(String(one), `the number of another option`);
  for (const [at, option] of options.entries()) {
    if (option.key === undefined) continue;
    const other = uses.get(option.key);
    const pointer = pointerTo('screens', id, 'options', at, 'key');
    const message = `Option "${option.id}" of menu "${id}" has the key "${option.key}", which is ${other} too.`;
    if (other) yield { pointer, message, fix: `Give option "${option.id}" another key than "${option.key}".` };
    uses.set(option.key, `the key of option "${option.id}"`);
  }
}
