// Team chat events: verifies their signature, reads the few fields used, and picks the messages of users. Signatures are
// `v0=` and the HMAC-SHA256 of `v0:<timestamp>:<body>`, as in Slack.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { wellFormedText } from '../../../lib/agent/well-formed.ts';
import { isObject } from '../../../lib/given.ts';

/** Messages are cut to this many characters. */
const TEXT_CHARS = 8_000;

/** A message from a person. */
export interface ChatMessage {
  /** The same for every delivery of one event. */
  readonly eventId: string;
  readonly team: string;
  readonly channel: string;
  /** Timestamp of the message. */
  readonly ts: string;
  /** Timestamp of the first message of the thread. */
  readonly thread: string;
  readonly text: string;
}

export type ChatEvent =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'said'; readonly said: ChatMessage }
  /** Nothing to answer: from a bot, empty, or of another type. */
  | { readonly kind: 'other' };

const KINDS = new Set(['message', 'app_mention']);
const short = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 128;

/** Reads the body of a request whose signature was verified. */
export function readEvent(body: unknown): ChatEvent {
  if (!isObject(body)) return OTHER;
  const { type, challenge, event_id: eventId, team_id: team, event } = body;
  if (type === 'url_verification') return short(challenge) ? { kind: 'challenge', challenge } : OTHER;
  if (type !== 'event_callback' || !short(eventId) || !short(team) || !isObject(event)) return OTHER;
  const { channel, ts, thread_ts: thread = ts, text, subtype, bot_id: bot } = event;
  if (!KINDS.has(String(event.type)) || subtype !== undefined || bot !== undefined) return OTHER;
  if (!short(channel) || !short(ts) || !short(thread) || typeof text !== 'string') return OTHER;
  const words = wellFormedText(
    text
      .replace(/<@\w+>/g, '')
      .trim()
      .slice(0, TEXT_CHARS),
  );
  return words === '' ? OTHER : { kind: 'said', said: { eventId, team, channel, ts, thread, text: words } };
}

const OTHER: ChatEvent = { kind: 'other' };

/** Accepted clock difference in seconds; older requests may be replays. */
const WINDOW_SECONDS = 300;

export interface SignedRequest {
  /** Seconds since 1970, as in the header. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

/** Whether the signature is valid and its timestamp is within five minutes of `now` (milliseconds since 1970). */
export function isSigned(secret: string, { timestamp, signature, body }: SignedRequest, now: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > WINDOW_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest();
  return timingSafeEqual(Buffer.from(signature.slice(3), 'hex'), expected);
}
