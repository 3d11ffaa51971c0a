// The longest values that a screen may have to show: declared sizes, samples, and guesses where nothing is declared.

import type { Json } from '../../store/store.ts';
import type { TemplatePath } from '../expression/template.ts';
import type { Variable } from '../format/flow.ts';

const GUESSED_CHARACTERS = 20;
const GUESSED_NUMBER = 1_234_567.89;
const GUESSED_DATE = '2024-12-31';
const GUESSED_ITEMS = 99;
/** A longer text needs many pages anyway. */
const CHARACTERS_MAX = 1_000;

type Scope = { [name: string]: Json };

/** Variables for rendering: whatever these paths print is as long as it may become. */
export function longestScope(paths: Iterable<TemplatePath>, vars: ReadonlyMap<string, Variable>): Scope {
  const scope: Scope = {};
  for (const { path, root, filters } of paths) {
    const steps = path.match(/\w+/g)!;
    const variable = vars.get(root);
    if (!Object.hasOwn(scope, root) && typeof variable?.sample === 'object')
      scope[root] = structuredClone(variable.sample);
    place(scope, steps, steps.length === 1 && variable ? longestOf(variable, filters) : guess(filters));
  }
  return scope;
}

function longestOf({ type, max, sample, default: initial }: Variable, filters: readonly string[]): Json {
  switch (type) {
    case 'string': {
      if (BY_FILTER[filters[0] ?? '']) return sample ?? guess(filters);
      if (max !== undefined) return 'W'.repeat(Math.min(max, CHARACTERS_MAX));
      const known = [sample, initial].filter((one) => typeof one === 'string');
      return known.sort((a, b) => b.length - a.length)[0] ?? guess(filters);
    }
    case 'number':
      return sample ?? guess(['number']);
    case 'boolean':
      return false;
    case 'array':
      return sample ?? Array<Json>(Math.min(max ?? GUESSED_ITEMS, CHARACTERS_MAX)).fill(null);
    case 'object':
      return sample ?? null;
  }
}

const BY_FILTER: { readonly [filter: string]: Json } = {
  money: GUESSED_NUMBER,
  number: GUESSED_NUMBER,
  plural: 2,
  date: GUESSED_DATE,
  count: Array<Json>(GUESSED_ITEMS).fill(null),
};

function guess(filters: readonly string[]): Json {
  return BY_FILTER[filters[0] ?? ''] ?? 'W'.repeat(GUESSED_CHARACTERS);
}

// What is there already stays: a sample is closer to the truth than a guess.
function place(scope: Scope, steps: readonly string[], value: Json): void {
  let here: Scope = scope;
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    const before = Object.hasOwn(here, step) ? here[step] : undefined;
    if (before !== undefined && (isLast || before === null || typeof before !== 'object')) return;
    if (isLast) here[step] = value;
    else {
      const inside = before ?? (/^\d/.test(steps[at + 1]!) ? [] : {});
      here[step] = inside;
      here = inside as Scope;
    }
  }
}
