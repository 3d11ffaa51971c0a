// Signs that were left out: a text that is exactly a path and has no "=", a name in single braces.

import { nameOf, sentence } from '../../format/finding.ts';
import type { Lint, Rule } from '../rule.ts';

const PATH = /^([A-Za-z]\w*)(?:\.[A-Za-z_]\w*|\[\d{1,6}\])*$/;
const SINGLE_BRACES = /(?<![{\\])\{\s*(([A-Za-z]\w*)(?:\.[A-Za-z_]\w*|\[\d{1,6}\])*)\s*(?:\|[^{}]*)?\}(?!\})/g;

export const slipRules: readonly Rule[] = [
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

function isPath({ vars }: Lint, source: string): boolean {
  const root = PATH.exec(source)?.[1];
  return root !== undefined && vars.has(root);
}
