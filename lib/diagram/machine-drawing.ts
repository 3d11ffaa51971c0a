// The drawing of any XState machine, such as a lifecycle, and its config as JSON for createMachine and Stately's tools.

import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { Json, JsonObject } from '../json/json.ts';
import {
  type Chip,
  cutLine,
  type DiagramState,
  type Drawing,
  groupArrows,
  type SingleTransition,
  type StateKind,
} from './drawing.ts';

const LINE_CHARS = 34;
const INSIDE_LINES = 6;

/** Draws a machine. Child states are drawn inside their parents; targetless transitions become lines of their state. */
export function machineDrawing(machine: AnyStateMachine): Drawing {
  const nodes = statesIn(machine.root);
  const steps = nodes.flatMap(listSteps);
  const leaving = new Set(steps.filter(({ from, to }) => from !== to).map(({ from }) => from));
  const everywhere = listSteps(machine.root);
  const states = nodes.map((node): DiagramState => {
    const id = joinPath(node);
    const parent = node.parent && node.parent !== machine.root ? joinPath(node.parent) : undefined;
    const chips = [...serviceChips(node), ...everywhere.filter(({ to }) => to === id).map(rootStepChip)];
    const kind = findKind(node, leaving.has(id));
    return { id, kind, title: node.key, lines: listLines(node), chips, ...(parent !== undefined && { parent }) };
  });
  const starts = [machine.root, ...nodes].flatMap(listStarts);
  return {
    id: machine.id,
    title: `Machine ${machine.id}`,
    states,
    arrows: groupArrows(steps),
    starts: new Set(starts),
  };
}

const joinPath = (node: AnyStateNode): string => node.path.join('.');

function statesIn(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((state) => [state, ...statesIn(state)]);
}

function listStarts(node: AnyStateNode): string[] {
  const children = Object.values(node.states);
  if (children.length === 0) return [];
  if (node.type === 'parallel') return children.map(joinPath);
  return (node.initial.target ?? []).map(joinPath);
}

/** All transitions of a state in order, eventless and unguarded ones last. */
function listTransitions(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...(node.always ?? []), ...[...node.transitions.values()].flat()];
}

function listSteps(node: AnyStateNode): SingleTransition[] {
  return listTransitions(node).flatMap((transition) =>
    (transition.target ?? []).map((target): SingleTransition => {
      const guard = formatGuard(transition.guard);
      const event = transition.eventType === '' ? 'always' : transition.eventType;
      const words = formatEvent(transition);
      return {
        from: joinPath(node),
        to: joinPath(target as AnyStateNode),
        event,
        label: guard === undefined ? words || 'else' : `${words} [${guard}]`.trim(),
        role: event.startsWith('xstate.error.') ? 'error' : 'on',
        ...(guard !== undefined && { guard }),
      };
    }),
  );
}

function listLines(node: AnyStateNode): string[] {
  // From the config, because XState adds actions that start and stop timers.
  const entry = actionNames(toList(node.config.entry));
  const exit = actionNames(toList(node.config.exit));
  const stays = listTransitions(node)
    .filter(({ target, actions }) => target === undefined && actions.length > 0)
    .map((transition) => {
      const guard = formatGuard(transition.guard);
      return `${formatEvent(transition)}${guard === undefined ? '' : ` [${guard}]`}`;
    });
  const lines = [
    ...(entry.length ? [`entry: ${entry.join(', ')}`] : []),
    ...(exit.length ? [`exit: ${exit.join(', ')}`] : []),
    ...stays,
  ].map((line) => cutLine(line, LINE_CHARS));
  const rest = lines.length - INSIDE_LINES + 1;
  return rest > 1 ? [...lines.slice(0, INSIDE_LINES - 1), `… ${rest} more`] : lines;
}

const toList = (actions: unknown): readonly unknown[] =>
  actions === undefined ? [] : Array.isArray(actions) ? actions : [actions];

function serviceChips(node: AnyStateNode): Chip[] {
  const calls = node.invoke.map(
    ({ src }): Chip => ({ sign: 'service', text: typeof src === 'string' ? src : 'actor' }),
  );
  const delays = [...new Set(node.after.map(({ delay }) => String(delay)))];
  return [
    ...calls,
    ...delays.map((delay): Chip => ({ sign: 'time', text: /^\d+$/.test(delay) ? `${delay} ms` : delay })),
  ];
}

const rootStepChip = ({ label, event, to }: SingleTransition): Chip => ({
  sign: 'exit',
  text: `${cutLine(label, LINE_CHARS - 16)} from any state`,
  to,
  events: [event],
});

function findKind(node: AnyStateNode, leaves: boolean): StateKind {
  if (node.type === 'final') return 'end';
  if (Object.keys(node.states).length) return 'flow';
  if (node.invoke.length && leaves) return 'call';
  if (node.always?.length && node.transitions.size === 0) return 'branch';
  return leaves ? 'state' : 'end';
}

// Author data, kept unchanged.
const VALUES = new Set(['meta', 'context', 'tags', 'output']);

/**
 * The config of a machine as JSON: functions in place of actions and guards become `{ type }` with their name; functions
 * elsewhere (params, inputs, context) are omitted.
 */
export function machineConfig({ config }: AnyStateMachine): JsonObject {
  return (toJson(config, undefined) ?? {}) as JsonObject;
}

const NAMED = new Set(['actions', 'entry', 'exit', 'guard']);

function toJson(value: unknown, key: string | undefined): Json | undefined {
  if (typeof value === 'function') return key !== undefined && NAMED.has(key) ? { type: typeName(value) } : undefined;
  if (Array.isArray(value)) return value.map((item) => toJson(item, key)).filter((item) => item !== undefined);
  if (typeof value !== 'object' || value === null) return value as Json | undefined;
  if (key !== undefined && VALUES.has(key)) return JSON.parse(JSON.stringify(value)) as Json;
  const entries = Object.entries(value).map(([name, item]) => [name, toJson(item, name)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as JsonObject;
}

/** `CAST`, `execute done`, `execute failed`, `after votingPeriod`; '' for an eventless transition. */
function formatEvent({ eventType, source }: AnyTransitionDefinition): string {
  const [, kind, name = ''] = /^xstate\.(done\.actor|error\.actor|done\.state|after)\.(.+)$/.exec(eventType) ?? [];
  switch (kind) {
    case 'done.actor':
      return `${callName(name)} done`;
    case 'error.actor':
      return `${callName(name)} failed`;
    case 'done.state':
      return 'done';
    case 'after': {
      const delay = name.endsWith(`.${source.id}`) ? name.slice(0, -source.id.length - 1) : name;
      return `after ${/^\d+$/.test(delay) ? `${delay} ms` : delay}`;
    }
    default:
      return eventType;
  }
}

// XState generates the id `0.machine.state` for a call without one.
function callName(name: string): string {
  return /^\d+\./.test(name) ? 'call' : name;
}

/** A guard with its parameters, such as `mayVote` or `outcome voting passes`; undefined without a guard. */
function formatGuard(guard: unknown): string | undefined {
  if (guard === undefined || guard === null) return undefined;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return functionName(guard) ?? 'guard';
  const { type, params } = guard as { readonly type: string; readonly params?: unknown };
  const values = params && typeof params === 'object' ? Object.values(params).filter(isShort) : [];
  return [type, ...values].join(' ');
}

/** The names of actions; an anonymous function is `action`. */
function actionNames(actions: readonly unknown[]): string[] {
  return actions.map((action) => {
    if (typeof action === 'string') return action;
    if (typeof action === 'function') return functionName(action) ?? 'action';
    const { type } = action as { readonly type: unknown };
    return typeof type === 'string' ? type : 'action';
  });
}

const isShort = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

function functionName(func: unknown): string | undefined {
  return (func as { readonly name?: string }).name || undefined;
}

// Actions created by XState's helpers carry their type.
function typeName(action: unknown): string {
  const { type } = action as { readonly type?: unknown };
  return typeof type === 'string' ? type : (functionName(action) ?? 'inline');
}
