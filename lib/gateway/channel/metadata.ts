// Metadata of calls: which headers of an HTTP request become metadata, which metadata may be sent, how they are read from
// HTTP/2, and how those of an answer become headers and trailers of HTTP.

import type { IncomingHttpHeaders } from 'node:http';
import { GATEWAY_LIMITS } from '../limits.ts';

/**
 * Names in lower case, as they came, a name once for each of its values. Values of names that end in `-bin` are bytes,
 * all others printable ASCII.
 */
export type Metadata = readonly (readonly [name: string, value: string | Buffer])[];

const NAME = /^[0-9a-z_.-]{1,256}$/;
const VALUE = /^[\x20-\x7e]*$/;
// What belongs to HTTP/2 or to gRPC: a caller who could set it would speak for the gateway.
const RESERVED =
  /^(grpc-.*|host|te|content-type|content-length|connection|keep-alive|proxy-.*|transfer-encoding|upgrade|http2-settings|trailer|user-agent)$/;
const ENTRY_BYTES = 32;

/** Whether a name (lower case) belongs to HTTP/2 or to gRPC, or is none. */
function isReservedName(name: string): boolean {
  return name === '' || RESERVED.test(name);
}

/** Why this metadata may not be sent, or undefined. Names the entry, never its value. */
export function findMetadataProblem(metadata: Metadata): string | undefined {
  let bytes = 0;
  for (const [name, value] of metadata) {
    if (!NAME.test(name)) return `the name ${JSON.stringify(name.slice(0, 64))} of a metadata entry is malformed`;
    if (RESERVED.test(name)) return `the metadata ${name} is kept for the connection to the node`;
    if (name.endsWith('-bin') !== Buffer.isBuffer(value))
      return `the metadata ${name} must be bytes if its name ends in -bin, and text if not`;
    if (typeof value === 'string' && !VALUE.test(value)) return `the metadata ${name} is not printable ASCII`;
    bytes += name.length + value.length + ENTRY_BYTES;
  }
  return bytes > GATEWAY_LIMITS.grpcMetadataBytes
    ? `the metadata are larger than ${GATEWAY_LIMITS.grpcMetadataBytes} bytes`
    : undefined;
}

/** A value as it stands in a header. */
export function metadataText(value: string | Buffer): string {
  return typeof value === 'string' ? value : value.toString('base64').replace(/=+$/, '');
}

/**
 * The metadata in headers or trailers: all but what belongs to HTTP/2 and gRPC. Values of text that were sent under one
 * name come as one, joined by `, `.
 */
export function readMetadata(headers: ReadonlyMap<string, string>): Metadata {
  const found: [string, string | Buffer][] = [];
  for (const [name, value] of headers) {
    if (name.charCodeAt(0) === COLON || (RESERVED.test(name) && name !== 'grpc-status-details-bin')) continue;
    if (!name.endsWith('-bin')) found.push([name, value]);
    else for (const part of value.split(',')) found.push([name, Buffer.from(part.trim(), 'base64')]);
  }
  return found;
}

const COLON = 58;

/** The height of the chain, in and out. */
export const HEIGHT = 'x-cosmos-block-height';
const PREFIX = 'grpc-metadata-';
const TRAILER_PREFIX = 'grpc-trailer-';
// Headers that name the caller. A node may trust them, so only an operator can let them through, by name.
const NAMED_ONLY: ReadonlySet<string> = new Set(['authorization', 'x-forwarded-for']);

/** The metadata of a call, or what is wrong with the headers. */
export type Forwarded =
  | { readonly kind: 'metadata'; readonly metadata: Metadata }
  /** For INVALID_ARGUMENT; names the header, never its value. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Takes {@link HEIGHT} and the headers named in `forward` (lower case), each under its own name or with `Grpc-Metadata-`
 * before it, which wins; and every other header that begins with `Grpc-Metadata-`, but for names that belong to the
 * connection or to gRPC, `authorization` and `x-forwarded-for`, which are dropped. Values of names in `-bin` are base64,
 * each of several after a comma. Nothing else reaches the node.
 * @example
 * toMetadata({ [HEIGHT]: '7', cookie: 'a=b' }); // → { kind: 'metadata', metadata: [['x-cosmos-block-height', '7']] }
 */
export function toMetadata(headers: IncomingHttpHeaders, forward: readonly string[] = []): Forwarded {
  const metadata: [string, string | Buffer][] = [];
  const names = findNames(forward);
  for (const [name, prefixed] of names) {
    const value = headers[prefixed] ?? headers[name];
    if (value !== undefined && !addHeader(metadata, [name, value])) return notBase64(name);
  }
  for (const header in headers) {
    if (!header.startsWith(PREFIX)) continue;
    const name = header.slice(PREFIX.length);
    if (names.has(name) || NAMED_ONLY.has(name) || isReservedName(name)) continue;
    if (!addHeader(metadata, [name, headers[header]!])) return notBase64(name);
  }
  const problem =
    metadata.length > GATEWAY_LIMITS.gatewayMetadata
      ? `there are more than ${GATEWAY_LIMITS.gatewayMetadata}`
      : findMetadataProblem(metadata);
  return problem
    ? { kind: 'refused', message: `Cannot forward the headers: ${problem}.` }
    : { kind: 'metadata', metadata };
}

// By the list itself, for there is one.
const forwardedNames = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** The names of headers that are forwarded, without and with the prefix. */
function findNames(forward: readonly string[]): ReadonlyMap<string, string> {
  const found = forwardedNames.get(forward) ?? new Map([HEIGHT, ...forward].map((name) => [name, PREFIX + name]));
  forwardedNames.set(forward, found);
  return found;
}

/** False when a value that should be base64 is not. */
function addHeader(
  metadata: [string, string | Buffer][],
  [name, value]: [string, string | readonly string[]],
): boolean {
  try {
    for (const text of typeof value === 'string' ? [value] : value)
      if (!name.endsWith('-bin')) metadata.push([name, text]);
      else for (const part of text.split(',')) metadata.push([name, parseBase64(part.trim())]);
    return true;
  } catch {
    return false;
  }
}

/** Standard or URL-safe, with padding or without, but not mixed. Throws an Error that names the bad byte. */
export function parseBase64(text: string): Buffer {
  const digits = text.replace(/={0,2}$/, '');
  const bad = /^[A-Za-z0-9+/]*$/.test(digits) ? -1 : digits.search(/[^A-Za-z0-9_-]/);
  const padding = text.length - digits.length;
  if (bad >= 0) throw new Error(`illegal base64 data at input byte ${bad}`);
  if (digits.length % 4 === 1 || (padding > 0 && text.length % 4 !== 0))
    throw new Error(`illegal base64 data at input byte ${text.length}`);
  return Buffer.from(digits, 'base64');
}

function notBase64(name: string): Forwarded {
  return { kind: 'refused', message: `The binary header ${name.slice(0, 100)} is not base64.` };
}

/** Which metadata of a call come back as headers of the HTTP answer. */
export interface HeadersBack {
  /** Names (lower case) that come back as they are. */
  readonly named: readonly string[];
  /** Takes what no client may see out of the values of all others. */
  readonly clean: (text: string) => string;
}

/**
 * The headers of an HTTP answer for the metadata of a call, as `grpc-metadata-…`; the height under its own name too.
 * Bytes as base64. What a header cannot hold is left away, and what is more than GATEWAY_LIMITS.grpcMetadataBytes.
 * @example
 * toHeaders([['x-cost', '7']], { named: ['x-cost'], clean: (text) => text }); // → { 'grpc-metadata-x-cost': '7' }
 */
export function toHeaders(metadata: Metadata, back: HeadersBack): Record<string, string> {
  const headers = addPrefix(metadata, PREFIX, back);
  const height = headers[PREFIX + HEIGHT];
  if (height !== undefined) headers[HEIGHT] = height;
  return headers;
}

/**
 * The same for metadata that came after the message, for trailers of HTTP: as `grpc-trailer-…`.
 * @example
 * toTrailers([['x-cost', '7']], { named: [], clean: (text) => text }); // → { 'grpc-trailer-x-cost': '7' }
 */
export function toTrailers(metadata: Metadata, back: HeadersBack): Record<string, string> {
  return addPrefix(metadata, TRAILER_PREFIX, back);
}

/**
 * Of the trailers of a call those that are headers too, for clients know no other place: the height and what is named.
 * @example
 * earlyTrailers([['x-cost', '7']], { named: ['x-cost'], clean: (text) => text }); // → [['x-cost', '7']]
 */
export function earlyTrailers(trailers: Metadata, { named }: HeadersBack): Metadata {
  return trailers.length ? trailers.filter(([name]) => name === HEIGHT || named.includes(name)) : trailers;
}

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

function addPrefix(metadata: Metadata, prefix: string, { named, clean }: HeadersBack): Record<string, string> {
  const headers: Record<string, string> = {};
  let left = GATEWAY_LIMITS.grpcMetadataBytes;
  for (const [name, value] of metadata) {
    // Servers of HTTP add a date by themselves.
    if (isReservedName(name) || (name === 'date' && !named.includes(name))) continue;
    const raw = typeof value === 'string' ? value : value.toString('base64');
    const text = name === HEIGHT || named.includes(name) ? raw : clean(raw);
    left -= prefix.length + name.length + text.length;
    if (left < 0) break;
    if (!HEADER_VALUE.test(text)) continue;
    const before = headers[prefix + name];
    headers[prefix + name] = before === undefined ? text : `${before}, ${text}`;
  }
  return headers;
}
