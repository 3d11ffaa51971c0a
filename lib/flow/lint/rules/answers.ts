// Input rules that no answer can pass, answers truncated by their variable, and comparisons with values that never occur.

import { type Node, parseExpression } from '../../expression/parse.ts';
import type { Flow, InputScreen, Variable } from '../../format/flow.ts';
import { DOOR_NAMES } from '../../format/names.ts';
import { capitalize, describePlace, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { type Accept, compileAccept, TYPED_MOST } from '../../run/accept.ts';
import { EVERY_LENGTH, type Lengths, meetLengths, patternLengths } from '../pattern-lengths.ts';
import { didYouMean, formatNames, type Lint, type LintRule, type RuleFinding } from '../rule.ts';
import { findLongestPath } from '../typed-text.ts';
import { readPointer } from './kinds.ts';

export const answerRules: readonly LintRule[] = [
  {
    code: 'long-dialogue',
    severity: 'warning',
    means: 'in the cumulative mode the answers of a dialogue can become longer than a request may be, and end it',
    *find(lint) {
      if (!lint.isRepeated || lint.graph.isCalled) return;
      const steps = findLongestPath(lint, typedChars);
      const over = steps.findIndex(({ chars }) => chars > TYPED_MOST);
      if (over < 0) return;
      const asked = steps.slice(0, over + 1).filter(({ id }) => lint.graph.screens.get(id)?.type === 'input');
      const message = `The answers on the way to "${steps[over]!.id}" (${formatNames(asked.map(({ id }) => id))}) can have ${steps[over]!.chars} characters in all, of ${steps.at(-1)!.chars} on the longest way; where each request repeats all answers (USSD_TEXT_MODE=cumulative), ${TYPED_MOST} is the most, and the dialogue cannot go on.`;
      const fix =
        'Give answers a shorter "length" or "max", ask for less in one dialogue, or use a gateway that sends the last answer only (USSD_TEXT_MODE=latest).';
      yield { pointer: pointerTo('screens', steps[over]!.id), at: 'key', message, fix };
    },
  },
  {
    code: 'cut-answer',
    severity: 'error',
    means: 'an input accepts longer answers than its variable stores; they are truncated',
    *find({ flow, vars }) {
      for (const [id, screen] of listInputs(flow.screens)) {
        const variable = vars.get(screen.save);
        const { most } = findLengths(screen.accept ?? {});
        if (variable?.type !== 'string' || variable.max === undefined || most <= variable.max || !Number.isFinite(most))
          continue;
        if (!tryAccept(screen.accept ?? {})) continue;
        const message = `Screen "${id}" accepts up to ${most} characters, and the variable "${screen.save}" keeps ${variable.max} of them: the rest is cut off.`;
        const pointer = pointerTo('vars', screen.save, 'max');
        yield { pointer, message, fix: `Write "max": ${most} for "${screen.save}".`, mend: { text: String(most) } };
      }
    },
  },
  {
    code: 'never-equal',
    severity: 'warning',
    means: 'a variable is compared with a text that it never equals',
    *find(lint) {
      const { parts, mend, nearest } = lint;
      const valuesByName = new Map<string, readonly string[] | undefined>();
      for (const { pointer, source, shift, compiled } of parts.expressions) {
        if (!compiled.ok) continue;
        for (const { name, value, at, text } of listComparisons(parseExpression(source).root)) {
          if (!valuesByName.has(name)) valuesByName.set(name, listValues(lint, name));
          const values = valuesByName.get(name);
          if (!values || values.includes(value)) continue;
          const similar = nearest(value, values);
          const message = `${capitalize(describePlace(pointer))} compares "${name}" with '${value}', and it is only ever one of: ${formatNames(values)}.`;
          const fix = similar === undefined ? `Write one of: ${formatNames(values)}.` : `Write '${similar}'.`;
          const place = { pointer, at: shift + at };
          const { mend: fixedText } = mend(value, values);
          const edit = fixedText && { mend: { old: text, text: `'${fixedText.text}'`, place } };
          yield { ...place, message: message + didYouMean(similar), fix, ...edit };
        }
      }
    },
  },
];

const FREE_CHARS = 40;

// Of free text and of rules without an end, a usual length.
function typedChars({ vars }: Flow, { accept = {}, save }: InputScreen): number {
  const typed = Object.entries(accept).map(
    ([rule, setting]) => TYPED[rule]?.(setting) ?? findLengths({ [rule]: setting }).most,
  );
  return Math.min(...typed, vars?.[save]?.max ?? FREE_CHARS, TYPED_MOST);
}

/** How long an answer may be as it is typed, by rules that save something else. */
const TYPED: { readonly [rule: string]: (setting: unknown) => number } = {
  msisdn: () => 16,
  number: (setting) => {
    const { min, max } = (setting ?? {}) as { readonly min?: unknown; readonly max?: unknown };
    return typeof min !== 'number' || typeof max !== 'number' ? 12 : Math.max(String(min).length, String(max).length);
  },
};

export function* listInputs(screens: Lint['flow']['screens']): Iterable<readonly [string, InputScreen]> {
  for (const [id, screen] of Object.entries(screens)) if (screen.type === 'input') yield [id, screen];
}

type Accepted = NonNullable<InputScreen['accept']>;

/**
 * Possible lengths of the saved answer for each rule; any length for other rules, such as phone numbers, whose lengths depend on the
 * country.
 */
const LENGTHS: { readonly [rule: string]: (setting: unknown) => Lengths } = {
  digits: rangeLengths,
  length: rangeLengths,
  pattern: (setting) => patternLengths(String(setting)),
  oneOf: (setting) => {
    const lengths = (Array.isArray(setting) ? setting : []).map((choice) => String(choice).length);
    return lengths.length ? { least: Math.min(...lengths), most: Math.max(...lengths) } : EVERY_LENGTH;
  },
  date: () => ({ least: 10, most: 10 }),
};

function rangeLengths(setting: unknown): Lengths {
  if (typeof setting === 'number') return { least: setting, most: setting };
  const { min, max } = (setting ?? {}) as { readonly min?: unknown; readonly max?: unknown };
  return { least: typeof min === 'number' ? min : 0, most: typeof max === 'number' ? max : Number.POSITIVE_INFINITY };
}

function findLengths(accept: Accepted): Lengths {
  return Object.entries(accept)
    .map(([rule, setting]) => LENGTHS[rule]?.(setting) ?? EVERY_LENGTH)
    .reduce(meetLengths, EVERY_LENGTH);
}

/** Why no answer can pass all rules of an input; undefined if some answer may. */
export function findImpossible({ sameAs: _, ...accept }: Accepted): string | undefined {
  const names = Object.keys(accept);
  if (Array.isArray(accept.oneOf) && names.length > 1) {
    const { check } = compileAccept(accept);
    const isMet = accept.oneOf.some((choice) => check(String(choice), Date.now()).ok);
    return isMet ? undefined : `none of its choices passes ${names.filter((name) => name !== 'oneOf').join(' and ')}`;
  }
  // The other rules save something else than the typed text.
  const typed = Object.fromEntries(Object.entries(accept).filter(([name]) => KEEPING.has(name)));
  const { least, most } = findLengths(typed as Accepted);
  const isDigits = accept.digits !== undefined && accept.pattern !== undefined;
  const ofDigits = isDigits ? patternLengths(String(accept.pattern), 'digits') : EVERY_LENGTH;
  if (ofDigits.least > ofDigits.most) return 'its pattern has more than digits';
  if (least > most) return `${Object.keys(typed).join(' and ')} never have the same length`;
  return least > TYPED_MOST ? `it takes ${least} characters, and a phone sends ${TYPED_MOST} at most` : undefined;
}

/** Rules that save the text as typed. */
const KEEPING: ReadonlySet<string> = new Set(['digits', 'length', 'pattern']);

/** Samples of variables that the variable's own input rejects. */
export function* findRefusedSamples({ flow, vars }: Lint): Iterable<RuleFinding> {
  for (const [id, { save, accept }] of listInputs(flow.screens)) {
    const sample = vars.get(save)?.sample;
    const { sameAs: _, ...rules } = accept ?? {};
    if (typeof sample !== 'string' || !Object.keys(rules).some((name) => KEEPING.has(name) || name === 'oneOf'))
      continue;
    if (
      Object.keys(rules).some((name) => CHANGING.has(name)) ||
      tryAccept(rules)?.check(sample, Date.now()).ok !== false
    )
      continue;
    const message = `The sample of variable "${save}" is ${showValue(sample)}, which screen "${id}" refuses.`;
    const fix = `Write one that passes its "accept": ${showValue(rules)}; or correct that rule.`;
    yield { pointer: pointerTo('vars', save, 'sample'), message, fix, severity: 'warning' };
  }
}

const CHANGING: ReadonlySet<string> = new Set(['number', 'msisdn', 'date', 'check']);

/** Undefined for rules that do not compile; they are reported as `accept`. */
export function tryAccept({ sameAs: _, ...rules }: Accepted): Accept | undefined {
  try {
    return compileAccept(rules);
  } catch {
    return undefined;
  }
}

interface ComparedText {
  readonly name: string;
  readonly value: string;
  readonly at: number;
  readonly text: string;
}

function listComparisons(node: Node): ComparedText[] {
  switch (node.kind) {
    case 'value':
    case 'name':
    case 'member':
    case 'index':
      return [];
    case 'not':
    case 'minus':
      return listComparisons(node.of);
    case 'choice':
      return [node.test, node.yes, node.no].flatMap(listComparisons);
    case 'call':
      return node.args.flatMap(listComparisons);
    case 'binary': {
      const { left, right, sign } = node;
      if (sign !== '==' && sign !== '!=') return [left, right].flatMap(listComparisons);
      const [name, value] = left.kind === 'name' ? [left, right] : [right, left];
      if (name.kind !== 'name' || value.kind !== 'value' || typeof value.value !== 'string') return [];
      return [{ name: name.name, value: value.value, at: value.at, text: value.text }];
    }
  }
}

/** All texts that a variable can hold, from choices of inputs, plain values and languages; undefined if not all are known. */
export function listValues(lint: Lint, name: string): readonly string[] | undefined {
  const variable = lint.vars.get(name);
  if (variable?.type !== 'string' || lint.graph.isCalled) return undefined;
  if (name === 'lang') return lint.flow.langs && lint.langs;
  if (Object.hasOwn(DOOR_NAMES, name)) return undefined;
  const written = lint.parts.writes
    .filter((write) => write.name === name && write.of === undefined)
    .map(({ isKey, pointer, screen }) => (isKey ? readLiteral(lint, pointer) : readChoices(lint, screen, variable)));
  if (!written.length || written.includes(undefined)) return undefined;
  const first = typeof variable.default === 'string' ? [variable.default] : [];
  return [...new Set([...first, ...written.flatMap((values) => values ?? [])])];
}

function readChoices(lint: Lint, screen: string | undefined, { max }: Variable): readonly string[] | undefined {
  const saver = screen === undefined ? undefined : lint.graph.screens.get(screen);
  const choices = saver?.type === 'input' ? saver.accept?.oneOf : undefined;
  const isWhole = (choice: unknown) => typeof choice === 'string' && choice.length <= (max ?? Number.POSITIVE_INFINITY);
  return Array.isArray(choices) && choices.every(isWhole) ? (choices as string[]) : undefined;
}

function readLiteral({ flow }: Lint, pointer: string): readonly string[] | undefined {
  const value = readPointer(flow, pointer);
  if (value === null) return [];
  return typeof value === 'string' && !value.startsWith('=') ? [value] : undefined;
}
