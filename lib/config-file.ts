// Files of operators, one JSON object with a check for each key: every problem is told at once.

import { type Detail, TwinlineError } from './errors.ts';

/** Tells a problem; `field`: a JSON pointer, empty for the whole file. */
export type ReportProblem = (field: string, error: string) => void;

/** Checks one value and gives it in its stored form; reports instead what is wrong. */
export type FieldCheck = (value: unknown, at: string, report: ReportProblem) => unknown;

/** What `read` gives; ERR_CONFIG instead when it has reported anything. `source` is the file's name for the message. */
export function readConfigFile<T>(source: string, read: (report: ReportProblem) => T | undefined): T {
  const details: Detail[] = [];
  const found = read((field, error) => details.push({ field, error }));
  if (found !== undefined && !details.length) return found;
  throw configFileError(source, details);
}

/** ERR_CONFIG that lists every problem. */
export function configFileError(source: string, details: readonly Detail[]): TwinlineError {
  const lines = details.map(({ field, error }) => `  ${field || '(whole file)'}: ${error}`);
  return new TwinlineError('ERR_CONFIG', `${source} cannot be used:\n${lines.join('\n')}`, { details });
}

/** The checked values of the keys that are given; reports keys that have no check. */
export function checkFields(
  given: { readonly [name: string]: unknown },
  checks: { readonly [name: string]: FieldCheck },
  report: ReportProblem,
): { readonly [name: string]: unknown } {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(checks, name)) report(`/${name}`, `unknown; the keys are ${Object.keys(checks).join(', ')}`);
  const known = Object.entries(checks).filter(([name]) => Object.hasOwn(given, name));
  return Object.fromEntries(known.map(([name, check]) => [name, check(given[name], `/${name}`, report)]));
}

/** A value for a message. */
export function quoteValue(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60);
}
