// A problem in a flow file: where, what, and what would fix it; and the codes of problems.

import { RULES } from '../lint/lint.ts';

export interface Problem {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** JSON pointer into the file, such as `/screens/pin/to`. */
  readonly pointer: string;
  /** Stable, such as `dangling-target`. */
  readonly code: string;
  /** An error keeps the flow from being loaded; a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
}

/** `menus/main.flow.json:12:5 error dangling-target: … Fix: …` */
export function problemLine(problem: Problem): string {
  const { file, line, column, severity, code, message, fix } = problem;
  return `${file}:${line}:${column} ${severity} ${code}: ${message} Fix: ${fix}`;
}

/** Of files that cannot be read as a flow at all; the rules of lint have their own. */
const FILE_CODES = {
  unreadable: 'the file cannot be read',
  encoding: 'the file is not UTF-8',
  'too-large': 'the file has more bytes than a flow may have',
  'too-deep': 'values are nested more deeply than they may be',
  syntax: 'the file is not JSON',
  'duplicate-key': 'a key stands twice in one object',
  'name-mismatch': 'the file is named otherwise than its flow',
  'unknown-key': 'a key is not one of the format',
  'missing-key': 'a key that must be there is not',
  'wrong-type': 'a value is of another type',
  'bad-value': 'a value is not one that may stand here',
  'too-many-screens': 'a flow has more screens than it may have',
} as const;

/** Code → what it means, sorted by code. */
export const PROBLEM_CODES: ReadonlyMap<string, string> = new Map(
  [...Object.entries(FILE_CODES), ...RULES.map(({ code, means }) => [code, means] as const)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  ),
);
