// What a chat message means to a flow: an answer, a command for a navigation key, or a new start of the conversation.

import type { Conversation } from '../../engine/conversation.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Decision, SessionState } from '../../engine/session/turn.ts';
import type { SessionView } from '../../engine/sessions.ts';
import { TwinlineError } from '../../errors.ts';
import { DEFAULT_KEYS, type NavigationKey } from '../../flow/format/flow.ts';
import { isFlow } from '../../flow/run/compile.ts';
import type { JsonObject } from '../../json/json.ts';

/** `begin`: a new conversation, also where one is open. `show`: the same screen again. */
export type Meaning =
  | { readonly kind: 'begin' }
  | { readonly kind: 'input'; readonly input: string; readonly isFirst: boolean }
  | { readonly kind: 'show' };

export interface ChatInput {
  readonly flow: string;
  /** The conversation as it stands, if there is one. */
  readonly view: SessionView | undefined;
  readonly text: string;
}

// Commands for navigation keys, with the events that they must cause: a key that leads nowhere on this screen would be
// taken as an answer.
const COMMANDS: { readonly [command: string]: { readonly key: NavigationKey; readonly event: RegExp } } = {
  '/menu': { key: 'home', event: /^home$/ },
  '/home': { key: 'home', event: /^home$/ },
  '/back': { key: 'back', event: /^back/ },
  '/more': { key: 'more', event: /^more$/ },
  '/exit': { key: 'exit', event: /^exit$/ },
};
const BEGIN = new Set(['/reset', '/start', '/restart']);
const SHOW = new Set(['/help', '/again']);

/** What a message means where the conversation stands. */
export function readMeaning(engine: Engine, { flow, view, text }: ChatInput): Meaning {
  const word = text.trim().toLowerCase();
  if (BEGIN.has(word)) return { kind: 'begin' };
  if (SHOW.has(word)) return { kind: 'show' };
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (command) return commandMeaning(engine, { flow, view, command });
  return { kind: 'input', input: text, isFirst: !view && isAnswer(engine, flow, text) };
}

function commandMeaning(
  engine: Engine,
  { flow, view, command }: Pick<ChatInput, 'flow' | 'view'> & { command: (typeof COMMANDS)[string] },
): Meaning {
  const conversation = view && engine.library.current(view.conversation);
  const answering = engine.library.current(flow);
  if (!conversation || !answering || !isFlow(answering)) return { kind: 'show' };
  const key = { ...DEFAULT_KEYS, ...answering.flow.keys }[command.key];
  if (key === false) return { kind: 'show' };
  const event = readSafely(conversation, view, key);
  return typeof event === 'object' && command.event.test(event.type)
    ? { kind: 'input', input: key, isFirst: false }
    : { kind: 'show' };
}

// A conversation that began on another version may rest on a screen that this version does not have.
function readSafely(conversation: Conversation, { rest }: SessionView, key: string) {
  try {
    return conversation.read({ ...rest, waiting: false }, key, () => '');
  } catch {
    return undefined;
  }
}

/** Whether the first message answers the first screen; one that does not only opens the conversation. */
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

/** The decision for what is stored; an ended conversation begins anew with the message. */
export function decideTurn({
  flow,
  meaning,
  input,
  door,
}: {
  readonly flow: string;
  readonly meaning: Meaning;
  /** What the flow may know, for its variables of these names. */
  readonly input: JsonObject;
  readonly door: JsonObject;
}): (seen: SessionState) => Decision {
  const begin = (inputs: readonly string[]): Decision => ({ kind: 'begin', conversation: flow, input, door, inputs });
  return (seen) => {
    if (meaning.kind === 'begin') return begin([]);
    if (seen.kind !== 'live') return begin(meaning.kind === 'input' && meaning.isFirst ? [meaning.input] : []);
    return { kind: 'input', input: meaning.kind === 'input' ? meaning.input : '', door };
  };
}
