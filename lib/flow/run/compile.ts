// Compiles a flow to a plain JSON machine config, its screens by path, and a conversation for the engine. A flow that others
// call is one part of the machine, however often it is called; where it goes on after it has ended is in the variables.

import { createHash } from 'node:crypto';
import type { AnyStateMachine } from 'xstate';
import type { MenuContext } from '../../../machines/menu-types.ts';
import { type MenuConfig, menuVocabulary } from '../../../machines/ussd-menu.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Conversation, Library } from '../../engine/conversation.ts';
import { compileMachine, type Machine } from '../../engine/machine/transition.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Calendar, isTimeZone } from '../expression/days.ts';
import { type Flow, findExitScreen, listRefusals, type Values } from '../format/flow.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { type CalledFlow, callingState, returnEvent, returningWays } from '../screens/flow.ts';
import type { Behaviour, ScreenPlace, StateConfig } from '../screens/kind.ts';
import { findKind, isInteractive } from '../screens/kinds.ts';
import { flowConversation } from './conversation.ts';
import { RESUME, resumeNode, resumeState } from './keeping.ts';
import {
  type FlowScope,
  flowError,
  flowScope,
  menuImplementations,
  type ScreenNode,
  type ValueReader,
  type ValueReaders,
  valueReader,
  withInputs,
} from './scope.ts';

/** Options of `compileFlow`. */
export interface CompileOptions {
  /** The flows called by `flow` screens, by name. */
  readonly flows?: ReadonlyMap<string, Flow>;
  /** For dates and times. @default the system clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** The time zone of a flow that names none. @default UTC */
  readonly timezone?: string | undefined;
}

/** A flow as a conversation of the engine. */
export interface CompiledFlow extends Conversation {
  readonly flow: Flow;
  /** The machine config as plain JSON, readable by XState and its tools. */
  readonly config: JsonObject;
  readonly screens: ReadonlyMap<string, ScreenNode>;
  /** The same flow by another clock: a test or a replay has its own time. */
  withClock(clock: Pick<Clock, 'now'>): CompiledFlow;
}

/** Whether a conversation is a flow; others are custom machines. */
export const isFlow = (conversation: object): conversation is CompiledFlow => 'screens' in conversation;

/** The currently loaded flows among the conversations, by name. */
export function flowsIn({ ids, current }: Pick<Library, 'ids' | 'current'>): Map<string, CompiledFlow> {
  return new Map(
    ids.map((id) => [id, current(id)!] as const).filter((entry): entry is [string, CompiledFlow] => isFlow(entry[1])),
  );
}

/** What is compiled once of a flow, for every machine that it is part of. */
interface FlowBody {
  readonly scope: FlowScope;
  readonly reader: ValueReader;
  readonly behaviours: ReadonlyMap<string, Behaviour>;
  /** The flow as JSON. */
  readonly content: string;
}

/**
 * Compiles a flow that the schema has accepted. Throws ERR_FLOW_INVALID, also for an unknown time zone, ERR_EXPRESSION or ERR_TEMPLATE.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * const { reply } = await takeTurn(engine, { key: '+260971234567', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * reply?.text; // → 'Hello\n1. Leave'
 */
export function compileFlow(flow: Flow, options: CompileOptions = {}): CompiledFlow {
  requireGiven('compile a flow', { flow, ...options }, { flow: 'flow', flows: 'flows?', clock: 'clock?' });
  return flowCompiler(options)(flow);
}

/** Compiles flows that call each other: as {@link compileFlow}, and what they share once. `flows` may change in between. */
export function flowCompiler(options: CompileOptions): (flow: Flow) => CompiledFlow {
  const { flows = new Map(), clock = systemClock, timezone } = options;
  const calendar = { now: () => clock.now(), timezone };
  const bodies = new Map<Flow, FlowBody>();
  const findBody = (flow: Flow): FlowBody => {
    const body = bodies.get(flow) ?? compileBody(flow, calendar);
    bodies.set(flow, body);
    return body;
  };
  return (flow) => {
    const used = listUsedFlows(flow, flows);
    const nodes = new Map<string, ScreenNode>();
    for (const one of used.values()) addNodes(nodes, one, { body: findBody(one), prefix: statePrefix(one, flow) });
    if (findExitScreen(flow) === undefined) nodes.set(GOODBYE, goodbyeNode(findBody(flow).scope));
    if (flow.limits?.resume !== undefined) nodes.set(RESUME, resumeNode(findBody(flow).scope));
    // Most called flows are never dialled, so their machines are made on first use.
    let config: JsonObject | undefined;
    let machine: Machine | undefined;
    return {
      flow,
      screens: nodes,
      get config() {
        config ??= JSON.parse(JSON.stringify(machineConfig(flow, used))) as JsonObject;
        return config;
      },
      get machine() {
        machine ??= compileMachine(
          buildMachine(this.config, flow, {
            used,
            readers: new Map([...used].map(([name, one]) => [name, findBody(one).reader])),
          }),
          'pure',
        );
        return machine;
      },
      id: flow.flow,
      version: flow.version,
      hash: contentHash([...used.values()].map((one) => findBody(one).content)),
      withClock: (other) => flowCompiler({ flows: used, clock: other, timezone })(flow),
      ...flowConversation(flow, { nodes, used, calendar, begin: (input) => beginContext(flow, input) }),
    };
  };
}

/** The flow and all that it calls, directly or through others, by name. */
function listUsedFlows(flow: Flow, flows: ReadonlyMap<string, Flow>): Map<string, Flow> {
  const used = new Map<string, Flow>();
  const levels = new Map<string, number>();
  const countLevels = (one: Flow, path: readonly string[]): number => {
    used.set(one.flow, one);
    let below = 0;
    for (const [id, screen] of Object.entries(one.screens)) {
      if (screen.type !== 'flow') continue;
      const called = flows.get(screen.flow);
      if (!called) throw flowError(one.flow, `screen "${id}" calls the flow "${screen.flow}", which is not loaded.`);
      below = Math.max(below, visit(called, path));
    }
    levels.set(one.flow, below + 1);
    return below + 1;
  };
  const visit = (one: Flow, around: readonly string[]): number => {
    const path = [...around, one.flow];
    if (around.includes(one.flow))
      throw flowError(
        one.flow,
        `it calls itself (${path.join(' → ')}). Break the circle; loops belong inside one flow.`,
      );
    const isFar = path.length > FLOW_LIMITS.flowLevels;
    const count = isFar ? 1 : (levels.get(one.flow) ?? countLevels(one, path));
    if (around.length + count <= FLOW_LIMITS.flowLevels) return count;
    throw flowError(
      flow.flow,
      `${path.join(' → ')} and what that calls are more than ${FLOW_LIMITS.flowLevels} flows, each called by the one before. Let one screen call them one after the other.`,
    );
  };
  visit(flow, []);
  return used;
}

function compileBody(flow: Flow, calendar: Calendar): FlowBody {
  const { timezone } = flow;
  if (timezone !== undefined && !isTimeZone(timezone))
    throw flowError(flow.flow, `there is no time zone "${timezone}". Write one such as Africa/Nairobi.`);
  const scope = flowScope(flow, calendar);
  const behaviours = new Map<string, Behaviour>();
  for (const [id, screen] of Object.entries(flow.screens)) {
    const kind = findKind(screen);
    const lost = [flow.start, ...kind.targets(screen)].find((to) => !Object.hasOwn(flow.screens, to));
    if (lost !== undefined)
      throw flowError(flow.flow, `screen "${id}" leads to "${lost}", which is not a screen of it.`);
    behaviours.set(id, kind.behaviour(screen, scope));
  }
  return { scope, reader: valueReader(scope), behaviours, content: JSON.stringify(flow) };
}

// The states of the outermost flow are named as its screens.
const statePrefix = (flow: Flow, outermost: Flow): string => (flow === outermost ? '' : `${flow.flow}.`);

function addNodes(
  nodes: Map<string, ScreenNode>,
  flow: Flow,
  { body: { scope, behaviours }, prefix }: { readonly body: FlowBody; readonly prefix: string },
): void {
  for (const [id, behaviour] of behaviours) {
    const path = prefix + id;
    nodes.set(path, { path, prefix, screen: flow.screens[id]!, scope, behaviour });
  }
}

const GOODBYE = '$goodbye';

function goodbyeNode(scope: FlowScope): ScreenNode {
  const behaviour = { print: scope.labels.goodbye.render, listsExit: false };
  return { path: GOODBYE, prefix: '', screen: { type: 'end', text: '' }, scope, behaviour };
}

/** One state for each screen of each flow: `pin`, and `login.pin` of the called flow `login`, from wherever that is called. */
function machineConfig(flow: Flow, used: ReadonlyMap<string, Flow>): StateConfig {
  const states: Record<string, StateConfig> = {};
  const on: Record<string, StateConfig | readonly StateConfig[]> = {};
  for (const one of used.values()) {
    const refusable = new Set(listRefusals(one).map(({ to }) => to));
    for (const [id, screen] of Object.entries(one.screens)) {
      const place = screenPlace(id, one, { outermost: flow, refusable });
      const { path } = place;
      states[path] =
        screen.type === 'flow'
          ? callingState(screen, place, calledFlow(used.get(screen.flow)!))
          : findKind(screen).state(screen, place);
      on[`back.${path}`] = { target: `.${place.target(id)}`, actions: [{ type: 'goBack' }] };
      if (screen.type === 'flow') on[returnEvent(path)] = returningWays(screen, place);
    }
  }
  if (findExitScreen(flow) === undefined) states[GOODBYE] = { type: 'final' };
  if (flow.limits?.resume !== undefined) states[RESUME] = resumeState(flow);
  const leave = [{ type: 'goHome' }];
  on.home = { target: `.${flow.start}`, actions: leave };
  on.exit = { target: `.${findExitScreen(flow) ?? GOODBYE}`, actions: leave };
  return { id: flow.flow, initial: flow.start, context: initialContext(flow), states, on };
}

// XState reads a dot in a target as a step into a state.
const formatTarget = (prefix: string, id: string): string => prefix.replace('.', '\\.') + id;

function screenPlace(
  id: string,
  flow: Flow,
  { outermost, refusable }: { readonly outermost: Flow; readonly refusable: ReadonlySet<string> },
): ScreenPlace {
  const prefix = statePrefix(flow, outermost);
  return {
    id,
    path: prefix + id,
    flow: flow.flow,
    isCalled: flow !== outermost,
    waits: isInteractive(flow.screens[id]!),
    target: (to) => formatTarget(prefix, to),
    isWall: (to) => flow.screens[to]?.back === false,
    isRefusable: refusable.has(id),
  };
}

function calledFlow(flow: Flow): CalledFlow {
  const { $stack, $page, $bad, $zone, ...vars } = initialContext(flow);
  const isWalled = flow.screens[flow.start]!.back === false;
  return { id: flow.flow, vars, target: formatTarget(`${flow.flow}.`, flow.start), isWalled };
}

function initialContext(flow: Flow): Record<string, Json> {
  const vars = Object.entries(flow.vars ?? {}).map(([name, variable]) => [name, variable.default ?? null]);
  const zone = flow.timezone === undefined ? {} : { $zone: flow.timezone };
  return { ...Object.fromEntries(vars), ...zone, $stack: [], $page: 0, $bad: 0 };
}

const beginContext = (flow: Flow, input: JsonObject): JsonObject => ({
  ...initialContext(flow),
  ...pickDeclared(flow, input),
});

/** The machine of a JSON config, plus what JSON cannot express (context from input, call inputs, guards, actions). */
function buildMachine(
  config: JsonObject,
  flow: Flow,
  { used, readers }: { readonly used: ReadonlyMap<string, Flow>; readonly readers: ValueReaders },
): AnyStateMachine {
  const context = ({ input = {} }: { input?: Values }) =>
    beginContext(flow, input as JsonObject) as unknown as MenuContext;
  return menuVocabulary(menuImplementations(used, readers)).createMachine({
    ...withInputs(config, readers),
    context,
  } as MenuConfig);
}

// The gateway's data about the caller (phoneNumber, sessionId …) initializes declared variables of the same name.
function pickDeclared(flow: Flow, values: JsonObject): JsonObject {
  const declared = Object.entries(values).filter(([name]) => flow.vars && Object.hasOwn(flow.vars, name));
  return Object.fromEntries(declared);
}

function contentHash(contents: readonly string[]): string {
  return createHash('sha256').update(`[${contents.join()}]`).digest('base64url').slice(0, 12);
}
