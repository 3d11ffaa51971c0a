// What callers hand to a channel, checked alike by every backend.

import { TwinlineError } from '../errors.ts';
import { SHARED_LIMITS } from '../shared-limits.ts';
import { isWellFormed } from './input.ts';
import { STORE_LIMITS } from './limits.ts';

/** Throws ERR_INPUT unless `topic` is 1 to STORE_LIMITS.topicChars characters of well-formed text. */
export function checkTopic(topic: string): void {
  if (topic.length > 0 && topic.length <= STORE_LIMITS.topicChars && isWellFormed(topic)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A topic must be 1 to ${STORE_LIMITS.topicChars} characters of well-formed text; this one has ${topic.length}.`,
  );
}

/** Throws ERR_INPUT unless `message` is well-formed text of up to SHARED_LIMITS.channelMessageBytes bytes. */
export function checkMessage(message: string): void {
  const bytes = Buffer.byteLength(message);
  if (bytes <= SHARED_LIMITS.channelMessageBytes && isWellFormed(message)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A channel carries well-formed text of up to ${SHARED_LIMITS.channelMessageBytes} bytes; this message has ${bytes}. Keep the content in a store and send its key.`,
  );
}
