// What a flow keeps of its callers between sessions: the variables that the dialled flow declares with `keep`, and with `limits.resume`
// where a session that was cut can go on.

import type { EventObject } from 'xstate';
import type { Keeping, Resuming } from '../../engine/conversation.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Flow, holdsValue } from '../format/flow.ts';
import { durationMs } from '../format/way.ts';
import type { StateConfig } from '../screens/kind.ts';
import { findKind } from '../screens/kinds.ts';
import type { MenuScreen } from '../screens/menu.ts';
import { asksForSecret, type FlowScope, labelText, type ScreenNode } from './scope.ts';

/** The state that asks a caller whether to go on. */
export const RESUME = '$resume';
const YES = 'opt.continue';
const NO = ['opt.restart', 'home'];

interface KeptFlow {
  readonly nodes: ReadonlyMap<string, ScreenNode>;
  /** The context of its machine at the beginning. */
  readonly begin: (input: JsonObject) => JsonObject;
}

/** What a flow keeps; undefined when it keeps nothing. Flows that it calls have no memory of their own. */
export function flowKeeping({ vars = {}, limits = {} }: Flow, { nodes, begin }: KeptFlow): Keeping | undefined {
  const variables = Object.entries(vars).filter(([, { keep, secret }]) => keep !== undefined && !secret);
  if (!variables.length && limits.resume === undefined) return undefined;
  const lifetimes = new Map(variables.map(([name, { keep }]) => [name, durationMs(keep!)!]));
  const names = [...lifetimes.keys()];
  const resume: Resuming | undefined =
    limits.resume === undefined
      ? undefined
      : {
          ms: durationMs(limits.resume)!,
          asks: RESUME,
          context: begin,
          answer: readAnswer,
          locks: (state, event: EventObject & { readonly accepted?: unknown }) =>
            event.type === 'text' && event.accepted === true && asksForSecret(nodes.get(toPath(state))),
        };
  return {
    read: (context) => {
      const [outermost = context] = (context.$frames as readonly JsonObject[] | undefined) ?? [];
      return pick(names, (name) => outermost[name]);
    },
    begin: (input) => pick(names, (name) => (Object.hasOwn(input, name) ? input[name] : vars[name]!.default)),
    lifetime: (name) => lifetimes.get(name)!,
    fits: (name, value) => lifetimes.has(name) && holdsValue(vars[name]!, value),
    ...(resume && { resume }),
  };
}

function readAnswer(event: EventObject | string | undefined): 'yes' | 'no' | undefined {
  const type = typeof event === 'object' ? event.type : '';
  return type === YES ? 'yes' : NO.includes(type) ? 'no' : undefined;
}

/** The question to a caller whose last session was cut. */
export function resumeNode(scope: FlowScope): ScreenNode {
  const { flow, langs } = scope;
  const option = (id: 'continue' | 'restart') => ({ id, text: labelText(id, { flow, langs }), to: flow.start });
  const options = [option('continue'), option('restart')];
  const screen: MenuScreen = { type: 'menu', text: labelText('resume', { flow, langs }), options, back: false };
  return { path: RESUME, prefix: '', screen, scope, behaviour: findKind(screen).behaviour(screen, scope) };
}

/** Its state. Where there is something to go on with, the engine goes on before the machine gets the answer. */
export function resumeState(flow: Flow): StateConfig {
  const anew = { target: flow.start, actions: [{ type: 'goHome' }] };
  const on = { more: { actions: [{ type: 'turnPage' }] }, invalid: { actions: [{ type: 'refuse' }] } };
  return { meta: { screen: RESUME, type: 'menu' }, on: { ...on, 'opt.continue': anew, 'opt.restart': anew } };
}

const pick = (names: readonly string[], find: (name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(names.map((name) => [name, find(name) ?? null]));
