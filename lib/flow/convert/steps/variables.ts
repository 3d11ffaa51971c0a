// Collects the variables of a converted flow: types, and which to drop if nothing reads them.

import type { Variable } from '../../format/flow.ts';
import type { FlowExpression, ValueKind } from '../excellent/made.ts';
import { makeVariableName, uniqueNames } from '../names.ts';

export interface Variables {
  /** The variable for a source key, such as `results favorite_color`. */
  name(key: string, wish: string, variable?: VariableWish): string;
  /** The variable with this name. */
  declare(name: string, variable: Variable): string;
  /** A new variable for a computed value. */
  compute(kind: ValueKind): string;
  read(name: string): FlowExpression;
  /** Declares that a variable holds numbers. */
  makeNumber(name: string): void;
  readonly all: ReadonlyMap<string, Variable>;
  readonly derived: ReadonlySet<string>;
}

export interface VariableWish extends Partial<Variable> {
  /** Dropped, with its assignments, if nothing reads it. */
  readonly isDerived?: boolean;
}

const KINDS: { readonly [type in Variable['type']]: ValueKind } = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'object',
};

export function makeVariables(): Variables {
  const all = new Map<string, Variable>();
  const derived = new Set<string>();
  const names = new Map<string, string>();
  const unique = uniqueNames(['lang', 'phoneNumber']);
  const declare = (name: string, variable: Variable): string => {
    if (!all.has(name)) all.set(name, variable);
    return name;
  };
  return {
    all,
    derived,
    declare,
    name: (key, wish, { isDerived, type = 'string', ...more } = {}) => {
      const existing = names.get(key);
      if (existing !== undefined) return existing;
      const name = unique(makeVariableName(wish));
      names.set(key, name);
      if (isDerived) derived.add(name);
      return declare(name, { type, ...more });
    },
    compute: (kind) => {
      const name = unique('shown');
      return declare(name, { type: kind === 'number' ? 'number' : kind === 'boolean' ? 'boolean' : 'string' });
    },
    makeNumber: (name) => all.set(name, { ...all.get(name), type: 'number' }),
    read: (name) => ({ source: name, kind: KINDS[all.get(name)?.type ?? 'string'], isTight: true }),
  };
}
