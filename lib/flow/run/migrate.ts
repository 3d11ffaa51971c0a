// Migrates a session from an older version of its flow to this one, following the author's `migrate` entries.

import { inheritValues } from '../../../machines/menu-history.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import type { AtRest } from '../../engine/machine/transition.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Flow, FlowScreen, Migration } from '../format/flow.ts';
import { isInteractive } from '../screens/kinds.ts';
import { cutPrefix } from './page.ts';
import { evaluateValues, type ScreenNode, valueReader } from './scope.ts';

interface MigrationContext {
  readonly flow: Flow;
  /** The flow and the flows it calls, by name. */
  readonly flows: ReadonlyMap<string, Flow>;
  readonly nodes: ReadonlyMap<string, ScreenNode>;
}

/** A flow that a session is in: the path of the screen where it is, which has called the next level, and the variables. */
interface Level {
  readonly at: string;
  /** What the states of the flow began with in the version of the session. */
  readonly prefix: string;
  readonly context: JsonObject;
}

/**
 * The session's rest in this version, or undefined when its screen is gone and no `migrate` entry maps it. Entries apply in
 * order from the session's version on, `set` and `drop` to the variables of the flow itself; an edit without a new version
 * changes only texts. A screen of a called flow can become one of the flow around it (`login.pin` → `pin`) and vice versa: then
 * the called flow starts with the values of `with`, called by the first screen that does so.
 */
export function migrateRest(rest: AtRest, from: number, to: MigrationContext): AtRest | undefined {
  const steps: Migration[] = [];
  for (let version = from; version < to.flow.version; version++) steps.push(to.flow.migrate?.[String(version)] ?? {});
  const levels = readLevels(rest).map((level, at) =>
    renameLevel(level, at === 0 ? setOwn(level.context, steps) : level.context, steps),
  );
  try {
    const here = placeLevels(levels, to);
    if (!here) return undefined;
    const fitted = here.map((level) => fitLevel(level, to));
    const { at, context } = fitted.pop()!;
    const $frames = fitted.map((frame): JsonObject => ({ ...frame.context, $at: frame.at }));
    return { ...rest, state: at, context: $frames.length ? { ...context, $frames } : context };
  } catch {
    return undefined; // what "with" needs is not there
  }
}

function readLevels({ state, context: { $frames = [], ...context } }: AtRest): Level[] {
  const frames = ($frames as readonly JsonObject[]).map(({ $at, ...own }) => ({ at: $at as string, context: own }));
  const levels = [...frames, { at: toPath(state), context }];
  return levels.map((level, index) => ({ ...level, prefix: index === 0 ? '' : cutPrefix(level.at) }));
}

function setOwn(context: JsonObject, steps: readonly Migration[]): JsonObject {
  const own: Record<string, Json> = { ...context };
  const dropped = new Set<string>();
  for (const { drop = [], set = {} } of steps) {
    for (const name of drop) delete own[name];
    Object.assign(own, set);
    for (const name of [...drop, ...Object.keys(set)]) dropped.add(name);
  }
  // Back restores no value of another version.
  const isKept = ([name]: readonly [string, Json]) => !dropped.has(name);
  const entries = (context.$undo ?? []) as readonly JsonObject[];
  return { ...own, $undo: entries.map((values) => Object.fromEntries(Object.entries(values).filter(isKept))) };
}

// Screens to go back to become paths, until it is known which flow they are in.
function renameLevel({ at, prefix }: Level, context: JsonObject, steps: readonly Migration[]): Level {
  const rename = (path: string) =>
    steps.reduce((name, { screens }) => (screens && Object.hasOwn(screens, name) ? screens[name]! : name), path);
  const $stack = (context.$stack as readonly string[]).map((id) => rename(cutPrefix(at) + id));
  return { at: rename(at), prefix, context: { ...context, $stack } };
}

/** The levels that are left in this version, and those of the flows that are called now; undefined when the screen is gone. */
function placeLevels(levels: readonly Level[], to: MigrationContext): Level[] | undefined {
  const { at } = levels.at(-1)!;
  if (!to.nodes.has(at)) return undefined;
  const open = listOpen(levels, to.nodes);
  const same = open.findLastIndex(({ prefix }) => prefix === cutPrefix(at));
  const calls = same < 0 ? findCalls(open.at(-1)!.prefix, cutPrefix(at), to.nodes) : [];
  if (!calls) return undefined;
  const placed = same < 0 ? open : open.slice(0, same + 1);
  const path = [...calls, at];
  placed[placed.length - 1] = { ...placed.at(-1)!, at: path.shift()! };
  // A session never rests on a `flow` screen, but on the first screen of the called flow.
  for (let screen = to.nodes.get(placed.at(-1)!.at)!.screen; screen.type === 'flow'; ) {
    const called = to.flows.get(screen.flow)!;
    const inner = path.shift() ?? `${screen.flow}.${called.start}`;
    placed.push({
      at: inner,
      prefix: cutPrefix(inner),
      context: enterFlow(screen, fitLevel(placed.at(-1)!, to), to),
    });
    screen = to.nodes.get(inner)!.screen;
  }
  return placed;
}

/** The levels, from the outermost on, that are called by the one before in this version too. */
function listOpen(levels: readonly Level[], nodes: MigrationContext['nodes']): Level[] {
  const open = levels.slice(0, 1);
  for (const level of levels.slice(1)) {
    const caller = open.at(-1)!;
    const node = nodes.get(caller.at);
    const isCalled =
      node?.prefix === caller.prefix && node.screen.type === 'flow' && `${node.screen.flow}.` === level.prefix;
    if (!isCalled) break;
    open.push(level);
  }
  return open;
}

/** The screens by which one flow calls the other, through others where needed, on the shortest way. */
function findCalls(from: string, to: string, nodes: MigrationContext['nodes']): string[] | undefined {
  const ways = new Map<string, readonly string[]>([[from, []]]);
  for (const [prefix, way] of ways)
    for (const node of nodes.values()) {
      if (node.prefix !== prefix || node.screen.type !== 'flow') continue;
      const called = `${node.screen.flow}.`;
      if (!ways.has(called)) ways.set(called, [...way, node.path]);
    }
  return ways.get(to)?.slice();
}

/** Only screens that wait are gone back to; variables that are new have their defaults. */
function fitLevel({ at, context }: Level, { nodes, flow: { timezone } }: MigrationContext): Omit<Level, 'prefix'> {
  const { prefix, scope } = nodes.get(at)!;
  const isHere = (path: string) => {
    const node = nodes.get(path);
    return node !== undefined && node.prefix === prefix && isInteractive(node.screen);
  };
  const stack = context.$stack as readonly string[];
  const undo = (context.$undo ?? []) as readonly JsonObject[];
  const $stack: string[] = [];
  const $undo: JsonObject[] = [];
  for (const [index, path] of stack.entries()) {
    const entry = undo[index - stack.length + undo.length];
    const isLeft = isHere(path);
    if (isLeft) $stack.push(path.slice(prefix.length));
    // What a screen that is gone would restore, the one before restores.
    if (isLeft && entry) $undo.push(entry);
    else if (entry && $undo.length) $undo.push({ ...entry, ...$undo.pop() });
  }
  const { $zone: _, ...own } = context;
  const zone = timezone === undefined ? {} : { $zone: timezone };
  return { at, context: withNewVariables(scope.flow, { ...own, ...zone, $stack, $undo }) };
}

function enterFlow(
  screen: FlowScreen,
  { at, context: caller }: Omit<Level, 'prefix'>,
  { flows, nodes }: MigrationContext,
): JsonObject {
  const fresh = withNewVariables(flows.get(screen.flow)!, { $stack: [], $page: 0, $bad: 0 });
  const values = evaluateValues(screen.with ?? {}, caller, valueReader(nodes.get(at)!.scope));
  return { ...fresh, ...inheritValues(caller, fresh), ...values };
}

function withNewVariables(flow: Flow, context: JsonObject): JsonObject {
  const defaults = Object.entries(flow.vars ?? {}).filter(([name]) => !(name in context));
  return { ...Object.fromEntries(defaults.map(([name, variable]) => [name, variable.default ?? null])), ...context };
}
