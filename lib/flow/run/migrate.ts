// Migrates a session from an older version of its flow to this one, following the author's `migrate` entries.

import { toPath, toStateValue } from '../../engine/machine/state-path.ts';
import type { AtRest } from '../../engine/machine/transition.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { compileExpression } from '../expression/expression.ts';
import type { Flow, Migration } from '../format/flow.ts';
import { isInteractive } from '../screens/kinds.ts';
import { evaluateValues, type ScreenNode } from './scope.ts';

interface MigrationContext {
  readonly flow: Flow;
  /** The flow and the flows it calls, by name. */
  readonly flows: ReadonlyMap<string, Flow>;
  readonly nodes: ReadonlyMap<string, ScreenNode>;
}

/**
 * The session's rest in this version, or undefined when its screen is gone and no `migrate` entry maps it. Entries apply in
 * order from the session's version on, `set` and `drop` to the variables of the flow itself; an edit without a new version
 * changes only texts. An inner screen of a called flow can become one of the flow (`login.pin` → `pin`) and vice versa: then
 * the called flow starts with the values of `with`.
 */
export function migrateRest(rest: AtRest, from: number, { flow, flows, nodes }: MigrationContext): AtRest | undefined {
  const { $frames = [], ...innermost } = rest.context;
  const levels = [...($frames as readonly JsonObject[]), innermost];
  let path = toPath(rest.state);
  let stacks = levels.map((level, at) => (level.$stack as readonly string[]).map((id) => pathPrefix(path, at) + id));
  const own: Record<string, Json> = { ...levels[0] };
  for (let version = from; version < flow.version; version++) {
    const step = flow.migrate?.[String(version)];
    path = renamePath(path, step);
    stacks = stacks.map((stack) => stack.map((screen) => renamePath(screen, step)));
    for (const name of step?.drop ?? []) delete own[name];
    Object.assign(own, step?.set);
  }
  path = findResting(path, flows, nodes);
  if (!nodes.has(path)) return undefined;
  const depth = path.split('.').length;
  const frames = [own, ...levels.slice(1)].slice(0, depth).map((level, at): JsonObject => {
    const prefix = pathPrefix(path, at);
    const isHere = (screen: string) => screen.startsWith(prefix) && isScreenBelow(nodes, prefix, screen);
    const $stack = stacks[at]!.filter(isHere).map((screen) => screen.slice(prefix.length));
    return withNewVariables(findFlow(path, at, nodes), { ...level, $stack });
  });
  try {
    while (frames.length < depth) frames.push(enterFlow(path, { levels: frames, flows, nodes }));
  } catch {
    return undefined; // what "with" needs is not there
  }
  const context = frames.at(-1)!;
  return {
    ...rest,
    state: toStateValue(path),
    context: frames.length > 1 ? { ...context, $frames: frames.slice(0, -1) } : context,
  };
}

// `login.` for the first level below the flow of `login.pin`, '' for the flow itself.
function pathPrefix(path: string, level: number): string {
  const steps = path.split('.').slice(0, level);
  return steps.map((step) => `${step}.`).join('');
}

// The longest prefix that was renamed: `login.pin`, else `login`.
function renamePath(path: string, step: Migration | undefined): string {
  for (let end = path.length; step?.screens && end > 0; end = path.lastIndexOf('.', end - 1)) {
    const old = path.slice(0, end);
    if (Object.hasOwn(step.screens, old)) return step.screens[old] + path.slice(end);
  }
  return path;
}

// A session never rests on a `flow` screen, but on the first screen of the called flow.
function findResting(path: string, flows: MigrationContext['flows'], nodes: MigrationContext['nodes']): string {
  const screen = nodes.get(path)?.screen;
  const called = screen?.type === 'flow' ? flows.get(screen.flow) : undefined;
  return called ? findResting(`${path}.${called.start}`, flows, nodes) : path;
}

function isScreenBelow(nodes: MigrationContext['nodes'], prefix: string, path: string): boolean {
  const node = nodes.get(path);
  return node !== undefined && node.scope.path === prefix && isInteractive(node.screen);
}

function findFlow(path: string, level: number, nodes: MigrationContext['nodes']): Flow {
  const screen = path.split('.').slice(0, level + 1);
  return nodes.get(screen.join('.'))!.scope.flow;
}

function enterFlow(
  path: string,
  { levels, flows, nodes }: Omit<MigrationContext, 'flow'> & { readonly levels: readonly JsonObject[] },
): JsonObject {
  const caller = levels.at(-1)!;
  const { screen } = nodes.get(pathPrefix(path, levels.length).slice(0, -1))!;
  if (screen.type !== 'flow') throw new Error('not a called flow');
  const called = flows.get(screen.flow)!;
  const fresh = withNewVariables(called, { $stack: [], $page: 0, $bad: 0 });
  const inherited = 'lang' in fresh && caller.lang !== undefined ? { lang: caller.lang } : {};
  return { ...fresh, ...inherited, ...evaluateValues(screen.with ?? {}, caller, compileExpression) };
}

function withNewVariables(flow: Flow, context: JsonObject): JsonObject {
  const defaults = Object.entries(flow.vars ?? {}).filter(([name]) => !(name in context));
  return { ...Object.fromEntries(defaults.map(([name, variable]) => [name, variable.default ?? null])), ...context };
}
