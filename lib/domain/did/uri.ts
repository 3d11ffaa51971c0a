// URIs as RFC 3986 writes them: ASCII, with percent escapes for everything else.

import formats from 'ajv-formats';
import { isReference } from './did.ts';

const CHARS = "(?:[A-Za-z0-9_.~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})";

/** What every URI, fragment or URL here looks like, for those who read schemas: less strict than the checks. */
export const URI_PATTERNS = {
  uri: `^[A-Za-z][A-Za-z0-9+.-]*:${CHARS}+$`,
  fragmentOrUri: `^(?:(?:\\{id\\})?#|[A-Za-z][A-Za-z0-9+.-]*:)${CHARS}+$`,
  template: `^[A-Za-z][A-Za-z0-9+.-]*:(?:${CHARS}|\\{id\\})+$`,
} as const;

const URI = formats.default.get('uri') as (text: string) => boolean;

/** Whether this is a URI with a scheme. One of the scheme `did` must be a DID or DID URL. */
export function isUri(text: string): boolean {
  return URI(text) && (!/^did:/i.test(text) || isReference(text));
}

const FRAGMENT = /^#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})+$/;

/** Whether this is a fragment such as `#data`, one of the twin itself such as `{id}#data`, or a URI. */
export function isFragmentOrUri(text: string): boolean {
  return FRAGMENT.test(text.replace(/^\{id\}(?=#)/, '')) || isUri(text);
}
