// Text templates: "{{path|filter:argument}}" compiled once. Values are printed, never interpreted as templates.
//
// - A path reads only own properties and list elements: name, tx[0].label. Missing values, lists and objects print nothing.
// - Filters apply from left to right. An argument that contains : | or braces must be quoted.
// - `\{{` prints {{ and `\\{{` a backslash before a value.
// - Values cannot break the line or the reply: their line breaks and tabs become spaces; control characters and direction marks
//   are removed, and letters are composed. Only the author's own text has line breaks, in arguments of filters too.

import { systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { type Calendar, findZone } from './days.ts';
import { FILTERS, type Filter, type FilterKind, toText } from './filters.ts';
import { suggest } from './suggest.ts';
import { composeText, element, isRefusedName, member } from './values.ts';

/** A placeholder of a template. */
export interface TemplatePath {
  /** As written, without spaces and filters: `tx[0].label`. */
  readonly path: string;
  /** The root variable: `tx`. */
  readonly root: string;
  /** Names of its filters, in order. */
  readonly filters: readonly string[];
  /** All between the braces, with the arguments of filters. */
  readonly whole: string;
  /** Offset in the source, from 0. */
  readonly offset: number;
}

/** A compiled text with expressions in braces. */
export interface Template {
  readonly source: string;
  readonly paths: readonly TemplatePath[];
  /** Whether the text is the same in every scope. */
  readonly isPlain: boolean;
  /** The text for `lang`, a BCP 47 tag; unknown languages format numbers like English. Never throws. */
  render(scope: JsonObject, lang: string): string;
}

type Steps = readonly (string | number)[];

const PART = /\.([A-Za-z_]\w*)|\[(\d{1,6})\]/y;
const NAME = /[A-Za-z_]\w*/y;
const SPACE = /\s*/y;
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy;
const BARE = /[^|:{}]*/y;
const OPEN = /(\\*)\{\{/g;

/**
 * Reads `source`, at most FLOW_LIMITS.templateChars long. Throws ERR_TEMPLATE with the column; its `cause` is `{ offset }`.
 * The calendar has the time zone of dates and times.
 * @default `calendar` in UTC
 * @example
 * compileTemplate('A cup is {{price | money:ZMW}}.').render({ price: 12.5 }, 'en'); // → 'A cup is ZMW 12.50.'
 */
export function compileTemplate(source: string, calendar: Calendar = systemClock): Template {
  requireGiven('compile a template', { source }, { source: 'text' });
  if (source.length > FLOW_LIMITS.templateChars) {
    const problem = `it has ${source.length} characters, and ${FLOW_LIMITS.templateChars} is the most. Split it over screens.`;
    throw templateError(source, FLOW_LIMITS.templateChars, problem);
  }
  const paths: TemplatePath[] = [];
  const pieces: (string | ((scope: JsonObject, lang: string) => string))[] = [];
  let plain = '';
  let at = 0;
  for (OPEN.lastIndex = 0; ; OPEN.lastIndex = at) {
    const open = OPEN.exec(source);
    if (!open) break;
    const slashes = open[1]!.length;
    plain += source.slice(at, open.index) + '\\'.repeat(slashes >> 1);
    at = open.index + open[0].length;
    if (slashes % 2 === 1) {
      plain += '{{';
      continue;
    }
    const slot = readSlot(source, at, calendar);
    if (plain) pieces.push(plain);
    plain = '';
    pieces.push(printer(slot, calendar));
    paths.push(slot.path, ...slot.inner);
    at = slot.end;
  }
  plain += source.slice(at);
  if (paths.length === 0) return { source, paths, isPlain: true, render: () => plain };
  if (plain) pieces.push(plain);
  const render = (scope: JsonObject, lang: string): string => {
    let text = '';
    for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(scope, lang);
    return text;
  };
  return { source, paths, isPlain: false, render };
}

function printer({ steps, filters }: Slot, calendar: Calendar) {
  const [root] = steps as [string];
  const rest = steps.slice(1);
  return (scope: JsonObject, lang: string): string => {
    let value: Json = Object.hasOwn(scope, root) ? (scope[root] ?? null) : null;
    for (const step of rest) value = typeof step === 'string' ? member(value, step) : element(value, step);
    if (typeof value === 'string') value = clean(value);
    if (filters.length) {
      const place = { lang, scope, zone: findZone(scope, calendar) };
      for (const filter of filters) value = filter(value, place);
    }
    const text = composeText(toText(value));
    return (scope as Masking)[MASKED]?.has(root) ? text.replace(/\S/gu, '*') : text;
  };
}

const MASKED = Symbol('the variables that are printed masked');
interface Masking {
  readonly [MASKED]?: ReadonlySet<string>;
}

/** A copy of the scope for which templates print `*` for each character of these variables, except spaces. */
export function maskPrinted(scope: JsonObject, names: ReadonlySet<string>): JsonObject {
  return { ...scope, [MASKED]: names } as JsonObject;
}

/** A copy of the scope that also masks `name` if one of `sources` is masked. */
export function maskPrintedFrom(scope: JsonObject, name: string, sources: readonly string[]): JsonObject {
  const masked = (scope as Masking)[MASKED];
  return masked && sources.some((source) => masked.has(source))
    ? maskPrinted(scope, new Set([...masked, name]))
    : scope;
}

// Control characters, the two line separators, and bidirectional controls.
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

function clean(text: string): string {
  return UNPRINTABLE.test(text)
    ? composeText(text.replace(BREAKS, ' ').replace(ALL_UNPRINTABLE, ''))
    : composeText(text);
}

interface Slot {
  readonly path: TemplatePath;
  /** Of the texts in its filters; `row` is an element of the list. */
  readonly inner: readonly TemplatePath[];
  readonly steps: Steps;
  readonly filters: readonly Filter[];
  readonly end: number;
}

function readSlot(source: string, start: number, calendar: Calendar): Slot {
  let at = start;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const result = pattern.exec(source);
    at += result?.[0].length ?? 0;
    return result;
  };
  const expectedError = (what: string) => {
    const character = at < source.length ? JSON.stringify(String.fromCodePoint(source.codePointAt(at)!)) : 'the end';
    return templateError(source, at, `found ${character}, expected ${what}.`);
  };

  match(SPACE);
  const offset = at;
  const steps: (string | number)[] = [];
  const root = match(NAME)?.[0];
  if (root === undefined) throw expectedError('a variable name after "{{". Write \\{{ to print braces');
  steps.push(root);
  for (let part = match(PART); part; part = match(PART)) steps.push(part[1] ?? Number(part[2]));
  const refused = steps.find((step) => typeof step === 'string' && isRefusedName(step));
  if (refused)
    throw templateError(source, offset, `the name "${refused}" is refused, because it leads to a prototype.`);
  const path = source.slice(offset, at);

  const names: string[] = [];
  const filters: Filter[] = [];
  const inner: TemplatePath[] = [];
  for (match(SPACE); source[at] === '|'; match(SPACE)) {
    at++;
    match(SPACE);
    const from = at;
    const name = match(NAME)?.[0];
    if (name === undefined) throw expectedError('the name of a filter after "|"');
    const args: string[] = [];
    let textAt = at;
    for (match(SPACE); source[at] === ':'; match(SPACE)) {
      at++;
      match(SPACE);
      if (!args.length) textAt = at + 1;
      const quoted = match(QUOTED)?.[0];
      if (!quoted && /['"]/.test(source[at] ?? ''))
        throw templateError(source, at, 'this argument has no closing quote.');
      args.push(quoted ? quoted.slice(1, -1).replace(/\\(.)/gs, '$1') : match(BARE)![0].trim());
    }
    names.push(name);
    const fail = (problem: string) => templateError(source, from, problem);
    const kind = requireFilter(name, args, fail);
    const row = kind.makeEach && compileTemplate(args[0]!, calendar);
    if (row) inner.push(...row.paths.map((one) => placeInner(one, { path, root, offset: textAt })));
    filters.push(row ? kind.makeEach!(row, ...args.slice(1)) : makeFilter(kind, { name, args, fail }));
  }
  if (!source.startsWith('}}', at)) {
    throw expectedError('"|" and a filter, or "}}". Texts print variables; compute values with "set" or "with"');
  }
  const whole = source.slice(offset, at);
  return { path: { path, root, filters: names, whole, offset }, inner, steps, filters, end: at + 2 };
}

// `row` is the first element of the list, so that what reads paths finds its fields there.
function placeInner(
  { path, root, filters, whole, offset }: TemplatePath,
  list: Pick<TemplatePath, 'path' | 'root' | 'offset'>,
): TemplatePath {
  const isRow = root === 'row';
  const place = (inner: string) => (isRow ? `${list.path}[0]${inner.slice(root.length)}` : inner);
  return {
    path: place(path),
    root: isRow ? list.root : root,
    filters,
    whole: place(whole),
    // So that a field of the row is where its name stands.
    offset: list.offset + offset - (isRow ? list.path.length : 0),
  };
}

function requireFilter(name: string, args: string[], fail: (problem: string) => TwinlineError): FilterKind {
  const kind = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (!kind) {
    const all = Object.keys(FILTERS);
    throw fail(`there is no filter "${name}".${suggest(name, all)} Filters: ${all.join(', ')}.`);
  }
  const [least, most] = kind.arity;
  if (args.length < least || args.length > most) {
    throw fail(`the filter ${name} got ${args.length} arguments. Write ${kind.usage}.`);
  }
  return kind;
}

function makeFilter(
  kind: FilterKind,
  { name, args, fail }: { name: string; args: string[]; fail: (problem: string) => TwinlineError },
): Filter {
  const filter = kind.make(...args);
  if ('problem' in filter) throw fail(`the filter ${name} got ${JSON.stringify(args)}: ${filter.problem}.`);
  return filter;
}

function templateError(source: string, offset: number, problem: string): TwinlineError {
  const shown = source.length > 80 ? `${source.slice(0, 77)}...` : source;
  return new TwinlineError('ERR_TEMPLATE', `Text ${JSON.stringify(shown)}, column ${offset + 1}: ${problem}`, {
    cause: { offset },
  });
}
