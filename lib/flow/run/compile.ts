// Compiles a flow to a plain JSON machine config, its screens by path, and a conversation for the engine.

import { createHash } from 'node:crypto';
import type { AnyStateMachine } from 'xstate';
import { type MenuConfig, type MenuContext, menuVocabulary } from '../../../machines/ussd-menu.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Conversation, Library } from '../../engine/conversation.ts';
import { compileMachine } from '../../engine/machine/transition.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { compileExpression } from '../expression/expression.ts';
import { type Flow, findExitScreen, type Values } from '../format/flow.ts';
import { callingState, type FlowScreen } from '../screens/flow.ts';
import type { ScreenPlace, StateConfig } from '../screens/kind.ts';
import { findKind } from '../screens/kinds.ts';
import { flowConversation } from './conversation.ts';
import { evaluateValues, type FlowScope, flowError, flowScope, menuImplementations, type ScreenNode } from './scope.ts';

/** Options of `compileFlow`. */
export interface CompileOptions {
  /** The flows called by `flow` screens, by name. */
  readonly flows?: ReadonlyMap<string, Flow>;
  /** For `date` rules. @default the system clock */
  readonly clock?: Clock;
}

/** A flow as a conversation of the engine. */
export interface CompiledFlow extends Conversation {
  readonly flow: Flow;
  /** The machine config as plain JSON, readable by XState and its tools. */
  readonly config: JsonObject;
  readonly screens: ReadonlyMap<string, ScreenNode>;
}

/** Whether a conversation is a flow; others are custom machines. */
export const isFlow = (conversation: object): conversation is CompiledFlow => 'screens' in conversation;

/** The currently loaded flows among the conversations, by name. */
export function flowsIn({ ids, current }: Pick<Library, 'ids' | 'current'>): Map<string, CompiledFlow> {
  return new Map(
    ids.map((id) => [id, current(id)!] as const).filter((entry): entry is [string, CompiledFlow] => isFlow(entry[1])),
  );
}

interface Build {
  readonly flows: ReadonlyMap<string, Flow>;
  /** Enclosing flows under compilation: a flow cannot call itself. */
  readonly around: readonly string[];
  readonly nodes: Map<string, ScreenNode>;
  readonly used: Map<string, Flow>;
}

/**
 * Compiles a flow that the schema has accepted. Throws ERR_FLOW_INVALID, ERR_EXPRESSION or ERR_TEMPLATE.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * const { reply } = await takeTurn(engine, { key: '+260971234567', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * reply?.text; // → 'Hello\n1. Leave'
 */
export function compileFlow(flow: Flow, options: CompileOptions = {}): CompiledFlow {
  requireGiven('compile a flow', { flow, ...options }, { flow: 'flow', flows: 'flows?', clock: 'clock?' });
  const build: Build = { flows: options.flows ?? new Map(), around: [], nodes: new Map(), used: new Map() };
  const { states, initial, on } = flowStates(flow, '', build);
  const config = { id: flow.flow, initial, context: initialContext(flow), states, on: { ...on, ...rootEvents(flow) } };
  const json = JSON.parse(JSON.stringify(config)) as JsonObject;
  const machine = compileMachine(buildMachine(json, flow, build), 'pure');
  return {
    flow,
    config: json,
    screens: build.nodes,
    machine,
    id: flow.flow,
    version: flow.version,
    hash: contentHash(build.used),
    ...flowConversation(flow, build, options.clock ?? systemClock),
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
    const kind = findKind(screen);
    const place: ScreenPlace = {
      id,
      path: path + id,
      flow: flow.flow,
      waits: kind.waits,
      isWall: (other) => flow.screens[other]?.back === false,
    };
    build.nodes.set(place.path, { path: place.path, screen, scope, behaviour: kind.behaviour(screen, scope) });
    states[id] = screen.type === 'flow' ? compileCalledFlow(screen, place, inside) : kind.state(screen, place);
    on[`back.${place.path}`] = { target: `.${id}`, actions: [{ type: 'goBack' }] };
  }
  if (path === '' && findExitScreen(flow) === undefined) addGoodbye(scope, states, build);
  return { initial: flow.start, states, on };
}

function compileCalledFlow(screen: FlowScreen, place: ScreenPlace, build: Build): StateConfig {
  const called = build.flows.get(screen.flow);
  if (!called)
    throw flowError(place.flow, `screen "${place.id}" calls the flow "${screen.flow}", which is not loaded.`);
  const { $stack, $page, $bad, ...vars } = initialContext(called);
  const states = flowStates(called, `${place.path}.`, build);
  const isWalled = called.screens[called.start]?.back === false;
  return callingState(screen, place, { id: called.flow, vars, states, isWalled });
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
    exit: { target: `.${findExitScreen(flow) ?? GOODBYE}`, actions: leave },
  };
}

function initialContext(flow: Flow): Record<string, Json> {
  const vars = Object.entries(flow.vars ?? {}).map(([name, variable]) => [name, variable.default ?? null]);
  return { ...Object.fromEntries(vars), $stack: [], $page: 0, $bad: 0 };
}

/** The machine of a JSON config, plus what JSON cannot express (context from input, call inputs, guards, actions). */
function buildMachine(config: JsonObject, flow: Flow, build: Build): AnyStateMachine {
  const start = config.context as unknown as MenuContext;
  const context = ({ input = {} }: { input?: Values }): MenuContext => ({ ...start, ...pickDeclared(flow, input) });
  return menuVocabulary(menuImplementations(build.used)).createMachine({
    ...withInputs(config),
    context,
  } as MenuConfig);
}

// The gateway's data about the caller (phoneNumber, sessionId …) initializes declared variables of the same name.
function pickDeclared(flow: Flow, values: Values): Values {
  const declared = Object.entries(values).filter(([name]) => flow.vars && Object.hasOwn(flow.vars, name));
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

function contentHash(flows: ReadonlyMap<string, Flow>): string {
  const content = JSON.stringify([...flows.values()]);
  return createHash('sha256').update(content).digest('base64url').slice(0, 12);
}
