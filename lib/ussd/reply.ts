// What a caller is shown, the fixed texts of the door, and the two shapes in which dialects wrap an answer.

import type { Adapter, RawReply, UssdReply } from './adapter.ts';
import { readEcho, salvageFields } from './fields.ts';

/** Shown for a request that breaks the rules. */
export const INVALID_INPUT: UssdReply = { kind: 'end', text: 'Invalid input. Please try again.' };
/** Shown when a store or the server is in trouble. */
export const UNAVAILABLE: UssdReply = {
  kind: 'end',
  text: 'Service temporarily unavailable. Please try again later.',
};
/** Shown over the rate limit. */
export const TOO_MANY: UssdReply = { kind: 'end', text: 'Too many requests. Please try again later.' };
/** Shown to a telecom gateway that may not speak for callers. */
export const FORBIDDEN: UssdReply = { kind: 'end', text: 'This service takes no requests from here.' };
/** The answer to an `end` event, which no phone displays. */
export const NOTHING: UssdReply = { kind: 'end', text: '' };

const PREFIX = { continue: 'CON ', end: 'END ' } as const;

/** The Content-Type of plain answers. */
export const PLAIN_TYPE = 'text/plain; charset=utf-8';

/**
 * A reply as text whose first word is CON or END.
 * @example
 * conEnd({ kind: 'continue', text: 'Hello' }).body; // → 'CON Hello'
 */
export function conEnd(reply: UssdReply): RawReply {
  return { status: 200, type: PLAIN_TYPE, body: PREFIX[reply.kind] + reply.text };
}

/**
 * A JSON answer; always 200, for gateways show nothing of a 4xx or 5xx.
 * @example
 * const { status, type, body } = jsonReply({ text: 'Hello' });
 * [status, type, body]; // → [200, 'application/json; charset=utf-8', '{"text":"Hello"}']
 */
export function json(value: unknown): RawReply {
  return { status: 200, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

/**
 * How a dialect answers that wants fields of its request back: those in `echoed`, whose request carries them as `echo`,
 * before the reply in `fields`.
 * @example
 * const { write } = echoingReplies(['trace'], ({ kind, text }) => ({ text, end: kind === 'end' }));
 * const request = { sessionId: 's1', serviceCode: '*1#', phoneNumber: '+260971234567', text: '', event: 'turn', mode: 'latest' } as const;
 * write({ kind: 'end', text: 'Bye' }, { ...request, echo: { trace: 't7' } }).body; // → '{"trace":"t7","text":"Bye","end":true}'
 */
export function echoingReplies(
  echoed: readonly string[],
  fields: (reply: UssdReply) => object,
): Pick<Adapter, 'write' | 'refuse'> {
  return {
    write: (reply, request) => json({ ...request.echo, ...fields(reply) }),
    refuse: (reply, raw) => json({ ...readEcho(salvageFields(raw.body), echoed), ...fields(reply) }),
  };
}
