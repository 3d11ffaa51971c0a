// Every code that a problem of a flow file can have, with what it means. Codes are stable: editors and CI know them.

import { RULES } from '../lint/lint.ts';

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
