// A compiled flow as a conversation of the engine: what an input means on a screen, and what may be stored or shown. Private
// values are masked in variables, in replies and in logs.

import type { EventObject } from 'xstate';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { CallPolicy, Conversation, Prove, ShownForms, TaskPolicy, View } from '../../engine/conversation.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { listTexts, MASK } from '../../redact.ts';
import type { Calendar } from '../expression/days.ts';
import { maskPrinted } from '../expression/template.ts';
import { composeText, findBorder, toAsciiDigits } from '../expression/values.ts';
import type { Flow, Screen } from '../format/flow.ts';
import { durationMs } from '../format/way.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { type AfterCall, nameAfterCall } from '../screens/end.ts';
import { isInteractive } from '../screens/kinds.ts';
import { flowKeeping } from './keeping.ts';
import { migrateRest } from './migrate.ts';
import { isKey, readPageKey, renderScreen, screenKeys } from './page.ts';
import {
  chooseLang,
  flowError,
  flowScope,
  keepsPrivate,
  keepsSecret,
  listPrivateNames,
  listRead,
  type ScreenNode,
} from './scope.ts';

// As the door answers when it cannot take a turn.
const UNAVAILABLE = 'Service temporarily unavailable. Please try again later.';

interface CompiledScreens {
  readonly nodes: ReadonlyMap<string, ScreenNode>;
  /** The flow and the flows it calls, by name. */
  readonly used: ReadonlyMap<string, Flow>;
  readonly calendar: Calendar;
  /** The context of its machine at the beginning. */
  readonly begin: (input: JsonObject) => JsonObject;
}

/** The engine's view of a compiled flow, besides its machine. */
export function flowConversation(
  flow: Flow,
  { nodes, used: usedServices, calendar, begin }: CompiledScreens,
): Omit<Conversation, 'id' | 'version' | 'hash' | 'machine'> {
  const secrets = listSecretNames(usedServices);
  const proven = listProvenNames(nodes);
  const privates = listPrivateNames(usedServices.values());
  const policies = new Map(
    [...nodes].flatMap(([path, { screen }]) => (screen.type === 'call' ? [[path, callPolicy(screen, secrets)]] : [])),
  );
  const tasks = listTaskPolicies(nodes, secrets);
  const session = flow.limits?.session === undefined ? undefined : durationMs(flow.limits.session);
  const keeping = flowKeeping(flow, { nodes, begin });
  const findNode = (view: Pick<View, 'state'>) => nodes.get(toPath(view.state))!;
  const scope = flowScope(flow, calendar);
  const waitText = ({ context }: View) => scope.wait.render(context, chooseLang(scope, context));
  return {
    read: (view, raw, prove) => readInput(findNode(view), raw, { view, prove, now: calendar.now() }),
    interrupt: (view, raw) =>
      typeof raw === 'string' && isKey(raw, screenKeys(findNode(view)).exit) ? { type: 'exit' } : undefined,
    render: (view) => renderScreen(findNode(view), view),
    waitText,
    redact: (context, prove) => redact(context, { secrets, proven, prove }),
    callPolicy: (id) => policies.get(id)!,
    ...(tasks.size && { taskPolicy: (id) => tasks.get(id)! }),
    unusable: 'ERR_EXPRESSION',
    language: (context) => chooseLang(scope, context),
    failText: () => UNAVAILABLE,
    secretsIn: (context) => [...new Set(listSecretTexts(context, secrets))],
    shown: showToWatchers(nodes, { privates, waitText }),
    ...(privates.size && {
      isPrivate: true,
      privateIn: (context) => [...new Set(listPrivateTexts(context, privates))],
    }),
    ...(session !== undefined && { ttlMs: session }),
    ...(keeping && { keeping }),
    migrate: (rest, from) => migrateRest(rest, from.version, { flow, flows: usedServices, nodes }),
  };
}

function callPolicy(screen: Screen & { type: 'call' }, secrets: ReadonlySet<string>): CallPolicy {
  const names = listRead(screen.with ?? {});
  const { timeout, answer } = screen;
  const isCalledBack = answer === 'callback';
  return {
    timeoutMs: readTimeout(isCalledBack ? undefined : timeout),
    ...(isCalledBack && {
      callbackMs: (timeout === undefined ? undefined : durationMs(timeout)) ?? FLOW_LIMITS.callbackMs,
    }),
    retries: screen.retry ?? 0,
    secret: names.some((name) => secrets.has(name)),
  };
}

function listTaskPolicies(
  nodes: ReadonlyMap<string, ScreenNode>,
  secrets: ReadonlySet<string>,
): Map<string, TaskPolicy> {
  const policies = new Map<string, TaskPolicy>();
  for (const [path, { screen, scope }] of nodes) {
    if (screen.type !== 'end') continue;
    for (const [at, call] of (screen.after ?? []).entries()) {
      // It is stored until it is done.
      const name = listRead(call.with ?? {}).find((one) => secrets.has(one));
      if (name !== undefined)
        throw flowError(
          scope.flow.flow,
          `screen "${path}" passes the secret variable "${name}" to "${call.service}" after the reply, when it is gone. Call the service before.`,
        );
      policies.set(nameAfterCall(path, at), taskPolicy(call));
    }
  }
  return policies;
}

function taskPolicy({ timeout, retry }: AfterCall): TaskPolicy {
  return {
    timeoutMs: readTimeout(timeout),
    failuresMax: (retry ?? FLOW_LIMITS.taskRetries) + 1,
  };
}

const readTimeout = (timeout: string | undefined) =>
  (timeout === undefined ? undefined : durationMs(timeout)) ?? COMMON_LIMITS.callTimeoutMs;

function listSecretNames(flows: ReadonlyMap<string, Flow>): Set<string> {
  const names = new Map<string, string>();
  for (const { flow, vars } of flows.values())
    for (const [name, { secret }] of Object.entries(vars ?? {})) if (secret) names.set(name, flow);
  // Records are redacted by name, at all levels.
  for (const { flow, vars } of flows.values())
    for (const [name, { secret }] of Object.entries(vars ?? {}))
      if (names.has(name) && !secret) {
        const other = names.get(name);
        throw flowError(flow, `its variable "${name}" is a secret in "${other}". Rename one, or make both secret.`);
      }
  return new Set(names.keys());
}

// Secrets that a later screen compares against: only a proof is stored.
function listProvenNames(nodes: ReadonlyMap<string, ScreenNode>): Set<string> {
  const names = [...nodes.values()].map(({ screen }) => (screen.type === 'input' ? screen.accept?.sameAs : undefined));
  return new Set(names.filter((name) => typeof name === 'string'));
}

function redact(
  context: JsonObject,
  by: { secrets: ReadonlySet<string>; proven: ReadonlySet<string>; prove: Prove },
): JsonObject {
  const open: Record<string, Json> = {};
  const proofs: Record<string, Json> = { ...(context.$proofs as JsonObject | undefined) };
  for (const name in context) {
    const value = context[name];
    if (value === undefined) continue;
    if (!by.secrets.has(name)) open[name] = value;
    // Present in the turn that received it, null once the flow has cleared it, absent in later turns.
    else if (by.proven.has(name) && value !== null) proofs[name] = by.prove(String(value));
    else delete proofs[name];
  }
  delete open.$proofs;
  if (Object.keys(proofs).length) open.$proofs = proofs;
  if (open.$frames) open.$frames = (open.$frames as readonly JsonObject[]).map((frame) => redact(frame, by));
  if (open.$undo) open.$undo = readEarlier(open).map((values) => withoutNames(values, by.secrets));
  return open;
}

/** The values that Back restores, by step. */
const readEarlier = ({ $undo }: JsonObject) => ($undo as readonly JsonObject[] | undefined) ?? [];

/** What else has variables in it: waiting parent flows, and the values that Back restores. */
const listInner = (context: JsonObject): readonly JsonObject[] => [
  ...((context.$frames as readonly JsonObject[] | undefined) ?? []),
  ...readEarlier(context),
];

function withoutNames(values: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

// Includes waiting parent flows, whose secrets were passed in.
function listSecretTexts(context: JsonObject, secrets: ReadonlySet<string>): string[] {
  const own = [...secrets].flatMap((name) => toTextOrEmpty(context[name]));
  return [...own, ...listInner(context).flatMap((inner) => listSecretTexts(inner, secrets))];
}

const toTextOrEmpty = (value: Json | undefined) =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? [String(value)] : [];

interface InputReading {
  readonly view: View;
  readonly prove: Prove;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The event for an input, or undefined to show the same screen again: for an empty answer, or any key but exit while the
 * caller waits. Caller text is only ever payload, never an event type.
 */
function readInput(node: ScreenNode, raw: Json, reading: InputReading): EventObject | undefined {
  const input = typeof raw === 'string' ? cleanInput(raw) : '';
  if (input === '') return undefined;
  const key = toAsciiDigits(input);
  if (reading.view.waiting || !isInteractive(node.screen))
    return isKey(key, screenKeys(node).exit) ? { type: 'exit' } : undefined;
  const { context } = reading.view;
  const event = readPageKey(node, context, key);
  // What is no key of this page is an answer, where the screen takes one.
  return (
    event ??
    node.behaviour.read?.({ input, key, context, prove: reading.prove, now: reading.now }) ?? { type: 'invalid' }
  );
}

const CONTROL = /\p{Cc}+/gu;

function cleanInput(raw: string): string {
  const most = COMMON_LIMITS.ussdTextChars;
  const composed = composeText(raw);
  const text = composed.length > most ? composed.slice(0, findBorder(composed, most)) : composed;
  return text.replace(CONTROL, ' ').trim();
}

// Hides from observers all secrets, and masks private values.
function showToWatchers(
  nodes: ReadonlyMap<string, ScreenNode>,
  { privates, waitText }: { privates: ReadonlySet<string>; waitText: Conversation['waitText'] },
): ShownForms {
  const findNode = ({ state }: Pick<View, 'state'>) => nodes.get(toPath(state));
  const isHidden = (node: ScreenNode | undefined) => !node || keepsSecret(node) || keepsPrivate(node);
  return {
    ...(privates.size && {
      context: (context) => maskContext(context, privates),
      // The caller's text with `*` for each character printed from private variables. Pages may break at a different word.
      reply: (view) => {
        const masked = { ...view, context: maskPrinted(view.context, privates) };
        return view.waiting ? waitText(masked) : renderScreen(findNode(view)!, masked).text;
      },
    }),
    input: (view, input) => {
      const node = findNode(view);
      // Input on a list is the number of a row.
      const isNumber = node?.screen.type === 'list';
      return typeof input !== 'string' || (isHidden(node) && !isNumber) ? null : input;
    },
    output: (id, output): Json => (isHidden(nodes.get(id)) ? null : output),
  };
}

/** Replaces non-null private variables by MASK, in waiting parent flows and in what Back restores too. */
function maskContext(context: JsonObject, names: ReadonlySet<string>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const name in context) {
    const value = context[name]!;
    shown[name] = names.has(name) && (value ?? null) !== null ? MASK : value;
  }
  const frames = context.$frames as readonly JsonObject[] | undefined;
  if (frames) shown.$frames = frames.map((frame) => maskContext(frame, names));
  if (context.$undo) shown.$undo = readEarlier(context).map((values) => maskContext(values, names));
  return shown;
}

/** All texts and numbers in private variables, including those of waiting parent flows and of what Back restores. */
function listPrivateTexts(context: JsonObject, names: ReadonlySet<string>): string[] {
  const own = [...names].flatMap((name) => listTexts(context[name] ?? null));
  return [...own, ...listInner(context).flatMap((inner) => listPrivateTexts(inner, names))];
}
