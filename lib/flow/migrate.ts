// Taking a session from an older version of its flow to this one, step by step as the author says.

import type { AtRest } from '../engine/transition.ts';
import type { Json, JsonObject } from '../store/store.ts';
import type { Flow } from './flow.ts';
import { pathOf, type ScreenNode, stateOf } from './node.ts';

/**
 * The rest in terms of this version, or undefined when the screen is gone and no `migrate` entry says where it went.
 * Entries apply in order from the session's version on; an edit without a new version changes nothing but texts.
 */
export function migrateRest(
  rest: AtRest,
  from: number,
  { flow, nodes }: { flow: Flow; nodes: ReadonlyMap<string, ScreenNode> },
): AtRest | undefined {
  let path = pathOf(rest.state);
  const context: Record<string, Json> = { ...rest.context };
  let stack = context.$stack as readonly string[];
  for (let version = from; version < flow.version; version++) {
    const step = flow.migrate?.[String(version)];
    const renamed = (id: string) => (step?.screens && Object.hasOwn(step.screens, id) ? step.screens[id]! : id);
    path = renamed(path);
    stack = stack.map(renamed);
    for (const name of step?.drop ?? []) delete context[name];
    Object.assign(context, step?.set);
  }
  if (!nodes.has(path)) return undefined;
  context.$stack = stack.filter((id) => nodes.has(id));
  return { ...rest, state: stateOf(path), context: withNewVariables(flow, context) };
}

function withNewVariables(flow: Flow, context: JsonObject): JsonObject {
  const defaults = Object.entries(flow.vars ?? {}).filter(([name]) => !(name in context));
  return { ...Object.fromEntries(defaults.map(([name, variable]) => [name, variable.default ?? null])), ...context };
}
