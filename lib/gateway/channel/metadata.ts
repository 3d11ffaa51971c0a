// Metadata of calls: which request headers become metadata, which metadata may be sent, how it is read from HTTP/2, and how
// the metadata of a reply becomes HTTP headers and trailers.

import type { IncomingHttpHeaders } from 'node:http';
import { GATEWAY_LIMITS } from '../limits.ts';

/**
 * Lower-case names in order of arrival, repeated for repeated values. Values of names ending in `-bin` are bytes, all others
 * printable ASCII.
 */
export type Metadata = readonly (readonly [name: string, value: string | Buffer])[];

const NAME = /^[0-9a-z_.-]{1,256}$/;
const VALUE = /^[\x20-\x7e]*$/;
// Reserved by HTTP/2 or gRPC: a caller who sets one would speak for the gateway.
const RESERVED =
  /^(grpc-.*|host|te|content-type|content-length|connection|keep-alive|proxy-.*|transfer-encoding|upgrade|http2-settings|trailer|user-agent)$/;
const ENTRY_BYTES = 32;

/** Whether a lower-case name is empty or reserved by HTTP/2 or gRPC. */
function isReservedName(name: string): boolean {
  return name === '' || RESERVED.test(name);
}

/** Why this metadata may not be sent, or undefined. Names the entry, never its value. */
export function findMetadataProblem(metadata: Metadata): string | undefined {
  let bytes = 0;
  for (const [name, value] of metadata) {
    if (!NAME.test(name)) return `the name ${JSON.stringify(name.slice(0, 64))} of a metadata entry is malformed`;
    if (RESERVED.test(name)) return `the metadata ${name} is reserved for the connection to the node`;
    if (name.endsWith('-bin') !== Buffer.isBuffer(value))
      return `the metadata ${name} must be bytes if its name ends in -bin, and text if not`;
    if (typeof value === 'string' && !VALUE.test(value)) return `the metadata ${name} is not printable ASCII`;
    bytes += name.length + value.length + ENTRY_BYTES;
  }
  return bytes > GATEWAY_LIMITS.grpcMetadataBytes
    ? `the metadata exceeds ${GATEWAY_LIMITS.grpcMetadataBytes} bytes`
    : undefined;
}

/** A value in header form. */
export function metadataText(value: string | Buffer): string {
  return typeof value === 'string' ? value : value.toString('base64').replace(/=+$/, '');
}

/** The metadata in headers or trailers, without names reserved by HTTP/2 and gRPC. Repeated text values arrive joined by `, `. */
export function readMetadata(headers: ReadonlyMap<string, string>): Metadata {
  const entries: [string, string | Buffer][] = [];
  for (const [name, value] of headers) {
    if (name.charCodeAt(0) === COLON || (RESERVED.test(name) && name !== 'grpc-status-details-bin')) continue;
    if (!name.endsWith('-bin')) entries.push([name, value]);
    else for (const part of value.split(',')) entries.push([name, Buffer.from(part.trim(), 'base64')]);
  }
  return entries;
}

const COLON = 58;

/** The chain height, in requests and replies. */
export const HEIGHT = 'x-cosmos-block-height';
const PREFIX = 'grpc-metadata-';
const TRAILER_PREFIX = 'grpc-trailer-';
// Headers that identify the caller. A node may trust them, so only an operator can forward them, by name.
const NAMED_ONLY: ReadonlySet<string> = new Set(['authorization', 'x-forwarded-for']);

/** The metadata of a call, or why the headers are refused. */
export type Forwarded =
  | { readonly kind: 'metadata'; readonly metadata: Metadata }
  /** Returned as INVALID_ARGUMENT; names the header, never its value. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Forwards {@link HEIGHT} and the headers named in `forward` (lower case), with or without the prefix `Grpc-Metadata-`
 * (with it wins); and every other header with the prefix, except names reserved by the connection or gRPC,
 * `authorization` and `x-forwarded-for`, which are dropped. Values of `-bin` names are base64, several of them separated
 * by commas. Nothing else reaches the node.
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

// Keyed by the list object, of which there is one.
const forwardedNames = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** Forwarded header names, without and with the prefix. */
function findNames(forward: readonly string[]): ReadonlyMap<string, string> {
  const names = forwardedNames.get(forward) ?? new Map([HEIGHT, ...forward].map((name) => [name, PREFIX + name]));
  forwardedNames.set(forward, names);
  return names;
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

/** Standard or URL-safe base64, padded or not, but not mixed. Throws an Error that gives the position of the bad byte. */
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

/** How the metadata of a reply becomes response headers. */
export interface HeadersBack {
  /** Lower-case names whose values are returned unchanged. */
  readonly named: readonly string[];
  /** Removes what clients must not see from the values of all others. */
  readonly clean: (text: string) => string;
}

/**
 * Response headers for the metadata of a call, as `grpc-metadata-…`; the height also under its own name. Bytes become base64.
 * Entries that a header cannot carry, or beyond GATEWAY_LIMITS.grpcMetadataBytes, are dropped.
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
 * The same for metadata after the message, as HTTP trailers `grpc-trailer-…`.
 * @example
 * toTrailers([['x-cost', '7']], { named: [], clean: (text) => text }); // → { 'grpc-trailer-x-cost': '7' }
 */
export function toTrailers(metadata: Metadata, back: HeadersBack): Record<string, string> {
  return addPrefix(metadata, TRAILER_PREFIX, back);
}

/**
 * The trailing metadata that is also sent as headers, where clients look for it: the height and the configured names.
 * @example
 * earlyTrailers([['x-cost', '7']], { named: ['x-cost'], clean: (text) => text }); // → [['x-cost', '7']]
 */
export function earlyTrailers(trailers: Metadata, { named: names }: HeadersBack): Metadata {
  return trailers.length ? trailers.filter(([name]) => name === HEIGHT || names.includes(name)) : trailers;
}

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

function addPrefix(metadata: Metadata, prefix: string, { named: names, clean }: HeadersBack): Record<string, string> {
  const headers: Record<string, string> = {};
  let left = GATEWAY_LIMITS.grpcMetadataBytes;
  for (const [name, value] of metadata) {
    // HTTP servers add a date themselves.
    if (isReservedName(name) || (name === 'date' && !names.includes(name))) continue;
    const raw = typeof value === 'string' ? value : value.toString('base64');
    const text = name === HEIGHT || names.includes(name) ? raw : clean(raw);
    left -= prefix.length + name.length + text.length;
    if (left < 0) break;
    if (!HEADER_VALUE.test(text)) continue;
    const before = headers[prefix + name];
    headers[prefix + name] = before === undefined ? text : `${before}, ${text}`;
  }
  return headers;
}
