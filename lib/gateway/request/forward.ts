// Which headers of an HTTP request go to the node as metadata, and how metadata of its answer come back as headers.

import type { IncomingHttpHeaders } from 'node:http';
import { ScalarType } from '@bufbuild/protobuf';
import type { Metadata } from '../channel/channel.ts';
import { isReserved, metadataTrouble } from '../channel/metadata.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { scalarParser } from './values.ts';

/** The height of the chain, in and out. */
export const HEIGHT = 'x-cosmos-block-height';
const PREFIX = 'grpc-metadata-';
const TRAILER_PREFIX = 'grpc-trailer-';
// Who asks, and for whom: a node may trust them, so only an operator can let them through, by name.
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
 */
export function metadataOf(headers: IncomingHttpHeaders, forward: readonly string[] = []): Forwarded {
  const metadata: [string, string | Buffer][] = [];
  const names = namesOf(forward);
  for (const [name, prefixed] of names) {
    const value = headers[prefixed] ?? headers[name];
    if (value !== undefined && !add(metadata, { name, value })) return notBase64(name);
  }
  for (const header in headers) {
    if (!header.startsWith(PREFIX)) continue;
    const name = header.slice(PREFIX.length);
    if (names.has(name) || NAMED_ONLY.has(name) || isReserved(name)) continue;
    if (!add(metadata, { name, value: headers[header]! })) return notBase64(name);
  }
  const trouble =
    metadata.length > GATEWAY_LIMITS.gatewayMetadata
      ? `there are more than ${GATEWAY_LIMITS.gatewayMetadata}`
      : metadataTrouble(metadata);
  return trouble
    ? { kind: 'refused', message: `Cannot forward the headers: ${trouble}.` }
    : { kind: 'metadata', metadata };
}

// By the list itself, for there is one.
const known = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** The names of headers that are forwarded, without and with the prefix. */
function namesOf(forward: readonly string[]): ReadonlyMap<string, string> {
  const found = known.get(forward) ?? new Map([HEIGHT, ...forward].map((name) => [name, PREFIX + name]));
  known.set(forward, found);
  return found;
}

interface Header {
  readonly name: string;
  readonly value: string | readonly string[];
}

/** False when a value that should be base64 is not. */
function add(metadata: [string, string | Buffer][], { name, value }: Header): boolean {
  for (const one of typeof value === 'string' ? [value] : value)
    if (!name.endsWith('-bin')) metadata.push([name, one]);
    else if (!addBytes(metadata, { name, text: one })) return false;
  return true;
}

const base64 = scalarParser(ScalarType.BYTES);

function addBytes(metadata: [string, string | Buffer][], { name, text }: { name: string; text: string }): boolean {
  try {
    for (const part of text.split(',')) metadata.push([name, base64(part.trim()) as Buffer]);
    return true;
  } catch {
    return false;
  }
}

function notBase64(name: string): Forwarded {
  return { kind: 'refused', message: `The binary header ${name.slice(0, 100)} is not base64.` };
}

export interface HeadersBack {
  /** Names (lower case) that come back as they are. */
  readonly named: readonly string[];
  /** Takes what no client may see out of the values of all others. */
  readonly clean: (text: string) => string;
}

/**
 * The headers of an HTTP answer for the metadata of a call, as `grpc-metadata-…`; the height under its own name too.
 * Bytes as base64. What a header cannot hold is left away, and what is more than GATEWAY_LIMITS.grpcMetadataBytes.
 */
export function headersOf(metadata: Metadata, back: HeadersBack): Record<string, string> {
  const headers = prefixedTexts(metadata, PREFIX, back);
  const height = headers[PREFIX + HEIGHT];
  if (height !== undefined) headers[HEIGHT] = height;
  return headers;
}

/** The same for metadata that came after the message, for trailers of HTTP: as `grpc-trailer-…`. */
export function trailersOf(metadata: Metadata, back: HeadersBack): Record<string, string> {
  return prefixedTexts(metadata, TRAILER_PREFIX, back);
}

/** Of the trailers of a call those that are headers too, for clients know no other place: the height and what is named. */
export function earlyTrailers(trailers: Metadata, { named }: HeadersBack): Metadata {
  return trailers.length ? trailers.filter(([name]) => name === HEIGHT || named.includes(name)) : trailers;
}

const VALUE = /^[\t\x20-\x7e]*$/;

function prefixedTexts(metadata: Metadata, prefix: string, { named, clean }: HeadersBack): Record<string, string> {
  const headers: Record<string, string> = {};
  let left = GATEWAY_LIMITS.grpcMetadataBytes;
  for (const [name, value] of metadata) {
    // Servers of HTTP add a date by themselves.
    if (isReserved(name) || (name === 'date' && !named.includes(name))) continue;
    const raw = typeof value === 'string' ? value : value.toString('base64');
    const text = name === HEIGHT || named.includes(name) ? raw : clean(raw);
    left -= prefix.length + name.length + text.length;
    if (left < 0) break;
    if (!VALUE.test(text)) continue;
    const before = headers[prefix + name];
    headers[prefix + name] = before === undefined ? text : `${before}, ${text}`;
  }
  return headers;
}
