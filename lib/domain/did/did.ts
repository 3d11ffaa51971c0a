// DIDs, DID URLs and other URIs (RFC 3986): which texts are one, and how the service makes new DIDs.

import { randomBytes } from 'node:crypto';
import { fullFormats } from 'ajv-formats/dist/formats.js';

// DID Core 3.1: a method name, then parts of unreserved characters or percent escapes, joined by colons.
const ID = '(?:[A-Za-z0-9_.-]|%[0-9A-Fa-f]{2})';
const IN_PATH = "(?:[A-Za-z0-9_.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})";
const IN_QUERY = "(?:[A-Za-z0-9_.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})";
const BARE = `did:[a-z0-9]+(?::${ID}*)*:${ID}+`;

/** The grammar of DIDs and DID URLs as regular expressions, for those who read schemas. Neither limits the length. */
export const DID_PATTERNS = {
  did: `^${BARE}$`,
  reference: `^${BARE}(?:/${IN_PATH}*)?(?:\\?${IN_QUERY}*)?(?:#${IN_QUERY}*)?$`,
} as const;

const DID = new RegExp(DID_PATTERNS.did);
const PATH = new RegExp(`^${IN_PATH}*$`);
const QUERY = new RegExp(`^${IN_QUERY}*$`);
const DID_CHARS = 512;

/** A DID that may be followed by a path, a query and a fragment. */
export interface DidUrl {
  readonly did: string;
  /** With its slash, or ''. */
  readonly path: string;
  /** Without the question mark, or ''. */
  readonly query: string;
  /** Without the hash, or ''. */
  readonly fragment: string;
}

/**
 * Whether this is a DID and nothing more.
 * @example
 * isDid('did:ixo:entity:5d2c8f'); // → true
 * isDid('ann'); // → false
 */
export function isDid(text: string): boolean {
  return text.length <= DID_CHARS && DID.test(text);
}

/**
 * The parts of a DID URL such as `did:ixo:protocol/clean-cooking`; undefined when the text is none.
 * @example
 * parseDidUrl('did:ex:ann#key-1'); // → { did: 'did:ex:ann', path: '', query: '', fragment: 'key-1' }
 * parseDidUrl('ann'); // → undefined
 */
export function parseDidUrl(text: string): DidUrl | undefined {
  if (text.length > DID_CHARS) return undefined;
  const [beforeFragment, ...fragments] = text.split('#');
  const [beforeQuery, ...queries] = beforeFragment!.split('?');
  const [did, ...segments] = beforeQuery!.split('/');
  const path = segments.length ? `/${segments.join('/')}` : '';
  const query = queries.join('?');
  const well = isDid(did!) && PATH.test(path) && QUERY.test(query) && fragments.length < 2;
  if (!well || !QUERY.test(fragments[0] ?? '')) return undefined;
  return { did: did!, path, query, fragment: fragments[0] ?? '' };
}

/** Whether this names a document: a DID, or a DID URL. The documented references are of both kinds. */
export function isReference(text: string): boolean {
  return parseDidUrl(text) !== undefined;
}

/** A DID or DID URL as one segment of a path (RFC 3986, 3.3): colons stay as they are, what would end it is escaped. */
export function pathSegment(did: string): string {
  return encodeURIComponent(did).replaceAll('%3A', ':');
}

/** 128 random bits, in 32 hex digits. */
export function randomToken(): string {
  return randomBytes(16).toString('hex');
}

/**
 * The DID of a token; of a new one, a new DID, in the form that the interchain identifier method reserves for entities.
 * @example
 * isDid(mintDid()); // → true
 */
export function mintDid(token = randomToken()): string {
  return `did:ixo:entity:${token}`;
}

const CHARS = "(?:[A-Za-z0-9_.~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})";

/** What every URI, fragment or URL here looks like, for those who read schemas: less strict than the checks. */
export const URI_PATTERNS = {
  uri: `^[A-Za-z][A-Za-z0-9+.-]*:${CHARS}+$`,
  fragmentOrUri: `^(?:(?:\\{id\\})?#|[A-Za-z][A-Za-z0-9+.-]*:)${CHARS}+$`,
  template: `^[A-Za-z][A-Za-z0-9+.-]*:(?:${CHARS}|\\{id\\})+$`,
} as const;

const checkUri = fullFormats.uri as (text: string) => boolean;

/** Whether this is a URI with a scheme. One of the scheme `did` must be a DID or DID URL. */
export function isUri(text: string): boolean {
  return checkUri(text) && (!/^did:/i.test(text) || isReference(text));
}

const FRAGMENT = /^#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})+$/;

/** Whether this is a fragment such as `#data`, one of the twin itself such as `{id}#data`, or a URI. */
export function isFragmentOrUri(text: string): boolean {
  return FRAGMENT.test(text.replace(/^\{id\}(?=#)/, '')) || isUri(text);
}
