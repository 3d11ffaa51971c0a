// The contract of the channel: short messages to whichever instance cares, now; and what it lets through.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { isWellFormed } from '../given.ts';
import { STORE_LIMITS } from './limits.ts';

/** What a subscription gets beside messages. */
export interface Subscriber {
  /** In the order of each publisher's calls. It must not throw. */
  readonly onMessage: (message: string) => void;
  /**
   * Messages may have been missed: the subscription was lost and is there again. Read again what the messages are about.
   */
  readonly onGap?: () => void;
}

/** Ends a subscription: nothing is delivered from the moment it is called. Again: harmless. */
export type Unsubscribe = () => void;

/**
 * Tells all listeners: aborts, tool results, revocations, wake-ups. Rules that every backend keeps:
 * - At most once: who does not listen at the moment, or has lost its connection, gets nothing. So a message only says
 *   "look at the store", or makes that look unnecessary; what must not be lost is kept in a store.
 * - Messages of one publisher on one topic arrive in order; a publisher that listens itself gets its own.
 * - When `subscribe` has resolved, every message that is published from then on arrives, or `onGap` is called after the
 *   subscription works again. So: subscribe first, then read the store.
 * - Topics are 1 to LIMITS.topicChars characters, messages up to LIMITS.channelMessageBytes bytes of well-formed text;
 *   others reject with ERR_INPUT. Refusals of the backend reject with ERR_STORE, and so does every call after `close`.
 */
export interface Channel {
  readonly name: string;
  /** Resolves when the backend has taken the message. */
  publish(topic: string, message: string): Promise<void>;
  subscribe(topic: string, subscriber: Subscriber): Promise<Unsubscribe>;
  /** Resolves when the backend answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Ends every subscription. Again: harmless. */
  close(): Promise<void>;
}

/** Throws ERR_INPUT unless `topic` is 1 to STORE_LIMITS.topicChars characters of well-formed text. */
export function checkTopic(topic: string): void {
  if (topic.length > 0 && topic.length <= STORE_LIMITS.topicChars && isWellFormed(topic)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A topic must be 1 to ${STORE_LIMITS.topicChars} characters of well-formed text; this one has ${topic.length}.`,
  );
}

/** Throws ERR_INPUT unless `message` is well-formed text of up to COMMON_LIMITS.channelMessageBytes bytes. */
export function checkMessage(message: string): void {
  const bytes = Buffer.byteLength(message);
  if (bytes <= COMMON_LIMITS.channelMessageBytes && isWellFormed(message)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A channel carries well-formed text of up to ${COMMON_LIMITS.channelMessageBytes} bytes; this message has ${bytes}. Keep the content in a store and send its key.`,
  );
}
