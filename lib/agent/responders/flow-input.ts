// Interprets a chat message for a flow: an answer, a command for a navigation key, or a restart.

import type { Engine } from '../../engine/engine.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import type { Decision, SessionState } from '../../engine/session/turn.ts';
import type { SessionView } from '../../engine/sessions.ts';
import { TwinlineError } from '../../errors.ts';
import { isFlow } from '../../flow/run/compile.ts';
import { currentPage } from '../../flow/run/page.ts';
import type { JsonObject } from '../../json/json.ts';

/** `begin`: restart the conversation. `show`: repeat the current screen. */
export type Meaning =
  | { readonly kind: 'begin' }
  | { readonly kind: 'input'; readonly input: string; readonly isFirst: boolean }
  | { readonly kind: 'show' };

export interface ChatInput {
  readonly flow: string;
  /** The current conversation, if any. */
  readonly view: SessionView | undefined;
  readonly text: string;
}

// Commands for navigation keys: the events one of which they must trigger. Where only one screen lies behind, Back leads home.
const COMMANDS: { readonly [command: string]: readonly RegExp[] } = {
  '/menu': [/^home$/, /^back/],
  '/home': [/^home$/, /^back/],
  '/back': [/^back/],
  '/more': [/^more$/],
  '/exit': [/^exit$/],
};
const BEGIN = new Set(['/reset', '/start', '/restart']);
const SHOW = new Set(['/help', '/again']);

/** Interprets a message in the current state of the conversation. */
export function readMeaning(engine: Engine, { flow, view, text }: ChatInput): Meaning {
  const word = text.trim().toLowerCase();
  if (BEGIN.has(word)) return { kind: 'begin' };
  if (SHOW.has(word)) return { kind: 'show' };
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (command) return commandMeaning(engine, view, command);
  return { kind: 'input', input: text, isFirst: !view && isAnswer(engine, flow, text) };
}

function commandMeaning(engine: Engine, view: SessionView | undefined, command: readonly RegExp[]): Meaning {
  const conversation = view && engine.library.current(view.conversation);
  // A conversation started on another version may be on a screen that this version lacks.
  const node = conversation && isFlow(conversation) ? conversation.screens.get(toPath(view.rest.state)) : undefined;
  const keys = node ? [...currentPage(node, view!.rest.context).keys] : [];
  const events = command.map((wanted) => keys.find(([, { type }]) => wanted.test(type)));
  const key = events.find((event) => event !== undefined)?.[0];
  return key === undefined ? { kind: 'show' } : { kind: 'input', input: key, isFirst: false };
}

/** Whether the first message answers the first screen; otherwise it only opens the conversation. */
function isAnswer(engine: Engine, flow: string, text: string): boolean {
  const conversation = engine.library.current(flow);
  if (!conversation) throw new TwinlineError('ERR_FLOW_UNKNOWN', `No flow "${flow}" is loaded.`);
  const { live, effects } = conversation.machine.begin({});
  if (live.status !== 'active' || effects.some(({ type }) => type === 'call')) return false;
  const rest = conversation.machine.rest(live);
  const event = conversation.read({ ...rest, waiting: false }, text, () => '');
  if (typeof event !== 'object') return false;
  return event.type !== 'invalid' && (event as { accepted?: boolean }).accepted !== false;
}

/** Decides the turn; if the conversation has ended, the message starts a new one. */
export function decideTurn({
  flow,
  meaning,
  input,
  door,
}: {
  readonly flow: string;
  readonly meaning: Meaning;
  /** Values for the flow's variables of these names. */
  readonly input: JsonObject;
  readonly door: JsonObject;
}): (session: SessionState) => Decision {
  const begin = (inputs: readonly string[]): Decision => ({ kind: 'begin', conversation: flow, input, door, inputs });
  return (session) => {
    if (meaning.kind === 'begin') return begin([]);
    if (session.kind !== 'live') return begin(meaning.kind === 'input' && meaning.isFirst ? [meaning.input] : []);
    return { kind: 'input', input: meaning.kind === 'input' ? meaning.input : '', door };
  };
}
