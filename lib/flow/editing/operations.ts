// Edits of a flow by form and drawing, as edits of its text: values are written, screens added, renamed, duplicated and deleted with all
// that names them. What an operation does not name keeps its bytes.

import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { isName, type ScreenType } from '../format/flow.ts';
import type { TextEdit } from '../format/problem.ts';
import { schemaAt } from '../format/schema.ts';
import { parsePointer, pointerTo } from '../format/source.ts';
import type { Contracts } from '../lint/shapes.ts';
import { makeOptions, makeScreen, makeUnique, type NewScreen } from './new-screen.ts';
import { listReferences, listScreens, type ScreenReference } from './references.ts';
import { SourceText } from './source-text.ts';

/** One edit. Pointers are JSON pointers into the flow. */
export type FlowOperation =
  /** Writes a value; without one, removes it. */
  | { readonly do: 'set'; readonly pointer: string; readonly value?: Json }
  /** Inserts into a list, before the element `at`. */
  | { readonly do: 'insert'; readonly pointer: string; readonly at: number; readonly value: Json }
  /** Exchanges an element of a list with its neighbour. */
  | { readonly do: 'move'; readonly pointer: string; readonly by: -1 | 1 }
  /** Renames a key, such as a variable that is set. */
  | { readonly do: 'key'; readonly pointer: string; readonly name: string }
  /** Adds lines to a menu. */
  | { readonly do: 'lines'; readonly screen: string; readonly lines: readonly string[]; readonly to: string }
  /** Adds a way with a condition, before the last one. */
  | { readonly do: 'way'; readonly pointer: string; readonly when: string; readonly to: string }
  /** Writes the name of a variable, which is declared where it is new. */
  | { readonly do: 'declare'; readonly pointer: string; readonly name: string }
  | AddScreen
  | { readonly do: 'rename'; readonly screen: string; readonly to: string }
  /** What led to it leads to `lead`; without that, lines and ways that led to it are removed where they can be. */
  | { readonly do: 'delete'; readonly screen: string; readonly lead?: string }
  | { readonly do: 'duplicate'; readonly screen: string };

export interface AddScreen extends NewScreen {
  readonly do: 'add';
  /** The screen behind which it stands in the file. @default at the end */
  readonly after?: string;
  /** The way that leads to it from now on; it goes on to where that led. @default none */
  readonly way?: string;
  /** A line for it in the menu `after`. @default none */
  readonly line?: string;
}

export interface EditedFlow {
  readonly edits: readonly TextEdit[];
  /** Edits of the tests. */
  readonly tests: readonly TextEdit[];
  /** The screen that the edit leads to. */
  readonly screen?: string;
}

export interface EditContext {
  /** The text of the tests; '' for none. */
  readonly tests?: string;
  readonly contracts?: Contracts;
}

/** The edits of a text that do what is asked. Throws ERR_INPUT if that cannot be done, with the reason. */
export function editFlow(text: string, operation: FlowOperation, context: EditContext = {}): EditedFlow {
  const missing = NEEDS[operation.do].find((key) => (operation as unknown as JsonObject)[key] === undefined);
  if (missing !== undefined) throw refuse(`The operation "${operation.do}" needs "${missing}".`);
  const source = new SourceText(text);
  const done = (OPERATIONS[operation.do] as Operate<FlowOperation>)(source, operation, context);
  return {
    edits: source.edits(),
    tests: done?.tests ?? [],
    ...(done?.screen !== undefined && { screen: done.screen }),
  };
}

const NEEDS: { readonly [kind in FlowOperation['do']]: readonly string[] } = {
  set: ['pointer'],
  insert: ['pointer', 'at', 'value'],
  move: ['pointer', 'by'],
  key: ['pointer', 'name'],
  lines: ['screen', 'lines', 'to'],
  way: ['pointer', 'when', 'to'],
  declare: ['pointer', 'name'],
  add: ['type', 'id'],
  rename: ['screen', 'to'],
  delete: ['screen'],
  duplicate: ['screen'],
};

type Outcome = { readonly screen?: string; readonly tests?: readonly TextEdit[] } | undefined;
type Operate<Of extends FlowOperation> = (source: SourceText, operation: Of, context: EditContext) => Outcome;

const OPERATIONS: { readonly [kind in FlowOperation['do']]: Operate<Extract<FlowOperation, { do: kind }>> } = {
  set: (source, { pointer, value }) => {
    if (value === undefined) removeValue(source, pointer);
    else setValue(source, pointer, value);
    return undefined;
  },
  insert: (source, { pointer, at, value }) => {
    if (source.value(pointer) === undefined) setValue(source, pointer, [value]);
    else source.insert(pointer, at, value);
    return undefined;
  },
  move: (source, { pointer, by }) => {
    source.move(pointer, by);
    return undefined;
  },
  key: (source, { pointer, name }) => {
    const owner = source.value(pointerTo(...parsePointer(pointer).slice(0, -1)));
    if (isObject(owner) && Object.hasOwn(owner, name)) throw refuse(`"${name}" is there already.`);
    source.replace([source.renaming(pointer, name)]);
    return undefined;
  },
  lines: (source, { screen, lines, to }) => {
    addLines(source, screen, { lines, to });
    return undefined;
  },
  way: (source, { pointer, when, to }) => {
    addWay(source, pointer, { when, to });
    return undefined;
  },
  declare: (source, { pointer, name }) => {
    if (!isName(name)) throw refuseName(name, 'a variable');
    const place = pointerTo('vars', name);
    if (source.value(place) === undefined) setValue(source, place, { type: 'string' });
    setValue(source, pointer, name);
    return undefined;
  },
  add: addScreen,
  rename: renameScreen,
  delete: deleteScreen,
  duplicate: (source, { screen }) => {
    const flow = source.value();
    needScreen(flow, screen);
    const id = makeUnique(screen, listScreens(flow));
    source.duplicate(pointerTo('screens', screen), id);
    return { screen: id };
  },
};

/** Writes a value; a key that is new stands where the schema has it. */
function setValue(source: SourceText, pointer: string, value: Json): void {
  const steps = parsePointer(pointer);
  for (let length = 1; length <= steps.length; length++) {
    const owner = pointerTo(...steps.slice(0, length - 1));
    const order = Object.keys(schemaAt(owner, source.value()).properties ?? {});
    const place = pointerTo(...steps.slice(0, length));
    if (length === steps.length) source.set(pointer, value, order);
    else if (source.value(place) === undefined) {
      source.set(place, wrap(steps.slice(length), value), order);
      return;
    }
  }
}

const wrap = (steps: readonly string[], value: Json): Json =>
  steps.reduceRight<Json>((inner, step) => ({ [step]: inner }), value);

/** Removes a value; ways of which one without a condition is left become its screen, and an object that is left empty goes too. */
function removeValue(source: SourceText, pointer: string): void {
  source.remove(pointer);
  const owner = pointerTo(...parsePointer(pointer).slice(0, -1));
  const rest = source.value(owner);
  if (isObject(rest) && !Object.keys(rest).length && isOptional(source, owner)) removeValue(source, owner);
  if (!Array.isArray(rest) || rest.length !== 1) return;
  const [only] = rest as Json[];
  const takesName = [schemaAt(owner, source.value()).type].flat().includes('string');
  if (takesName && isObject(only) && Object.keys(only).join() === 'to') source.set(owner, only.to as Json);
}

function isOptional(source: SourceText, pointer: string): boolean {
  const steps = parsePointer(pointer);
  const key = steps.pop();
  const { required = [] } = schemaAt(pointerTo(...steps), source.value());
  return key !== undefined && steps.length > 0 && steps.join() !== 'screens' && !required.includes(key);
}

function addLines(source: SourceText, screen: string, { lines, to }: { lines: readonly string[]; to: string }): void {
  const pointer = pointerTo('screens', screen, 'options');
  const options = source.value(pointer);
  if (!Array.isArray(options)) throw refuse(`"${screen}" is no menu.`);
  const ids = options.map((option) => (isObject(option) ? String(option.id) : ''));
  for (const [at, option] of makeOptions(lines, to, ids).entries()) source.insert(pointer, options.length + at, option);
}

function addWay(source: SourceText, pointer: string, way: { readonly when: string; readonly to: string }): void {
  const ways = source.value(pointer);
  if (typeof ways === 'string') {
    source.set(pointer, [{ ...way }, { to: ways }]);
    return;
  }
  if (!Array.isArray(ways)) throw refuse('There are no ways here.');
  const last = ways.at(-1);
  const isOpen = isObject(last) && last.when === undefined;
  source.insert(pointer, isOpen ? ways.length - 1 : ways.length, { ...way });
}

function addScreen(
  source: SourceText,
  { after, way, line, ...wanted }: AddScreen,
  { contracts }: EditContext,
): Outcome {
  const flow = source.value();
  const screens = listScreens(flow);
  needName(wanted.id, screens);
  if (after !== undefined) needScreen(flow, after);
  const led = way === undefined ? undefined : source.value(way);
  if (way !== undefined && typeof led !== 'string') throw refuse(`There is no way at ${way}.`);
  const next = typeof led === 'string' ? led : (after ?? screens[0] ?? wanted.id);
  const vars = isObject(flow) && isObject(flow.vars) ? (flow.vars as JsonObject) : {};
  const made = makeScreen(wanted, { next, fail: findEnd(flow) ?? next, vars, contracts });
  source.insertAfter('/screens', after, { key: wanted.id, value: made.screen });
  if (way !== undefined) source.replace([source.replacing(way, wanted.id)]);
  if (line !== undefined && after !== undefined) addLines(source, after, { lines: [line], to: wanted.id });
  for (const [name, variable] of Object.entries(made.vars))
    if (!Object.hasOwn(vars, name)) setValue(source, pointerTo('vars', name), variable as Json);
  return { screen: wanted.id };
}

function findEnd(flow: Json | undefined): string | undefined {
  const screens = isObject(flow) && isObject(flow.screens) ? flow.screens : {};
  const ends = Object.keys(screens).filter((id) => (screens[id] as { type?: ScreenType } | null)?.type === 'end');
  return ends.find((id) => /sorry|fail|error/i.test(id)) ?? ends[0];
}

function renameScreen(
  source: SourceText,
  { screen, to }: Extract<FlowOperation, { do: 'rename' }>,
  { tests = '' }: EditContext,
): Outcome {
  const flow = source.value();
  needScreen(flow, screen);
  needName(to, listScreens(flow));
  source.replace([
    source.renaming(pointerTo('screens', screen), to),
    ...referencesTo(flow, screen).map(({ pointer }) => source.replacing(pointer, to)),
  ]);
  return { screen: to, tests: renameInTests(tests, screen, to) };
}

function renameInTests(text: string, screen: string, to: string): TextEdit[] {
  if (text.trim() === '') return [];
  const source = new SourceText(text);
  const file = source.value();
  const tests = isObject(file) && Array.isArray(file.tests) ? (file.tests as Json[]) : [];
  return tests.flatMap((test, at) => {
    const steps = isObject(test) && Array.isArray(test.steps) ? (test.steps as Json[]) : [];
    return steps.flatMap((step, number) => {
      // `login.pin` is a screen of the flow `login`, however the screen that calls it is named.
      if (!isObject(step) || step.screen !== screen) return [];
      return [source.replacing(pointerTo('tests', at, 'steps', number, 'screen'), to)];
    });
  });
}

function deleteScreen(source: SourceText, { screen, lead }: Extract<FlowOperation, { do: 'delete' }>): Outcome {
  const flow = source.value();
  needScreen(flow, screen);
  if (lead === screen) throw refuse('What led to the screen cannot lead to it.');
  if (lead !== undefined) needScreen(flow, lead);
  if (listScreens(flow).length === 1) throw refuse('A flow has at least one screen.');
  const outer = referencesTo(flow, screen).filter((reference) => reference.screen !== screen);
  if (lead !== undefined) source.replace(outer.map(({ pointer }) => source.replacing(pointer, lead)));
  else for (const { pointer } of outer.reverse()) removeWay(source, pointer);
  source.remove(pointerTo('screens', screen));
  return { screen: lead ?? outer.at(-1)?.screen ?? listScreens(source.value())[0]! };
}

// A line of a menu, a way with others beside it, a pick, a back key. Others stay, and lint names them.
function removeWay(source: SourceText, pointer: string): void {
  const steps = parsePointer(pointer);
  const key = steps.at(-1)!;
  const owner = steps.slice(0, -1);
  const list = source.value(pointerTo(...owner.slice(0, -1)));
  if (key === 'to' && Array.isArray(list)) {
    if (list.length > 1) removeValue(source, pointerTo(...owner));
  } else if (key === 'to' && owner.at(-1) === 'pick') source.remove(pointerTo(...owner));
  else if (key === 'back' || steps[0] === 'migrate') removeValue(source, pointer);
  else if (key === 'else') {
    source.remove(pointer);
    const attempts = pointerTo(...owner, 'attempts');
    if (source.value(attempts) !== undefined) source.remove(attempts);
  }
}

const referencesTo = (flow: Json | undefined, screen: string): ScreenReference[] =>
  listReferences(flow).filter(({ to }) => to === screen);

function needScreen(flow: Json | undefined, screen: string): void {
  if (!listScreens(flow).includes(screen)) throw refuse(`There is no screen "${screen}".`);
}

function needName(name: string, screens: readonly string[]): void {
  if (!isName(name)) throw refuseName(name, 'a screen');
  if (screens.includes(name)) throw refuse(`There is a screen "${name}" already. Choose another name.`);
}

const refuseName = (name: string, what: string) =>
  refuse(`"${name}" cannot be the name of ${what}: write a letter, then letters, digits and _.`);
const refuse = (why: string) => new TwinlineError('ERR_INPUT', why);
