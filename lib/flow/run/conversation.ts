// A compiled flow as an engine keeps it: what an input means on a screen, and what of it may be stored or shown; private values
// are masked in variables, in what a caller reads, and in logs.

import type { EventObject } from 'xstate';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { CallPolicy, Conversation, Prove, ShownForms, View } from '../../engine/conversation.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { listTexts, MASK } from '../../redact.ts';
import { compileExpression } from '../expression/expression.ts';
import { maskPrinted } from '../expression/template.ts';
import { DEFAULT_WAIT, durationMs, type Flow, type Screen } from '../format/flow.ts';
import { migrateRest } from './migrate.ts';
import { backTarget, canGoBack, depth, renderScreen, screenPages } from './render.ts';
import {
  chooseLang,
  flowError,
  keepsPrivate,
  keepsSecret,
  listExpressions,
  listPrivateNames,
  type ScreenNode,
} from './scope.ts';

interface CompiledScreens {
  readonly nodes: ReadonlyMap<string, ScreenNode>;
  /** The flow and those that it calls, by name. */
  readonly used: ReadonlyMap<string, Flow>;
}

/** What an engine asks of a compiled flow, beside its machine. */
export function flowConversation(
  flow: Flow,
  { nodes, used: usedServices }: CompiledScreens,
  clock: Clock,
): Omit<Conversation, 'id' | 'version' | 'hash' | 'machine'> {
  const secrets = listSecretNames(usedServices);
  const proven = listProvenNames(nodes);
  const privates = listPrivateNames(usedServices.values());
  const policies = new Map(
    [...nodes].flatMap(([path, { screen }]) => (screen.type === 'call' ? [[path, callPolicy(screen, secrets)]] : [])),
  );
  const session = flow.limits?.session === undefined ? undefined : durationMs(flow.limits.session);
  const findNode = (view: Pick<View, 'state'>) => nodes.get(toPath(view.state))!;
  const waitText = (view: View) => {
    const { scope } = findNode(view);
    return scope.phrase(flow.wait ?? DEFAULT_WAIT).render(view.context, chooseLang(scope, view.context));
  };
  return {
    read: (view, raw, prove) => readInput(findNode(view), raw, { view, prove, now: clock.now(), start: flow.start }),
    interrupt: (view, raw) => (raw === findNode(view).scope.keys.exit ? { type: 'exit' } : undefined),
    render: (view) => renderScreen(findNode(view), view),
    waitText,
    redact: (context, prove) => redact(context, { secrets, proven, prove }),
    callPolicy: (id) => policies.get(id)!,
    secretsIn: (context) => [...new Set(listSecretTexts(context, secrets))],
    shown: showToWatchers(nodes, { privates, waitText }),
    ...(privates.size && {
      isPrivate: true,
      privateIn: (context) => [...new Set(listPrivateTexts(context, privates))],
    }),
    ...(session !== undefined && { ttlMs: session }),
    migrate: (rest, from) => migrateRest(rest, from.version, { flow, flows: usedServices, nodes }),
  };
}

function callPolicy(screen: Screen & { type: 'call' }, secrets: ReadonlySet<string>): CallPolicy {
  const names = listExpressions(screen.with ?? {}).flatMap((source) => compileExpression(source).names);
  return {
    timeoutMs: (screen.timeout === undefined ? undefined : durationMs(screen.timeout)) ?? COMMON_LIMITS.callTimeoutMs,
    retries: screen.retry ?? 0,
    secret: names.some((name) => secrets.has(name)),
  };
}

function listSecretNames(flows: ReadonlyMap<string, Flow>): Set<string> {
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
function listProvenNames(nodes: ReadonlyMap<string, ScreenNode>): Set<string> {
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
function listSecretTexts(context: JsonObject, secrets: ReadonlySet<string>): string[] {
  const own = [...secrets].flatMap((name) => toTextOrEmpty(context[name]));
  const frames = (context.$frames as readonly JsonObject[] | undefined) ?? [];
  return [...own, ...frames.flatMap((frame) => listSecretTexts(frame, secrets))];
}

const toTextOrEmpty = (value: Json | undefined) =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? [String(value)] : [];

interface InputReading {
  readonly view: View;
  readonly prove: Prove;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path of the screen where the outermost flow begins. */
  readonly start: string;
}

/**
 * The event of an input, or undefined when the same screen is to be shown again: an empty answer, or any key but exit
 * while the caller waits. The text of a caller is only ever payload, never the type of an event.
 */
function readInput(node: ScreenNode, raw: Json, reading: InputReading): EventObject | undefined {
  const input = typeof raw === 'string' ? cleanInput(raw) : '';
  if (input === '') return undefined;
  const { keys } = node.scope;
  if (input === keys.exit) return { type: 'exit' };
  if (reading.view.waiting || !node.behaviour.read) return undefined;
  const { context } = reading.view;
  const move = readNavigation(node, input, reading);
  return move ?? node.behaviour.read({ input, context, prove: reading.prove, now: reading.now });
}

// Keys count only where they lead somewhere; elsewhere what is typed is an answer like any other.
function readNavigation(node: ScreenNode, input: string, { view, start }: InputReading): EventObject | undefined {
  const { keys, path } = node.scope;
  const { context } = view;
  if (input === keys.back && canGoBack(node, context))
    return { type: typeof node.screen.back === 'string' ? 'back' : `back.${backTarget(path, context)}` };
  if (input === keys.home && (node.path !== start || depth(context) > 0)) return { type: 'home' };
  if (input === keys.more && (context.$page as number) < screenPages(node, context).length - 1) return { type: 'more' };
  return undefined;
}

const CONTROL = /\p{Cc}+/gu;

function cleanInput(raw: string): string {
  return raw.slice(0, COMMON_LIMITS.ussdTextChars).replace(CONTROL, ' ').trim();
}

// What those who watch a flow may see of it: nothing that is a secret, and private values masked.
function showToWatchers(
  nodes: ReadonlyMap<string, ScreenNode>,
  { privates, waitText }: { privates: ReadonlySet<string>; waitText: Conversation['waitText'] },
): ShownForms {
  const findNode = ({ state }: Pick<View, 'state'>) => nodes.get(toPath(state));
  const isHidden = (node: ScreenNode | undefined) => !node || keepsSecret(node) || keepsPrivate(node);
  return {
    ...(privates.size && {
      context: (context) => maskContext(context, privates),
      // What a caller reads, with `*` for each character of what private variables print. Pages may break elsewhere by a word.
      reply: (view) => {
        const masked = { ...view, context: maskPrinted(view.context, privates) };
        return view.waiting ? waitText(masked) : renderScreen(findNode(view)!, masked).text;
      },
    }),
    input: (view, input) => {
      const node = findNode(view);
      // What is typed on a list is the number of a row.
      const isNumber = node?.screen.type === 'list';
      return typeof input !== 'string' || (isHidden(node) && !isNumber) ? null : input;
    },
    output: (id, output): Json => (isHidden(nodes.get(id)) ? null : output),
  };
}

/** The variables with MASK in the place of private ones that have a value; also of flows that wait for a sub-flow. */
function maskContext(context: JsonObject, names: ReadonlySet<string>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const name in context) {
    const value = context[name]!;
    shown[name] = names.has(name) && (value ?? null) !== null ? MASK : value;
  }
  const frames = context.$frames as readonly JsonObject[] | undefined;
  if (frames) shown.$frames = frames.map((frame) => maskContext(frame, names));
  return shown;
}

/** Every text and number in private variables, also of flows that wait for a sub-flow. */
function listPrivateTexts(context: JsonObject, names: ReadonlySet<string>): string[] {
  const own = [...names].flatMap((name) => listTexts(context[name] ?? null));
  const frames = (context.$frames as readonly JsonObject[] | undefined) ?? [];
  return [...own, ...frames.flatMap((frame) => listPrivateTexts(frame, names))];
}
