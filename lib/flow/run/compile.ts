// A flow compiled once: a plain JSON machine config, its screens by path, and the conversation that an engine keeps.

import { createHash } from 'node:crypto';
import type { AnyStateMachine } from 'xstate';
import { type MenuConfig, type MenuContext, menuVocabulary } from '../../../machines/ussd-menu.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { CallPolicy, Conversation, Prove, View } from '../../engine/conversation.ts';
import { compileMachine } from '../../engine/machine/transition.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { compileExpression } from '../expression/expression.ts';
import { DEFAULT_WAIT, durationMs, exitScreen, type Flow, type Screen, type Values } from '../format/flow.ts';
import { migrateRest } from '../format/migrate.ts';
import { branch } from '../screens/branch.ts';
import { call } from '../screens/call.ts';
import { end } from '../screens/end.ts';
import { callingState, flow as flowKind } from '../screens/flow.ts';
import { input } from '../screens/input.ts';
import { list } from '../screens/list.ts';
import { menu } from '../screens/menu.ts';
import type { Place, ScreenKind, StateConfig } from '../screens/screen.ts';
import { pathOf, type ScreenNode } from './node.ts';
import { readInput } from './read.ts';
import { renderScreen } from './render.ts';
import {
  evaluateValues,
  expressionsIn,
  type FlowScope,
  flowError,
  flowScope,
  langOf,
  menuImplementations,
} from './scope.ts';
import { shownOf } from './shown.ts';

const KINDS = { menu, input, list, call, branch, flow: flowKind, end } as unknown as {
  readonly [type in Screen['type']]: ScreenKind<Screen>;
};

export interface CompileOptions {
  /** The flows that `flow` screens call, by name. */
  readonly flows?: ReadonlyMap<string, Flow>;
  /** For `date` rules. @default the system clock */
  readonly clock?: Clock;
}

export interface CompiledFlow extends Conversation {
  readonly flow: Flow;
  /** The machine config as plain JSON, as XState and its tools read it. */
  readonly config: JsonObject;
  readonly screens: ReadonlyMap<string, ScreenNode>;
}

interface Build {
  readonly flows: ReadonlyMap<string, Flow>;
  /** Flows that are being compiled around this one: a flow cannot call itself. */
  readonly around: readonly string[];
  readonly nodes: Map<string, ScreenNode>;
  readonly used: Map<string, Flow>;
}

/** Compiles a flow that the schema has accepted. Throws ERR_FLOW_INVALID, ERR_EXPRESSION or ERR_TEMPLATE. */
export function compileFlow(flow: Flow, options: CompileOptions = {}): CompiledFlow {
  const build: Build = { flows: options.flows ?? new Map(), around: [], nodes: new Map(), used: new Map() };
  const { states, initial, on } = flowStates(flow, '', build);
  const config = { id: flow.flow, initial, context: initialContext(flow), states, on: { ...on, ...rootEvents(flow) } };
  const json = JSON.parse(JSON.stringify(config)) as JsonObject;
  const machine = compileMachine(machineOf(json, flow, build), 'pure');
  return {
    flow,
    config: json,
    screens: build.nodes,
    machine,
    ...conversationOf(flow, build, options.clock ?? systemClock),
  };
}

function flowStates(flow: Flow, path: string, build: Build) {
  if (build.around.includes(flow.flow)) {
    const circle = [...build.around, flow.flow].join(' → ');
    throw flowError(flow.flow, `it calls itself (${circle}). Break the circle; loops belong inside one flow.`);
  }
  const inside: Build = { ...build, around: [...build.around, flow.flow] };
  const scope = flowScope(flow, path);
  build.used.set(flow.flow, flow);
  const states: Record<string, StateConfig> = {};
  const on: Record<string, StateConfig> = {};
  for (const [id, screen] of Object.entries(flow.screens)) {
    const place: Place = { id, path: path + id, flow };
    build.nodes.set(place.path, {
      path: place.path,
      screen,
      scope,
      behaviour: KINDS[screen.type].behaviour(screen, scope),
    });
    states[id] = screen.type === 'flow' ? calledFlow(screen, place, inside) : KINDS[screen.type].state(screen, place);
    on[`back.${place.path}`] = { target: `.${id}`, actions: [{ type: 'goBack' }] };
  }
  if (path === '' && exitScreen(flow) === undefined) addGoodbye(scope, states, build);
  return { initial: flow.start, states, on };
}

function calledFlow(screen: Screen & { type: 'flow' }, place: Place, build: Build): StateConfig {
  const called = build.flows.get(screen.flow);
  if (!called)
    throw flowError(place.flow.flow, `screen "${place.id}" calls the flow "${screen.flow}", which is not loaded.`);
  const { $stack, $page, $bad, ...vars } = initialContext(called);
  return callingState(screen, place, { flow: called, vars, states: flowStates(called, `${place.path}.`, build) });
}

const GOODBYE = '$goodbye';

function addGoodbye(scope: FlowScope, states: Record<string, StateConfig>, build: Build): void {
  states[GOODBYE] = { type: 'final' };
  const show = (context: JsonObject, lang: string) => ({ text: scope.labels.goodbye.render(context, lang), rows: [] });
  const screen = { type: 'end', text: '' } as const;
  build.nodes.set(GOODBYE, { path: GOODBYE, screen, scope, behaviour: { show, listsExit: false } });
}

function rootEvents(flow: Flow): StateConfig {
  const leave = [{ type: 'goHome' }];
  return {
    home: { target: `.${flow.start}`, actions: leave },
    exit: { target: `.${exitScreen(flow) ?? GOODBYE}`, actions: leave },
  };
}

function initialContext(flow: Flow): Record<string, Json> {
  const vars = Object.entries(flow.vars ?? {}).map(([name, variable]) => [name, variable.default ?? null]);
  return { ...Object.fromEntries(vars), $stack: [], $page: 0, $bad: 0 };
}

/** The machine of a JSON config: what JSON cannot say (context from input, call inputs, guards, actions) is put in. */
function machineOf(config: JsonObject, flow: Flow, build: Build): AnyStateMachine {
  const start = config.context as unknown as MenuContext;
  const context = ({ input = {} }: { input?: Values }): MenuContext => ({ ...start, ...known(flow, input) });
  return menuVocabulary(menuImplementations(build.used)).createMachine({
    ...withInputs(config),
    context,
  } as MenuConfig);
}

// What the door knows (phoneNumber, sessionId …) goes into the variables of the same name that the flow declares.
function known(flow: Flow, given: Values): Values {
  const declared = Object.entries(given).filter(([name]) => flow.vars && Object.hasOwn(flow.vars, name));
  return Object.fromEntries(declared);
}

function withInputs(config: JsonObject): JsonObject {
  const { invoke, meta, states } = config as {
    invoke?: JsonObject;
    meta?: JsonObject;
    states?: { [id: string]: JsonObject };
  };
  const values = meta?.with as { [name: string]: Json } | undefined;
  const input = ({ context }: { context: JsonObject }) => evaluateValues(values ?? {}, context, compileExpression);
  return {
    ...config,
    ...(invoke && { invoke: { ...invoke, input: input as unknown as Json } }),
    ...(states && { states: Object.fromEntries(Object.entries(states).map(([id, state]) => [id, withInputs(state)])) }),
  };
}

function conversationOf(flow: Flow, { nodes, used }: Build, clock: Clock): Omit<Conversation, 'machine'> {
  const secrets = secretNames(used);
  const proven = provenNames(nodes);
  const policies = new Map(
    [...nodes].flatMap(([path, { screen }]) => (screen.type === 'call' ? [[path, policyOf(screen, secrets)]] : [])),
  );
  const session = flow.limits?.session === undefined ? undefined : durationMs(flow.limits.session);
  const nodeOf = (view: Pick<View, 'state'>) => nodes.get(pathOf(view.state))!;
  return {
    id: flow.flow,
    version: flow.version,
    hash: contentHash(used),
    read: (view, raw, prove) => readInput(nodeOf(view), raw, { view, prove, now: clock.now(), start: flow.start }),
    interrupt: (view, raw) => (raw === nodeOf(view).scope.keys.exit ? { type: 'exit' } : undefined),
    render: (view) => renderScreen(nodeOf(view), view),
    waitText: (view) => {
      const { scope } = nodeOf(view);
      return scope.phrase(flow.wait ?? DEFAULT_WAIT).render(view.context, langOf(scope, view.context));
    },
    redact: (context, prove) => redact(context, { secrets, proven, prove }),
    callPolicy: (id) => policies.get(id)!,
    secretsIn: (context) => [...new Set(secretTexts(context, secrets))],
    shown: shownOf(nodes),
    ...(session !== undefined && { ttlMs: session }),
    migrate: (rest, from) => migrateRest(rest, from.version, { flow, flows: used, nodes }),
  };
}

function policyOf(screen: Screen & { type: 'call' }, secrets: ReadonlySet<string>): CallPolicy {
  const names = expressionsIn(screen.with ?? {}).flatMap((source) => compileExpression(source).names);
  return {
    timeoutMs: (screen.timeout === undefined ? undefined : durationMs(screen.timeout)) ?? SHARED_LIMITS.callTimeoutMs,
    retries: screen.retry ?? 0,
    secret: names.some((name) => secrets.has(name)),
  };
}

function secretNames(flows: ReadonlyMap<string, Flow>): Set<string> {
  const names = new Map<string, string>();
  for (const { flow, vars } of flows.values())
    for (const [name, { secret }] of Object.entries(vars ?? {})) if (secret) names.set(name, flow);
  // A record is cleaned by name, in all its levels.
  for (const { flow, vars } of flows.values())
    for (const [name, { secret }] of Object.entries(vars ?? {}))
      if (names.has(name) && !secret) {
        const other = names.get(name);
        throw flowError(flow, `its variable "${name}" is a secret in "${other}". Rename one, or make both secret.`);
      }
  return new Set(names.keys());
}

// Secrets that a later screen asks for again: what is kept of them is a proof.
function provenNames(nodes: ReadonlyMap<string, ScreenNode>): Set<string> {
  const names = [...nodes.values()].map(({ screen }) => (screen.type === 'input' ? screen.accept?.sameAs : undefined));
  return new Set(names.filter((name) => typeof name === 'string'));
}

function redact(
  context: JsonObject,
  by: { secrets: ReadonlySet<string>; proven: ReadonlySet<string>; prove: Prove },
): JsonObject {
  const kept: Record<string, Json> = {};
  const proofs: Record<string, Json> = { ...(context.$proofs as JsonObject | undefined) };
  for (const name in context) {
    const value = context[name];
    if (value === undefined) continue;
    if (!by.secrets.has(name)) kept[name] = value;
    // Present in the turn that took it, null when the flow has put it away, absent in later turns.
    else if (by.proven.has(name) && value !== null) proofs[name] = by.prove(String(value));
    else delete proofs[name];
  }
  delete kept.$proofs;
  if (Object.keys(proofs).length) kept.$proofs = proofs;
  if (kept.$frames) kept.$frames = (kept.$frames as readonly JsonObject[]).map((frame) => redact(frame, by));
  return kept;
}

// Also of the flows that wait for a sub-flow: their secrets came in with it.
function secretTexts(context: JsonObject, secrets: ReadonlySet<string>): string[] {
  const own = [...secrets].flatMap((name) => textOf(context[name]));
  const frames = (context.$frames as readonly JsonObject[] | undefined) ?? [];
  return [...own, ...frames.flatMap((frame) => secretTexts(frame, secrets))];
}

const textOf = (value: Json | undefined) =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? [String(value)] : [];

function contentHash(flows: ReadonlyMap<string, Flow>): string {
  const content = JSON.stringify([...flows.values()]);
  return createHash('sha256').update(content).digest('base64url').slice(0, 12);
}
