// Metadata of calls: what may be sent to the node, and how it is read from the headers and trailers of HTTP/2.

import { GATEWAY_LIMITS } from '../limits.ts';
import type { Metadata } from './channel.ts';

const NAME = /^[0-9a-z_.-]{1,256}$/;
const VALUE = /^[\x20-\x7e]*$/;
// What belongs to HTTP/2 or to gRPC: a caller who could set it would speak for the gateway.
const RESERVED =
  /^(grpc-.*|host|te|content-type|content-length|connection|keep-alive|proxy-.*|transfer-encoding|upgrade|http2-settings|trailer|user-agent)$/;
const ENTRY_BYTES = 32;

/** Whether a name (lower case) belongs to HTTP/2 or to gRPC, or is none. */
export function isReserved(name: string): boolean {
  return name === '' || RESERVED.test(name);
}

/** Why this metadata may not be sent, or undefined. Names the entry, never its value. */
export function metadataTrouble(metadata: Metadata): string | undefined {
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
