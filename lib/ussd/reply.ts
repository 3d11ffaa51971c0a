// The fixed texts shown to callers, and helpers to write a dialect's response.

import type { Adapter, RawReply, UssdReply } from './adapter.ts';
import { readEcho, salvageFields } from './fields.ts';

/** Shown for an invalid request. */
export const INVALID_INPUT: UssdReply = { kind: 'end', text: 'Invalid input. Please try again.' };
/** Shown when the store or the server fails. */
export const UNAVAILABLE: UssdReply = {
  kind: 'end',
  text: 'Service temporarily unavailable. Please try again later.',
};
/** Shown over the rate limit. */
export const TOO_MANY: UssdReply = { kind: 'end', text: 'Too many requests. Please try again later.' };
/** Shown to a telecom gateway that is not allowed. */
export const FORBIDDEN: UssdReply = { kind: 'end', text: 'This service does not accept requests from here.' };
/** The reply to an `end` event, which no phone displays. */
export const NOTHING: UssdReply = { kind: 'end', text: '' };

const PREFIX = { continue: 'CON ', end: 'END ' } as const;

/** The Content-Type of plain-text responses. */
export const PLAIN_TYPE = 'text/plain; charset=utf-8';

/**
 * A plain-text response whose first word is CON or END.
 * @example
 * conEnd({ kind: 'continue', text: 'Hello' }).body; // → 'CON Hello'
 */
export function conEnd(reply: UssdReply): RawReply {
  return { status: 200, type: PLAIN_TYPE, body: PREFIX[reply.kind] + reply.text };
}

/**
 * A JSON response; always 200, because gateways show nothing for 4xx and 5xx.
 * @example
 * const { status, type, body } = jsonReply({ text: 'Hello' });
 * [status, type, body]; // → [200, 'application/json; charset=utf-8', '{"text":"Hello"}']
 */
export function jsonReply(value: unknown): RawReply {
  return { status: 200, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

/**
 * An XML response: one element with child elements in the order of `fields`; always 200. Characters that XML 1.0 cannot
 * represent become U+FFFD.
 * @example
 * xmlReply('ussd', { type: '2', msg: 'Tea & rice' }).body; // → '<?xml version="1.0" encoding="UTF-8"?><ussd><type>2</type><msg>Tea &amp; rice</msg></ussd>'
 */
export function xmlReply(element: string, fields: { readonly [name: string]: string | number }): RawReply {
  const inner = Object.entries(fields).map(([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`);
  const body = `<?xml version="1.0" encoding="UTF-8"?><${element}>${inner.join('')}</${element}>`;
  return { status: 200, type: 'text/xml; charset=utf-8', body };
}

/**
 * Escapes text for XML 1.0 content and attribute values.
 * @example
 * escapeXml('a < "b"'); // → 'a &lt; &quot;b&quot;'
 */
export function escapeXml(text: string): string {
  // Parsers turn a bare carriage return into a line feed: https://www.w3.org/TR/xml/#sec-line-ends
  return toXmlCharacters(text).replace(/[&<>"'\r]/g, (character) => ENTITIES[character]!);
}

/** Replaces characters that XML 1.0 cannot represent, even escaped, by U+FFFD. */
export function toXmlCharacters(text: string): string {
  return text.replace(NOT_IN_XML, '\ufffd');
}

// https://www.w3.org/TR/xml/#charsets
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
};

/**
 * `write` and `refuse` for a dialect that wants request fields echoed: the fields `names`, from the request's `echo`,
 * followed by those of the reply from `fields`.
 * @example
 * const { write } = echoingReplies(['trace'], ({ kind, text }) => ({ text, end: kind === 'end' }));
 * const request = { sessionId: 's1', serviceCode: '*1#', phoneNumber: '+260971234567', text: '', event: 'turn', mode: 'latest' } as const;
 * write({ kind: 'end', text: 'Bye' }, { ...request, echo: { trace: 't7' } }).body; // → '{"trace":"t7","text":"Bye","end":true}'
 */
export function echoingReplies(
  names: readonly string[],
  fields: (reply: UssdReply) => object,
): Pick<Adapter, 'write' | 'refuse'> {
  return {
    write: (reply, request) => jsonReply({ ...request.echo, ...fields(reply) }),
    refuse: (reply, raw) => jsonReply({ ...readEcho(salvageFields(raw.body), names), ...fields(reply) }),
  };
}

/** Shown when the caller continues a session that is over, expired or unreadable. */
export const DIAL_AGAIN: UssdReply = { kind: 'end', text: 'Your session has ended. Please dial again.' };
