// HPACK headers of gRPC calls: decodes headers and trailers of the node, encodes those of requests.

import { findHttpStatus, formatTimeout, readStatus } from '../channel/channel.ts';
import { metadataText, readMetadata } from '../channel/metadata.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { type FrameWriter, writeFrameHeader } from './frames.ts';
import { BlockWriter, decodeFields, EMPTY_TABLE, FIELD_BYTES, type FieldLines, fieldBytes } from './hpack.ts';
import type { ByteRange, Headers } from './protocol.ts';
import { FLAG, FRAME, FRAME_BYTES, FRAME_HEADER_BYTES } from './protocol.ts';
import type { Stream } from './stream-table.ts';

/** `undecodable` ends the connection, the others only the stream. */
export type HeaderError = 'undecodable' | 'malformed' | 'too large';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const BAD_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;
const CONNECTION_SPECIFIC = /^(connection|proxy-connection|keep-alive|transfer-encoding|upgrade)$/;

/** Decodes header blocks. Most blocks of a node are identical, so results for short ones are cached. */
export class HeaderDecoder {
  readonly #cache = new Map<string, Headers>();

  decode({ bytes, from, to }: ByteRange): Headers | HeaderError {
    if (to - from > GATEWAY_LIMITS.grpcMetadataBytes) return 'too large';
    if (to - from > GATEWAY_LIMITS.grpcKeptHeadBytes) return decodeBlock(bytes.subarray(from, to));
    const key = bytes.toString('latin1', from, to);
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const headers = decodeBlock(bytes.subarray(from, to));
    if (typeof headers === 'string') return headers;
    if (this.#cache.size >= GATEWAY_LIMITS.grpcKeptHeads) this.#cache.clear();
    this.#cache.set(key, headers);
    return headers;
  }
}

function decodeBlock(block: Buffer): Headers | HeaderError {
  const fields = decodeFields(block);
  if (fields === 'malformed') return 'undecodable';
  if (fields === 'too large') return fields;
  const joined = joinFields(fields);
  if (!joined) return 'malformed';
  return {
    http: Number(joined.get(':status') ?? 0),
    metadata: readMetadata(joined),
    status: readStatus(joined),
    foreign: findHttpStatus(joined),
  };
}

/** Joins the values of each name by `, `; undefined for malformed headers (RFC 9113, sections 8.2 and 8.3). */
function joinFields(fields: FieldLines): ReadonlyMap<string, string> | undefined {
  const joined = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at]!, fields[at + 1]!];
    const isStatus = name === ':status' && at === 0 && /^[1-9]\d\d$/.test(value);
    if (!isStatus && (!NAME.test(name) || CONNECTION_SPECIFIC.test(name) || BAD_VALUE.test(value))) return undefined;
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return joined;
}

/** The part of a header block shared by all calls of a method: everything up to the name of the deadline. */
interface MethodPrefix {
  readonly block: Buffer;
  /** Its size in the header list, by the node's measure; rounded up. */
  readonly listBytes: number;
}

export interface EncodeOptions {
  /** Whether the block must announce that we use no dynamic table. */
  readonly resetsTable: boolean;
  /** The largest header list that the node accepts, in bytes. */
  readonly listBytes: number;
}

// Indexes in HPACK's static table.
const AUTHORITY = 1;
const POST = 3;
const PATH = 4;
const SCHEMES = { http: 6, https: 7 } as const;
const CONTENT_TYPE = 31;
/** Most bytes of a `grpc-timeout` value with its length. */
const TIMEOUT_BYTES = 10;
/** Most bytes of all other names and values of a prefix, in the header list and in a block. */
const PREFIX_BYTES = 512;

/** Encodes request headers; caches the prefix of each method. */
export class HeaderEncoder {
  readonly #authority: string;
  readonly #scheme: 'http' | 'https';
  readonly #prefixes = new Map<string, MethodPrefix>();
  readonly #writer = new BlockWriter(Buffer.alloc(0));

  constructor(authority: string, scheme: 'http' | 'https') {
    this.#authority = authority;
    this.#scheme = scheme;
  }

  /** Sends the headers of a call; false, sending nothing, when they exceed the node's limit. */
  write(frames: FrameWriter, stream: Stream, { resetsTable, listBytes }: EncodeOptions): boolean {
    const { path, metadata } = stream.handler;
    const prefix = this.#prefixFor(path);
    const texts: string[] = [];
    let list = prefix.listBytes;
    let room = 1 + prefix.block.length + TIMEOUT_BYTES;
    for (const [name, value] of metadata) {
      const text = metadataText(value);
      texts.push(text);
      list += name.length + text.length + FIELD_BYTES;
      room += fieldBytes(name, text);
    }
    if (list > listBytes) return false;
    const fitsFrame = room <= FRAME_BYTES;
    const at = fitsFrame ? frames.reserve(FRAME_HEADER_BYTES + room) : 0;
    const writer = this.#writer;
    writer.bytes = fitsFrame ? frames.page : Buffer.allocUnsafe(room);
    writer.at = fitsFrame ? at + FRAME_HEADER_BYTES : 0;
    if (resetsTable) writer.bytes[writer.at++] = EMPTY_TABLE;
    writer.block(prefix.block);
    writer.text(formatTimeout(Math.max(stream.handler.readLeftMs(), 1)));
    for (const [nth, [name]] of metadata.entries()) writer.secret(name, texts[nth]!);
    if (fitsFrame) {
      const flags = stream.body.left ? FLAG.endHeaders : FLAG.endHeaders | FLAG.endStream;
      const length = writer.at - at - FRAME_HEADER_BYTES;
      writeFrameHeader(frames.page, at, { length, type: FRAME.headers, flags, id: stream.id });
      frames.commit(writer.at);
    } else writeContinued(frames, stream, writer.bytes.subarray(0, writer.at));
    return true;
  }

  #prefixFor(path: string): MethodPrefix {
    const cached = this.#prefixes.get(path);
    if (cached) return cached;
    const prefix = this.#encodePrefix(path);
    if (this.#prefixes.size >= GATEWAY_LIMITS.grpcKeptPaths) this.#prefixes.clear();
    this.#prefixes.set(path, prefix);
    return prefix;
  }

  #encodePrefix(path: string): MethodPrefix {
    const writer = new BlockWriter(Buffer.allocUnsafe(path.length + this.#authority.length + PREFIX_BYTES));
    writer.writeIndexed(POST);
    writer.writeIndexed(SCHEMES[this.#scheme]);
    writer.writeNamed(PATH, path);
    writer.writeNamed(AUTHORITY, this.#authority);
    writer.writeNamed(CONTENT_TYPE, 'application/grpc+proto');
    writer.field('te', 'trailers');
    writer.field('grpc-accept-encoding', 'identity');
    writer.name('grpc-timeout');
    const block = writer.bytes.subarray(0, writer.at);
    return { block, listBytes: PREFIX_BYTES + path.length + this.#authority.length };
  }
}

/** Sends a header block longer than a frame as HEADERS and CONTINUATION. */
function writeContinued(frames: FrameWriter, { id, body }: Stream, block: Buffer): void {
  for (let at = 0; at < block.length; at += FRAME_BYTES) {
    const isLast = at + FRAME_BYTES >= block.length;
    const type = at ? FRAME.continuation : FRAME.headers;
    const flags = (isLast ? FLAG.endHeaders : 0) | (at || body.left ? 0 : FLAG.endStream);
    frames.frame({ type, flags, id }, block.subarray(at, at + FRAME_BYTES));
  }
}
