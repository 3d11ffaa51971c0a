// Problems in flow files with location, message and fix, and helpers that describe places and values in messages.

import { type FlowSource, offsetAt, parsePointer } from './source.ts';

/** A problem in a flow file, with its location and fix. */
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
  /** The edit that fixes it, if that is certain. */
  readonly edit?: TextEdit;
}

/** A range in UTF-16 units, and its replacement. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/**
 * `menus/main.flow.json:12:5 error dangling-target: … Fix: …`
 * @example
 * const { problems } = parseFlow('[]', 'hi.flow.json');
 * problemLine(problems[0]!).slice(0, 36); // → 'hi.flow.json:1:1 error wrong-type: T'
 */
export function problemLine(problem: Problem): string {
  const { file, line, column, severity, code, message, fix } = problem;
  return `${file}:${line}:${column} ${severity} ${code}: ${message} Fix: ${fix}`;
}

/** A problem of a flow before it is located in a file. */
export interface Finding {
  /** JSON pointer into the flow. */
  readonly pointer: string;
  /** The part of the value: its key, or the character at an offset of a text. @default the whole value */
  readonly at?: 'key' | number;
  readonly message: string;
  readonly fix: string;
  /** The fix, if it is certain. */
  readonly mend?: Mend;
}

/** A replacement at the place of a finding, or at another one. */
export interface Mend {
  /** The replaced source text. @default the whole value */
  readonly old?: string;
  readonly text: string;
  /** @default the place of the finding */
  readonly place?: Pick<Finding, 'pointer' | 'at'>;
}

/** Locates a finding in a file. */
export function locateProblem(
  source: FlowSource,
  { pointer, at, message, fix, mend }: Finding,
  { code, severity }: Pick<Problem, 'code' | 'severity'>,
): Problem {
  const place = source.locate(pointer, at);
  const edit = mend && findEdit(source, { pointer, ...(at !== undefined && { at }), ...mend.place }, mend);
  return { file: source.file, ...place, pointer, code, severity, message, fix, ...(edit && { edit }) };
}

// Undefined if the source text differs, such as by escape sequences.
function findEdit(
  source: FlowSource,
  { pointer, at }: Pick<Finding, 'pointer' | 'at'>,
  { old, text: insert }: Mend,
): TextEdit | undefined {
  const whole = old === undefined ? source.span(pointer) : undefined;
  if (old === undefined) return whole && { ...whole, insert };
  const { text } = source;
  const offset = offsetAt(text, source.locate(pointer, at));
  const from = [offset, offset + 1].find((start) => text.startsWith(old, start));
  return from === undefined ? undefined : { from, to: from + old.length, insert };
}

/** Sorts by position, errors before warnings. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const rank = { error: 0, warning: 1 };
  return [...problems].sort(
    (a, b) =>
      a.line - b.line ||
      a.column - b.column ||
      rank[a.severity] - rank[b.severity] ||
      (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

const OWNERS: { readonly [key: string]: string } = { screens: 'screen', vars: 'variable', migrate: 'migration' };

/** Describes a pointer in messages: `"options[0].to" of screen "home"`. */
export function describePlace(pointer: string): string {
  const [first, id, ...rest] = parsePointer(pointer);
  if (first === undefined) return 'the flow';
  const owner = OWNERS[first];
  if (id === undefined || owner === undefined)
    return `"${formatSteps([first, ...(id === undefined ? [] : [id, ...rest])])}"`;
  return rest.length ? `"${formatSteps(rest)}" of ${owner} "${id}"` : `${owner} "${id}"`;
}

/** Formats a value for messages: JSON, at most 60 characters. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Formats a value for files: JSON on one line, with spaces. */
export function writeValue(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
}

/** With a capital first letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function formatSteps(steps: readonly string[]): string {
  return steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}
