// Which headers of an HTTP request go to the node as metadata, and which metadata come back as headers: by name only.

import type { IncomingHttpHeaders } from 'node:http';
import type { Metadata } from './channel.ts';
import { metadataTrouble } from './metadata.ts';

/** The height of the chain, in and out. */
export const HEIGHT = 'x-cosmos-block-height';
const PREFIX = 'grpc-metadata-';
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The metadata of a call, or what is wrong with the headers. */
export type Forwarded =
  | { readonly kind: 'metadata'; readonly metadata: Metadata }
  /** For INVALID_ARGUMENT; names the header, never its value. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Takes {@link HEIGHT} and the headers named in `forward` (lower case), each under its own name or with `Grpc-Metadata-`
 * before it, which wins. Values of names in `-bin` are base64, each of several after a comma. Nothing else reaches the
 * node.
 */
export function metadataOf(headers: IncomingHttpHeaders, forward: readonly string[] = []): Forwarded {
  const metadata: [string, string | Buffer][] = [];
  for (const [name, prefixed] of namesOf(forward)) {
    const value = headers[prefixed] ?? headers[name];
    if (value === undefined) continue;
    for (const one of typeof value === 'string' ? [value] : value) {
      if (!name.endsWith('-bin')) metadata.push([name, one]);
      else if (!addBytes(metadata, { name, text: one }))
        return { kind: 'refused', message: `The binary header ${name} is not base64.` };
    }
  }
  const trouble = metadataTrouble(metadata);
  return trouble
    ? { kind: 'refused', message: `Cannot forward the headers: ${trouble}.` }
    : { kind: 'metadata', metadata };
}

// By the list itself, for there is one.
const known = new WeakMap<readonly string[], readonly (readonly [string, string])[]>();

/** The names of headers that are forwarded, without and with the prefix. */
function namesOf(forward: readonly string[]): readonly (readonly [string, string])[] {
  const found = known.get(forward) ?? [...new Set([HEIGHT, ...forward])].map((name) => [name, PREFIX + name] as const);
  known.set(forward, found);
  return found;
}

function addBytes(metadata: [string, string | Buffer][], { name, text }: { name: string; text: string }): boolean {
  for (const part of text.split(',').map((one) => one.trim())) {
    if (!BASE64.test(part)) return false;
    metadata.push([name, Buffer.from(part, 'base64')]);
  }
  return true;
}

/**
 * The headers of an HTTP answer for the metadata of a call: those named in `back` (lower case) and {@link HEIGHT}, as
 * `grpc-metadata-…`; the height under its own name too. Bytes as base64.
 */
export function headersOf(metadata: Metadata, back: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of metadata) {
    if (name !== HEIGHT && !back.includes(name)) continue;
    const text = typeof value === 'string' ? value : value.toString('base64');
    const before = headers[PREFIX + name];
    headers[PREFIX + name] = before === undefined ? text : `${before}, ${text}`;
    if (name === HEIGHT) headers[HEIGHT] = text;
  }
  return headers;
}
