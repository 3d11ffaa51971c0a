// Why a dialled draft shows what it shows: the ways that were taken, the calls with what they were given and how they ended, and the
// variables that changed. Secret and private values are masked.

import type { InspectionEvent } from '../../../lib/engine/conversation.ts';
import { toPath } from '../../../lib/engine/machine/state-path.ts';
import type { Service } from '../../../lib/engine/service.ts';
import { sayExpression } from '../../../lib/flow/editing/plain-words.ts';
import { parseExpression } from '../../../lib/flow/expression/parse.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { findKind } from '../../../lib/flow/screens/kinds.ts';
import { isObject } from '../../../lib/given.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';

/** A way from one screen to another, in the order in which they were taken. */
export interface TakenWay {
  /** Paths of screens; the first way of a dial comes from nowhere. */
  readonly from: string | null;
  readonly to: string;
  /** The name of the way: `opt.sell`, `done [ok]`. */
  readonly way: string;
  /** The condition that opened it, in plain words. */
  readonly because?: string;
}

export interface MadeCall {
  /** Path of the screen. */
  readonly screen: string;
  readonly service: string;
  readonly input: Json;
  readonly output?: Json;
  /** Why it failed, in the words of the server. */
  readonly failure?: { readonly code: string; readonly message: string };
}

export interface ChangedVariable {
  readonly name: string;
  readonly before: Json;
  readonly after: Json;
}

export interface TurnReasons {
  /** Path of the screen that is shown. */
  readonly screen: string;
  readonly ways: readonly TakenWay[];
  readonly calls: readonly MadeCall[];
  readonly changed: readonly ChangedVariable[];
}

type Transition = InspectionEvent['transitions'][number];

interface CallRecord {
  readonly service: string;
  readonly input: JsonObject;
  message: string;
}

const HIDDEN = '••••';
const NO_CALLS: readonly CallRecord[] = [];

export interface ReasonsRecorder {
  /** Hand it to the engine. */
  readonly inspector: { isWatched(): boolean; emit(event: InspectionEvent): void };
  /** A service that notes what it is given and why it fails. */
  watch(name: string, service: Service): Service;
  /** What has happened since the last reading; undefined if nothing was stored. */
  read(): TurnReasons | undefined;
}

/** Records the turns of one phone. */
export function recordReasons(compiled: CompiledFlow): ReasonsRecorder {
  let events: InspectionEvent[] = [];
  let calls: CallRecord[] = [];
  let known: JsonObject = {};
  return {
    inspector: { isWatched: () => true, emit: (event) => void events.push(event) },
    watch: (service, ask) => async (input, call) => {
      const record: CallRecord = { service, input, message: '' };
      calls.push(record);
      try {
        return await ask(input, call);
      } catch (error) {
        record.message = error instanceof Error ? error.message : String(error);
        throw error;
      }
    },
    read() {
      const last = events.at(-1);
      if (!last) return undefined;
      const reasons = {
        screen: toPath(last.rest.state),
        ways: events.flatMap(({ transitions }) => transitions.flatMap((one) => describeWays(compiled, one))),
        calls: describeCalls(compiled, { events, calls }),
        changed: listChanges(known, last.rest.context),
      };
      known = last.rest.context;
      events = [];
      calls = [];
      return reasons;
    },
  };
}

function describeWays(compiled: CompiledFlow, { event, from, to }: Transition): TakenWay[] {
  const end = toPath(to);
  if (from === null) return [{ from, to: end, way: event }];
  const start = toPath(from);
  return findRoute(compiled, { start, event, end, passed: new Set() }) ?? [{ from: start, to: end, way: event }];
}

interface SoughtWay {
  readonly start: string;
  readonly event: string;
  readonly end: string;
  /** Branches on the way. */
  readonly passed: Set<string>;
}

// A step of the machine goes through branches at once, without a state for them.
function findRoute(compiled: CompiledFlow, { start, event, end, passed }: SoughtWay): TakenWay[] | undefined {
  const node = compiled.screens.get(start);
  if (!node || passed.has(start)) return undefined;
  passed.add(start);
  const steps = findKind(node.screen)
    .steps(node.screen, { path: start })
    .filter((step) => step.event === event);
  for (const { to, label } of steps) {
    const path = node.prefix + to;
    const because = sayGuards(steps.filter((step) => step.to === to).map(({ guard }) => guard));
    const way = { from: start, to: path, way: label, ...(because !== undefined && { because }) };
    if (path === end) return [way];
    const { type } = compiled.screens.get(path)?.screen ?? {};
    const rest = type === 'branch' ? findRoute(compiled, { start: path, event: 'always', end, passed }) : undefined;
    if (rest) return [way, ...rest];
  }
  return undefined;
}

// Where several ways lead to the same screen, one of them was taken.
function sayGuards(guards: readonly (string | undefined)[]): string | undefined {
  if (guards.includes(undefined)) return undefined;
  return guards.map((guard) => sayExpression(guard!) ?? guard).join(', or ');
}

function describeCalls(
  compiled: CompiledFlow,
  { events, calls }: { readonly events: readonly InspectionEvent[]; readonly calls: readonly CallRecord[] },
): MadeCall[] {
  const left = [...calls];
  return events.flatMap(({ turn }) =>
    (turn?.answers ?? []).map(({ call: screen, service, outcome }): MadeCall => {
      const at = left.findIndex((one) => one.service === service);
      const [record] = at < 0 ? NO_CALLS : left.splice(at, 1);
      const hidden = new Set<string>();
      const node = compiled.screens.get(screen);
      const given = node?.screen.type === 'call' ? (node.screen.with as Json | undefined) : undefined;
      const isKept = (name: string) => node !== undefined && isHidden(node.scope.flow, name);
      const input = hideInput(record?.input ?? {}, given, { isHidden: isKept, hidden });
      const shared = { screen, service, input };
      if ('output' in outcome) return { ...shared, output: outcome.output };
      const message = [...hidden].reduce((words, value) => words.replaceAll(value, HIDDEN), record?.message ?? '');
      return { ...shared, failure: { code: outcome.code, message } };
    }),
  );
}

function isHidden({ vars }: Pick<Flow, 'vars'>, name: string): boolean {
  const variable = vars?.[name];
  return variable?.secret === true || variable?.private === true;
}

interface Hiding {
  readonly isHidden: (name: string) => boolean;
  /** Takes the texts that were hidden. */
  readonly hidden: Set<string>;
}

// What was computed from a secret or private variable is not shown.
function hideInput(value: Json, given: Json | undefined, hiding: Hiding): Json {
  if (typeof given === 'string' && given.startsWith('=')) {
    const isOpen = listNames(given.slice(1)).every((name) => !hiding.isHidden(name));
    if (isOpen) return value;
    if (value !== null && typeof value !== 'object') hiding.hidden.add(String(value));
    return HIDDEN;
  }
  if (Array.isArray(value)) return value.map((one, at) => hideInput(one, (given as Json[] | undefined)?.[at], hiding));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      hideInput(one as Json, isObject(given) ? (given[name] as Json) : undefined, hiding),
    ]),
  );
}

function listNames(source: string): readonly string[] {
  try {
    return parseExpression(source).names;
  } catch {
    return [];
  }
}

/** The variables that differ; those of the engine are left out. */
function listChanges(before: JsonObject, after: JsonObject): ChangedVariable[] {
  return Object.keys(after)
    .filter((name) => !name.startsWith('$') && JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }));
}
