// Expressions, texts and rules of inputs that cannot be compiled, and signs that were left out: "=" before a path, a second brace.

import type { Json } from '../../../store/store.ts';
import { FILTERS } from '../../expression/filters.ts';
import { FUNCTIONS } from '../../expression/functions.ts';
import { nameOf, sentence } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { ACCEPT_RULES, compileAccept } from '../../run/accept.ts';
import type { Lint, Rule, RuleFinding } from '../rule.ts';

export const sourceRules: readonly Rule[] = [
  {
    code: 'expr',
    severity: 'error',
    means: 'an expression cannot be read',
    *find({ flow, parts }) {
      for (const { pointer, shift, compiled } of parts.expressions) {
        if (compiled.ok) continue;
        const fix = `Write for example: balance >= 1 and lang == 'en'. Functions: ${Object.keys(FUNCTIONS).join(', ')}.`;
        yield { pointer, at: shift + offsetOf(compiled.error), message: compiled.error.message, fix };
      }
      for (const [version, { set = {} }] of Object.entries(flow.migrate ?? {})) {
        for (const [name, value] of Object.entries(set)) {
          if (typeof value !== 'string' || !value.startsWith('=')) continue;
          const message = `Migration "${version}" sets "${name}" to "${value}", and expressions are not evaluated there.`;
          yield {
            pointer: pointerTo('migrate', version, 'set', name),
            message,
            fix: `Write a plain value for "${name}".`,
          };
        }
      }
    },
  },
  {
    code: 'template',
    severity: 'error',
    means: 'a text with {{ }} cannot be read',
    find: ({ parts }) => wordingFaults(parts.wordings, false),
  },
  {
    code: 'filter',
    severity: 'error',
    means: 'a text uses a filter that does not exist, or gives it the wrong arguments',
    find: ({ parts }) => wordingFaults(parts.wordings, true),
  },
  {
    code: 'accept',
    severity: 'error',
    means: 'the rule of an input can accept nothing, or cannot be read',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'input' || !screen.accept) continue;
        const { sameAs, ...rules } = screen.accept;
        const pointer = pointerTo('screens', id, 'accept');
        const single = Object.entries(rules).flatMap(([name, setting]) =>
          acceptFault(pointer + pointerTo(name), { [name]: setting }),
        );
        yield* single.length || !Object.keys(rules).length ? single : acceptFault(pointer, rules);
      }
    },
  },
  {
    code: 'missing-equals',
    severity: 'warning',
    means: 'a value is the plain text of a path to a variable, which is passed on as it stands',
    *find(lint) {
      for (const { pointer, source } of lint.parts.literals) {
        if (!isPath(lint, source)) continue;
        const message = `${sentence(nameOf(pointer))} is the text "${source}", not the value of that variable.`;
        const fix = `Write "=${source}" for its value, or "='${source}'" if the text itself is meant.`;
        yield { pointer, message, fix };
      }
    },
  },
  {
    code: 'single-braces',
    severity: 'warning',
    means: 'a text prints the name of a variable in single braces instead of its value',
    *find(lint) {
      for (const { pointer, source, also } of lint.parts.wordings) {
        for (const match of source.matchAll(SINGLE_BRACES)) {
          const [written, path, root] = match as unknown as [string, string, string];
          if (!lint.vars.has(root) && !also.includes(root)) continue;
          const message = `${sentence(nameOf(pointer))} prints ${written} as it stands: single braces mean nothing.`;
          yield { pointer, at: match.index, message, fix: `Write {${written}} to print the value of "${path}".` };
        }
      }
    },
  },
];

type Wordings = Parameters<Rule['find']>[0]['parts']['wordings'];

function* wordingFaults(wordings: Wordings, ofFilters: boolean): Iterable<RuleFinding> {
  for (const { pointer, source, compiled } of wordings) {
    if (compiled.ok) continue;
    const offset = offsetOf(compiled.error);
    const isFilter = /\|\s*$/.test(source.slice(0, offset)) && /^[A-Za-z_]/.test(source.slice(offset));
    if (isFilter !== ofFilters) continue;
    const usages = Object.values(FILTERS).map(({ usage }) => usage.replace(/ or .*/, ''));
    const fix = isFilter ? `Filters: ${usages.join(', ')}.` : 'Write {{name}} or {{name|filter}}; \\{{ prints braces.';
    yield { pointer, at: offset, message: compiled.error.message, fix };
  }
}

function acceptFault(pointer: string, rules: { readonly [rule: string]: Json }): RuleFinding[] {
  try {
    compileAccept(rules);
    return [];
  } catch (error) {
    const fix = `Correct "${Object.keys(rules).join('" and "')}". Rules: ${ACCEPT_RULES.join(', ')}, sameAs.`;
    return [{ pointer, message: (error as Error).message, fix }];
  }
}

function offsetOf(error: Error): number {
  return (error.cause as { offset?: number } | undefined)?.offset ?? 0;
}

const PATH = /^([A-Za-z]\w*)(?:\.[A-Za-z_]\w*|\[\d{1,6}\])*$/;
const SINGLE_BRACES = /(?<![{\\])\{\s*(([A-Za-z]\w*)(?:\.[A-Za-z_]\w*|\[\d{1,6}\])*)\s*(?:\|[^{}]*)?\}(?!\})/g;

function isPath({ vars }: Lint, source: string): boolean {
  const root = PATH.exec(source)?.[1];
  return root !== undefined && vars.has(root);
}
