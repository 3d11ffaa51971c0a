// What a model is told: who it is and for whom, what was said so far within a budget, and the message with what is attached.

import type { ModelMessage, UserContent } from 'ai';
import type { JsonObject } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunRequest } from '../run/run.ts';
import type { Message } from '../session/message.ts';
import { wellFormedText } from '../well-formed.ts';

export interface SystemWords {
  /** What the operator wants every model to know. */
  readonly prompt: string | undefined;
  /** What is known of the user. */
  readonly about: readonly string[];
  readonly request: Pick<RunRequest, 'timezone' | 'locale'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The system prompt. */
export function systemText({ prompt, about, request, now }: SystemWords): string {
  const { timezone = 'UTC', locale } = request;
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'short' });
  return [
    prompt ?? 'You are a helpful assistant.',
    `It is ${time.format(now)} where the user is (${timezone}).`,
    ...(locale ? [`The user's language is ${locale}, unless they write in another one.`] : []),
    ...about,
  ].join('\n\n');
}

/** Whether images go along as images: not every endpoint takes them. */
export type Images = 'shown' | 'described';

/** The messages of a request: the newest of what was said that fit into the budget, and the one that is to be answered. */
export function messagesOf(history: readonly Message[], request: RunRequest, images: Images): ModelMessage[] {
  const past = fitting(history.map((message) => ({ role: message.type, text: textOf(message) })));
  const messages = inTurns(past).map(
    ({ role, text }): ModelMessage => ({ role: role === 'ai' ? 'assistant' : 'user', content: text }),
  );
  return [...messages, { role: 'user', content: contentOf(request, images) }];
}

/** Whether a request has images that can be shown. */
export function hasImages({ attachments = [] }: RunRequest): boolean {
  return attachments.some((one) => imageUrl(one) !== undefined);
}

type Said = { readonly role: Message['type']; readonly text: string };

// The oldest go first; one that alone is too long is cut, so that an answer to it still makes sense.
function fitting(said: readonly Said[]): Said[] {
  const kept: Said[] = [];
  let room: number = AGENT_LIMITS.modelHistoryChars;
  for (const one of [...said].reverse()) {
    if (one.text.trim() === '') continue;
    if (one.text.length > room && kept.length) break;
    kept.push(one.text.length > room ? { ...one, text: wellFormedText(`… ${one.text.slice(-room)}`) } : one);
    room -= one.text.length;
    if (room <= 0) break;
  }
  return kept.reverse();
}

// The templates of many models want users and assistants to take turns, and a user to begin.
function inTurns(said: readonly Said[]): Said[] {
  const turns: Said[] = [];
  for (const one of said) {
    const last = turns.at(-1);
    if (last?.role === one.role) turns[turns.length - 1] = { ...one, text: `${last.text}\n\n${one.text}` };
    else turns.push(one);
  }
  if (turns[0]?.role === 'ai') turns.unshift({ role: 'human', text: '(what was said before is left out)' });
  // The message that is to be answered comes next: one that nobody has answered stands before it.
  if (turns.at(-1)?.role === 'human') turns.push({ role: 'ai', text: '(no answer)' });
  return turns;
}

function textOf({ content, attachment, attachments }: Message): string {
  const attached = attachments ?? (attachment ? [attachment] : []);
  return [content, ...attached.map(describe)].join('\n');
}

function contentOf({ message, attachments = [] }: RunRequest, images: Images): UserContent {
  const shown = images === 'shown' ? attachments.filter((one) => imageUrl(one)) : [];
  const described = attachments.filter((one) => !shown.includes(one));
  const text = [message, ...described.map(describe)].join('\n');
  if (!shown.length) return text;
  return [{ type: 'text', text }, ...shown.map((one) => ({ type: 'image' as const, image: imageUrl(one)! }))];
}

// Names come from users: as JSON they cannot pretend to be lines of ours.
function describe({ filename, mimetype, size, mxcUri, eventId }: JsonObject): string {
  const about = { filename, mimetype, ...(size !== undefined && { bytes: size }) };
  return `[Attached: ${JSON.stringify({ ...about, ...(mxcUri ? { uri: mxcUri } : { event: eventId }) })}]`;
}

/** The URL of an image that the model provider can fetch. */
function imageUrl({ mimetype, mxcUri }: JsonObject): URL | undefined {
  const isShown = /^image\/(png|jpe?g|gif|webp)$/i.test(String(mimetype)) && /^https?:\/\//i.test(String(mxcUri));
  return isShown && URL.canParse(String(mxcUri)) ? new URL(String(mxcUri)) : undefined;
}
