// Variables that are not declared, not used or never set, and their defaults and samples.

import type { Json } from '../../../json/json.ts';
import { readTokens } from '../../expression/tokens.ts';
import { nameKind } from '../../expression/values.ts';
import { holdsValue, isName, type Variable } from '../../format/flow.ts';
import { DOOR_NAMES } from '../../format/names.ts';
import { capitalize, describePlace, type Mend, showValue } from '../../format/problem.ts';
import { parsePointer, pointerTo } from '../../format/source.ts';
import { ID_CHECKS, readId } from '../../run/id-checks.ts';
import { didYouMean, formatNames, type Lint, type LintRule, type RuleFinding } from '../rule.ts';
import { findRefusedSamples } from './answers.ts';

interface Use {
  readonly name: string;
  readonly pointer: string;
  readonly at?: 'key' | number;
  readonly also: readonly string[];
  /** Whether it is in an expression, where texts need quotes. */
  readonly isInExpression?: true;
  /** Whether a field of it is read: `.name` follows. */
  readonly hasField?: boolean;
}

export const variableRules: readonly LintRule[] = [
  {
    code: 'unknown-variable',
    severity: 'error',
    means: 'a variable is not declared',
    *find(lint) {
      for (const use of listReads(lint))
        if (!lint.vars.has(use.name) && !use.also.includes(use.name)) yield unknownVariable(lint, use);
      for (const { name, pointer, isKey, of } of lint.parts.writes) {
        const vars = of === undefined ? lint.vars : calledVars(lint, of);
        if (!vars || vars.has(name)) continue;
        yield unknownVariable(lint, { name, pointer, ...(isKey && { at: 'key' }), also: [] }, of);
      }
    },
  },
  {
    code: 'unused-variable',
    severity: 'warning',
    means: 'a variable is declared and never read',
    *find(lint) {
      const read = new Set(['lang', ...listReads(lint).map(({ name }) => name)]);
      const set = new Set(lint.parts.writes.filter(({ of }) => of === undefined).map(({ name }) => name));
      // An input needs a variable even if only its rule uses the answer.
      const checked = new Set(
        Object.values(lint.flow.screens).map((screen) => (screen.type === 'input' && screen.accept ? screen.save : '')),
      );
      const broken = [...lint.parts.expressions, ...lint.parts.wordings].filter(
        ({ compiled: expression }) => !expression.ok,
      );
      for (const name of lint.varNames) {
        if (read.has(name) || checked.has(name) || !isName(name) || broken.some(({ source }) => source.includes(name)))
          continue;
        const message = `Variable "${name}" is ${set.has(name) ? 'set, and nothing reads it' : 'never used'}.`;
        yield { pointer: pointerTo('vars', name), at: 'key', message, fix: `Use "${name}", or remove it.` };
      }
    },
  },
  {
    code: 'never-set',
    severity: 'warning',
    means: 'a variable is read and never set, so it is always null',
    *find(lint) {
      const { flows, vars, parts } = lint;
      if (!flows) return;
      const filled = new Set([...Object.keys(DOOR_NAMES), ...listGivenNames(lint)]);
      const free = Object.keys(DOOR_NAMES).filter((name) => !vars.has(name));
      const broken = parts.expressions.some(({ compiled: expression }) => !expression.ok);
      const reported = new Set<string>();
      if (broken) return;
      for (const { name, pointer } of listReads(lint)) {
        const variable = vars.get(name);
        if (!variable || filled.has(name) || variable.default !== undefined || reported.has(name) || name === 'lang')
          continue;
        reported.add(name);
        const door = lint.nearest(name, free);
        const place = describePlace(pointer);
        const message = `Variable "${name}" is always null: ${place} reads it, and nothing sets it.${didYouMean(door)}`;
        const fix =
          door === undefined
            ? `Set "${name}" before that with "save" or "set", or give it a "default".`
            : `Write "${door}" here and wherever it is read: that is what doors fill.`;
        yield { pointer: pointerTo('vars', name), at: 'key', message, fix };
      }
    },
  },
  {
    code: 'door-variable',
    severity: 'error',
    means: 'a variable that the server fills with a text is declared with another type',
    *find({ vars }) {
      for (const [name, { type }] of vars) {
        if (!Object.hasOwn(DOOR_NAMES, name) || type === 'string') continue;
        const message = `Variable "${name}" has the type "${type}", and doors fill it with a text, such as "${DOOR_NAMES[name]!.example}".`;
        const pointer = pointerTo('vars', name, 'type');
        yield { pointer, message, fix: `Write "type": "string" for "${type}".`, mend: { old: type, text: 'string' } };
      }
    },
  },
  {
    code: 'wrong-default',
    severity: 'error',
    means: 'the default or sample of a variable has the wrong type, exceeds its max, or is rejected by its input',
    *find(lint) {
      const { flow, vars } = lint;
      yield* findRefusedSamples(lint);
      for (const screen of Object.values(flow.screens)) {
        const check = screen.type === 'input' ? screen.accept?.check : undefined;
        const id = typeof check === 'string' && Object.hasOwn(ID_CHECKS, check) ? ID_CHECKS[check] : undefined;
        const sample = screen.type === 'input' ? vars.get(screen.save)?.sample : undefined;
        if (!id || screen.type !== 'input' || typeof sample !== 'string' || readId(id, sample) === sample) continue;
        const message = `The sample of variable "${screen.save}" is ${showValue(sample)}, which is no "${check}" in its usual form.`;
        const fix = `Write one that is, such as "${id.example}".`;
        yield { pointer: pointerTo('vars', screen.save, 'sample'), message, fix, severity: 'warning' };
      }
      for (const [name, variable] of vars) {
        for (const key of ['default', 'sample'] as const) {
          const why = describeMisfit(variable, variable[key]);
          const message = `The ${key} of variable "${name}" is ${showValue(variable[key])}; ${why}.`;
          const fix = `Write a ${key} that fits, or change "type" or "max" of "${name}".`;
          const value = variable[key];
          const isQuoted = variable.type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
          const mend = isQuoted && { mend: { old: JSON.stringify(value), text: value } };
          if (why) yield { pointer: pointerTo('vars', name, key), message, fix, ...mend };
        }
      }
    },
  },
];

/** Variables that this flow sets, or that a calling flow passes in. */
export function* listGivenNames({ flow, flows, parts, vars, varNames, nearest }: Lint): Iterable<string> {
  for (const { name, of } of parts.writes) {
    if (of !== undefined && of !== flow.flow) continue;
    // A misspelt name counts as the most similar variable.
    const similar = vars.has(name) ? name : nearest(name, varNames);
    if (similar !== undefined) yield similar;
  }
  for (const other of flows?.values() ?? [])
    for (const screen of Object.values(other.screens))
      if (screen.type === 'flow' && screen.flow === flow.flow) yield* Object.keys(screen.with ?? {});
}

/** All reads of variables. */
function listReads({ flow, parts }: Lint): Use[] {
  const uses: Use[] = [];
  for (const { pointer, source, shift, also, compiled } of parts.expressions) {
    if (!compiled.ok) continue;
    for (const name of compiled.value.names) {
      const at = findOffset(name, source);
      const hasField = source[at + name.length] === '.';
      uses.push({ name, pointer, at: shift + at, also, isInExpression: true, hasField });
    }
  }
  for (const { pointer, also, compiled } of parts.wordings) {
    if (!compiled.ok) continue;
    for (const { root, path, offset } of compiled.value.paths)
      uses.push({ name: root, pointer, at: offset, also, hasField: path[root.length] === '.' });
  }
  for (const [id, screen] of Object.entries(flow.screens)) {
    const same = screen.type === 'input' ? screen.accept?.sameAs : undefined;
    if (typeof same === 'string')
      uses.push({ name: same, pointer: pointerTo('screens', id, 'accept', 'sameAs'), also: [] });
  }
  return uses;
}

function findOffset(name: string, source: string): number {
  const tokens = readTokens(source);
  const token = tokens.find(({ kind, text }, at) => kind === 'name' && text === name && tokens[at - 1]?.text !== '.');
  return token?.at ?? 0;
}

function calledVars({ flows }: Lint, name: string): ReadonlyMap<string, Variable> | undefined {
  const called = flows?.get(name);
  return called && new Map(Object.entries(called.vars ?? {}));
}

function unknownVariable(lint: Lint, use: Use, of?: string): RuleFinding {
  const { name, pointer, at } = use;
  const names = of === undefined ? lint.varNames : [...(calledVars(lint, of)?.keys() ?? [])];
  const similar = lint.nearest(name, names);
  const owner = of === undefined ? '"vars"' : `"vars" of the flow "${of}"`;
  const message = `${capitalize(describePlace(pointer))} names the variable "${name}", which is not in ${owner}.`;
  const fix =
    similar === undefined
      ? `Declare "${name}" in ${owner}${names.length ? `, or write one of: ${formatNames(names)}` : ''}.`
      : `Write "${similar}", or declare "${name}" in ${owner}.`;
  const place = { pointer, ...(at !== undefined && { at }) };
  return {
    ...place,
    message: message + didYouMean(similar),
    fix,
    ...(of === undefined ? mendUse(lint, use) : lint.mend(name, names)),
  };
}

// A choice without quotes, a field of `row`, or a misspelt variable.
function mendUse(lint: Lint, { name, pointer, also, isInExpression, hasField }: Use): { readonly mend?: Mend } {
  if (isInExpression && listChoices(lint).has(name)) return { mend: { old: name, text: `'${name}'` } };
  const [, screen = ''] = parsePointer(pointer);
  if (also.includes('row') && hasRowField(lint, screen, name)) return { mend: { old: name, text: `row.${name}` } };
  const fix = lint.mend(name, lint.varNames);
  // Only objects have fields.
  return hasField && lint.vars.get(fix.mend?.text ?? '')?.type !== 'object' ? {} : fix;
}

const choices = new WeakMap<Lint, ReadonlySet<string>>();

function listChoices(lint: Lint): ReadonlySet<string> {
  const { flow } = lint;
  const known = choices.get(lint);
  if (known) return known;
  const answers = Object.values(flow.screens).flatMap((screen) =>
    screen.type === 'input' && Array.isArray(screen.accept?.oneOf) ? screen.accept.oneOf.map(String) : [],
  );
  const made = new Set([...(flow.langs ?? []), ...answers]);
  choices.set(lint, made);
  return made;
}

function hasRowField({ graph, vars }: Lint, id: string, name: string): boolean {
  const screen = graph.screens.get(id);
  const sample = screen?.type === 'list' ? vars.get(screen.items)?.sample : undefined;
  const [item] = Array.isArray(sample) ? sample : [];
  return item !== null && typeof item === 'object' && Object.hasOwn(item, name);
}

function describeMisfit(variable: Variable, value: Variable['default']): string | undefined {
  if (value === undefined || value === null || holdsValue(variable, value)) return undefined;
  const { type, max } = variable;
  if (!holdsValue({ type }, value)) return `that is ${nameKind(value)}, and its type is "${type}"`;
  return `its length is ${(value as string | readonly Json[]).length}, and its max is ${max}`;
}
