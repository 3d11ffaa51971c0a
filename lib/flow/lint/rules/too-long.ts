// Checks that screens fit in every language with the longest values: declared sizes, samples, and guesses where neither exists.

import type { Json, JsonObject } from '../../../json/json.ts';
import type { TemplatePath } from '../../expression/template.ts';
import { findExitScreen, type ListScreen, type Screen, type Text, type Variable } from '../../format/flow.ts';
import { showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import { screenPages } from '../../run/page.ts';
import { fitsScreen, nonGsm7, ucs2Units } from '../../run/render.ts';
import { type FlowScope, flowScope } from '../../run/scope.ts';
import type { Behaviour } from '../../screens/kind.ts';
import { findKind, KINDS } from '../../screens/kinds.ts';
import { getList, type Lint, type LintRule, type RuleFinding } from '../rule.ts';

export const lengthRules: readonly LintRule[] = [
  {
    code: 'too-long',
    severity: 'warning',
    means: 'with its longest values, a screen needs several pages (warning) or is truncated (error)',
    find: (lint) => readLengths(lint),
  },
];

const lengths = new WeakMap<Lint, readonly RuleFinding[]>();

function readLengths(lint: Lint): readonly RuleFinding[] {
  const known = lengths.get(lint);
  if (known) return known;
  const isBroken = lint.parts.wordings.some(({ screen, compiled }) => screen === undefined && !compiled.ok);
  const found = isBroken ? [] : [...checkFlow(lint)];
  lengths.set(lint, found);
  return found;
}

/** Whether the question of an input may need several pages. */
export function mayHavePages(lint: Lint, id: string): boolean {
  return readLengths(lint).some(({ pointer }) => pointer === pointerTo('screens', id, 'text'));
}

interface SizeCheck {
  readonly lint: Lint;
  readonly scope: FlowScope;
  /** Septets of a screen. */
  readonly chars: number;
}

function* checkFlow(lint: Lint): Iterable<RuleFinding> {
  const { flow, graph, parts, vars } = lint;
  const chars = Math.min(flow.limits?.chars ?? FLOW_LIMITS.screenSeptets, FLOW_LIMITS.screenSeptets);
  const room: SizeCheck = { lint, scope: flowScope(flow), chars };
  const paths = new Map<string, TemplatePath[]>();
  const broken = new Set<string | undefined>();
  for (const { screen = '', compiled } of parts.wordings) {
    if (compiled.ok) getList(paths, screen).push(...compiled.value.paths);
    else broken.add(screen);
  }
  const shared = paths.get('') ?? [];
  const crowded = [...checkNavigation(room, longestScope(shared, vars))];
  yield* crowded;
  // When navigation alone fills a screen, no text can be cut into pages.
  if (crowded.length) return;
  for (const [id, screen] of graph.screens) {
    if (broken.has(id)) continue;
    // The shared texts first: what they print is then the same on every screen.
    const values = longestScope([...shared, ...(paths.get(id) ?? [])], withRow(vars, screen));
    yield* checkScreen(room, { id, screen, values });
  }
  const alone: [string, Text | undefined][] = [
    ['/wait', flow.wait],
    ['/labels/goodbye', findExitScreen(flow) === undefined ? flow.labels?.goodbye : undefined],
  ];
  for (const [pointer, text] of alone) {
    const shown = text === undefined ? undefined : KINDS.end.behaviour({ type: 'end', text }, room.scope);
    if (shown) yield* checkSinglePage(room, { pointer, what: 'This text', shown, values: longestScope(shared, vars) });
  }
}

const LEFT_LEAST = 20;

function* checkNavigation({ lint, scope, chars }: SizeCheck, values: JsonObject): Iterable<RuleFinding> {
  const names = (['more', 'back', 'home', 'exit'] as const).filter((name) => lint.keys[name] !== false);
  for (const lang of lint.langs) {
    const lines = names.map((name) => `${lint.keys[name]}. ${scope.labels[name].render({ ...values, lang }, lang)}`);
    if (fitsScreen([...lines, 'W'.repeat(LEFT_LEAST)].join('\n'), chars)) continue;
    const message = `The lines ${lines.map(showValue).join(', ')} leave less than ${LEFT_LEAST} of ${chars} characters to every screen.`;
    const fix = `Shorten "labels", take keys away (false), or raise "limits": { "chars": ${chars} }.`;
    yield { pointer: lint.flow.labels ? '/labels' : '/limits/chars', message, fix, severity: 'error' };
    return;
  }
}

interface SampleScreen {
  readonly id: string;
  readonly screen: Screen;
  readonly values: JsonObject;
}

function* checkScreen(room: SizeCheck, { id, screen, values }: SampleScreen): Iterable<RuleFinding> {
  const pointer = pointerTo('screens', id, 'text');
  if (screen.type === 'list') {
    yield* checkList(room, { id, screen, values });
    return;
  }
  const kind = findKind(screen);
  const shown = kind.behaviour(kind.largest?.(screen) ?? screen, room.scope);
  if (kind.waits) yield* checkPages(room, { id, screen, values, pointer, shown });
  else if ('text' in screen)
    yield* checkSinglePage(room, { pointer, what: `The ${screen.type} "${id}"`, shown, values });
}

const ROWS = '_rows';
/** More than a page of rows. */
const MANY_ROWS = 99;

function* checkList(
  room: SizeCheck,
  { id, screen, values }: SampleScreen & { screen: ListScreen },
): Iterable<RuleFinding> {
  const { row = null, ...rest } = values as JsonObject;
  const showing = (rows: number, change: Pick<ListScreen, 'text' | 'options'>) => {
    const { empty: _, ...bare } = KINDS.list.largest!(screen);
    const behaviour = KINDS.list.behaviour({ ...bare, ...change, items: ROWS }, room.scope);
    return { id, screen, shown: behaviour, values: { ...rest, [ROWS]: Array(rows).fill(row) } };
  };
  const { text } = screen;
  yield* checkPages(room, { ...showing(0, { text }), pointer: pointerTo('screens', id, 'text') });
  yield* checkBelow(room, showing(MANY_ROWS, { text }));
  // Two rows fit two pages, unless one of them has to be split.
  const pages = countPages(room, { ...showing(2, { text: '', options: [] }), bad: 0 });
  if (pages.count <= 2) return;
  const message = `A row of list "${id}" is longer than a screen${pages.where} when its values are at their longest.`;
  const fix = `Shorten the row of "${id}": {{row.label|trunc:14}} prints at most 14 characters.`;
  yield { pointer: pointerTo('screens', id, 'row'), message, fix };
}

interface ShownSample extends SampleScreen {
  readonly shown: Behaviour;
}

function* checkPages(room: SizeCheck, sample: ShownSample & { pointer: string }): Iterable<RuleFinding> {
  const { id, screen, pointer } = sample;
  const { count, where, held } = countPages(room, { ...sample, bad: 1 });
  if (count <= 1) return;
  const message = `The ${screen.type} "${id}" takes ${count} pages of ${held} characters${where} when its values are at their longest and an error is shown.`;
  const fix = `Shorten the texts of "${id}", give its variables a smaller "max" or "sample", or leave it: it is shown in pages.`;
  yield { pointer, message, fix };
}

// Options that are too long come once, after the last row.
function* checkBelow(room: SizeCheck, sample: ShownSample): Iterable<RuleFinding> {
  const { id, screen, shown } = sample;
  for (const lang of room.lint.langs) {
    const context = sampleContext(room, sample, { lang, bad: 0 });
    const below = shown.lines!(context).filter(({ stays }) => stays);
    const [first] = below.length
      ? screenPages({ path: id, prefix: '', screen, scope: room.scope, behaviour: shown }, context)
      : [];
    if (!first || below.every(({ hidden, text }) => hidden || first.text.includes(text.render(context, lang))))
      continue;
    const message = `The options of the list "${id}" leave too little room for its rows${inLanguage(room.lint, lang)}: they come on the last page only.`;
    const fix = 'Shorten their texts, or offer fewer of them.';
    yield { pointer: pointerTo('screens', id, 'options'), message, fix };
    return;
  }
}

function sampleContext(
  { lint }: SizeCheck,
  { id, values }: SampleScreen,
  { lang, bad }: { lang: string; bad: number },
): JsonObject {
  const stack = Array<string>(lint.graph.depth.get(id) ?? 0).fill(id);
  return { ...values, lang, $stack: stack, $page: 0, $bad: bad };
}

function countPages(room: SizeCheck, { bad, ...sample }: ShownSample & { bad: number }) {
  const { lint, scope, chars } = room;
  const { id, screen, shown } = sample;
  let [count, worst, held] = [0, lint.langs[0]!, chars];
  for (const lang of lint.langs) {
    const context = sampleContext(room, sample, { lang, bad });
    const pages = screenPages({ path: id, prefix: '', screen, scope, behaviour: shown }, context);
    const isWide = pages.some(({ text }) => nonGsm7(text).length > 0);
    if (pages.length > count) [count, worst, held] = [pages.length, lang, isWide ? ucs2Units(chars) : chars];
  }
  return { count, held, where: inLanguage(lint, worst) };
}

function* checkSinglePage(
  { lint, chars }: SizeCheck,
  { pointer, what, shown, values }: { pointer: string; what: string; shown: Behaviour; values: JsonObject },
): Iterable<RuleFinding> {
  for (const lang of lint.langs) {
    const text = shown.print({ ...values, lang }, lang);
    if (fitsScreen(text, chars)) continue;
    const message = `${what} has ${text.length} characters${inLanguage(lint, lang)} when its values are at their longest: it would be cut off.`;
    const fix = `Shorten it to one screen (${chars} GSM characters, or 80 of any), or give its variables a smaller "max" or "sample".`;
    yield { pointer, message, fix, severity: 'error' };
    return;
  }
}

function inLanguage({ langs }: Lint, lang: string): string {
  return langs.length > 1 ? ` in "${lang}"` : '';
}

const GUESSED_CHARACTERS = 20;
const GUESSED_NUMBER = 1_234_567.89;
const GUESSED_DATE = '2024-12-31';
const GUESSED_ITEMS = 99;
/** A longer text needs many pages anyway. */
const CHARACTERS_MAX = 1_000;

type Scope = { [name: string]: Json };

/** Variables for rendering: whatever these paths print is as long as it may become. */
function longestScope(paths: Iterable<TemplatePath>, vars: ReadonlyMap<string, Variable>): Scope {
  const scope: Scope = {};
  for (const { path, root, filters } of paths) {
    const steps = path.match(/\w+/g)!;
    const variable = vars.get(root);
    if (!Object.hasOwn(scope, root) && typeof variable?.sample === 'object')
      scope[root] = structuredClone(variable.sample);
    setPath(scope, steps, steps.length === 1 && variable ? longestValue(variable, filters) : guessValue(filters));
  }
  return scope;
}

/** The variables, and for a list the row with the longest text of each field of the sample of its items. */
function withRow(vars: ReadonlyMap<string, Variable>, screen: Screen): ReadonlyMap<string, Variable> {
  const items = screen.type === 'list' ? vars.get(screen.items)?.sample : undefined;
  if (!Array.isArray(items) || vars.has('row')) return vars;
  const longest: Scope = {};
  for (const item of items) {
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return vars;
    for (const [name, value] of Object.entries<Json>(item))
      if (JSON.stringify(value).length > (JSON.stringify(longest[name])?.length ?? 0)) longest[name] = value;
  }
  return new Map([...vars, ['row', { type: 'object', sample: longest }]]);
}

function longestValue({ type, max, sample, default: initial }: Variable, filters: readonly string[]): Json {
  switch (type) {
    case 'string': {
      if (BY_FILTER[filters[0] ?? '']) return sample ?? guessValue(filters);
      const texts = [sample, initial].filter((one) => typeof one === 'string');
      // One character of a sample that GSM has not makes the whole screen hold less.
      const wide = texts.flatMap(nonGsm7)[0] ?? 'W';
      if (max !== undefined) return wide.repeat(Math.floor(Math.min(max, CHARACTERS_MAX) / wide.length));
      return texts.sort((a, b) => b.length - a.length)[0] ?? guessValue(filters);
    }
    case 'number':
      return sample ?? guessValue(['number']);
    case 'boolean':
      return false;
    case 'array':
      return sample ?? Array<Json>(Math.min(max ?? GUESSED_ITEMS, CHARACTERS_MAX)).fill(null);
    case 'object':
      return sample ?? null;
  }
}

const BY_FILTER: { readonly [filter: string]: Json } = {
  money: GUESSED_NUMBER,
  number: GUESSED_NUMBER,
  plural: 2,
  date: GUESSED_DATE,
  count: Array<Json>(GUESSED_ITEMS).fill(null),
  lines: [],
};

function guessValue(filters: readonly string[]): Json {
  return BY_FILTER[filters[0] ?? ''] ?? 'W'.repeat(GUESSED_CHARACTERS);
}

// What is there already stays: a sample is closer to the truth than a guess.
function setPath(scope: Scope, steps: readonly string[], value: Json): void {
  let here: Scope = scope;
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    const before = Object.hasOwn(here, step) ? here[step] : undefined;
    if (before !== undefined && (isLast || before === null || typeof before !== 'object')) return;
    if (isLast) here[step] = value;
    else {
      const inside = before ?? (/^\d/.test(steps[at + 1]!) ? [] : {});
      here[step] = inside;
      here = inside as Scope;
    }
  }
}
