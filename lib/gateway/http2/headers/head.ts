// What the headers and trailers of the node say. Most of its blocks are alike, so what one means is kept.

import { LIMITS } from '../../../limits.ts';
import type { Metadata, Status } from '../../channel/channel.ts';
import { readMetadata } from '../../channel/metadata.ts';
import { notGrpc, statusIn } from '../../channel/statuses.ts';
import type { Piece } from '../frame-reader.ts';
import { decodeFields, type Fields } from './hpack-decode.ts';

export interface Head {
  /** The status of HTTP; 0 in trailers. */
  readonly http: number;
  readonly metadata: Metadata;
  /** The status of gRPC, if they have one. */
  readonly status: Status | undefined;
  /** Why they are not the headers of an answer of gRPC. */
  readonly foreign: Status | undefined;
}

/** `undecodable` is the end of a connection, the others of a call. */
export type HeadTrouble = 'undecodable' | 'malformed' | 'too large';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const BAD_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;
const OF_CONNECTIONS = /^(connection|proxy-connection|keep-alive|transfer-encoding|upgrade)$/;

export class Heads {
  readonly #kept = new Map<string, Head>();

  read({ bytes, from, to }: Piece): Head | HeadTrouble {
    if (to - from > LIMITS.grpcMetadataBytes) return 'too large';
    if (to - from > LIMITS.grpcKeptHeadBytes) return readBlock(bytes.subarray(from, to));
    const key = bytes.toString('latin1', from, to);
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const head = readBlock(bytes.subarray(from, to));
    if (typeof head === 'string') return head;
    if (this.#kept.size >= LIMITS.grpcKeptHeads) this.#kept.clear();
    this.#kept.set(key, head);
    return head;
  }
}

function readBlock(block: Buffer): Head | HeadTrouble {
  const fields = decodeFields(block);
  if (fields === 'malformed') return 'undecodable';
  if (fields === 'too large') return fields;
  const joined = join(fields);
  if (!joined) return 'malformed';
  return {
    http: Number(joined.get(':status') ?? 0),
    metadata: readMetadata(joined),
    status: statusIn(joined),
    foreign: notGrpc(joined),
  };
}

/** Each name once, with all its values; undefined for what RFC 9113 calls malformed. */
function join(fields: Fields): ReadonlyMap<string, string> | undefined {
  const joined = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at]!, fields[at + 1]!];
    const isStatus = name === ':status' && at === 0 && /^[1-9]\d\d$/.test(value);
    if (!isStatus && (!NAME.test(name) || OF_CONNECTIONS.test(name) || BAD_VALUE.test(value))) return undefined;
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return joined;
}
