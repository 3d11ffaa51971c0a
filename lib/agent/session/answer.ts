// What a run leaves in the transcript: the message of the user and the answer to it.

import type { JsonObject } from '../../store/store.ts';
import type { Run } from '../run/run.ts';
import { wellFormedText } from '../well-formed.ts';
import { type Message, type MessageToolCall, messageId } from './message.ts';

const WHOLE = { isComplete: true, isReasoning: false } as const;

export function questionOf({ id, body: { request } }: Pick<Run, 'id' | 'body'>): Message {
  const attachments = (request.attachments ?? []) as readonly JsonObject[];
  return {
    id: messageId(id, 'human'),
    type: 'human',
    content: request.message,
    ...WHOLE,
    ...(attachments[0] && { attachment: attachments[0], attachments }),
  };
}

/** Undefined when nothing was said. */
export function answerOf(
  { id }: Pick<Run, 'id'>,
  { text, reasoning, toolCalls }: { text: string; reasoning: string; toolCalls: readonly MessageToolCall[] },
): Message | undefined {
  if (text === '' && !toolCalls.length) return undefined;
  return {
    id: messageId(id, 'ai'),
    type: 'ai',
    content: wellFormedText(text),
    ...(toolCalls.length && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
    ...WHOLE,
  };
}
