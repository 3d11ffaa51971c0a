// What comes on a stream in answer to a call: headers, then data, then trailers; nothing else, and in no other order.

import { LIMITS } from '../../../limits.ts';
import { GRPC } from '../../channel/channel.ts';
import * as statuses from '../../channel/statuses.ts';
import { FLAG, type Trouble, trouble } from '../codes.ts';
import type { Connection } from '../connection.ts';
import type { Frame, Piece } from '../frame-reader.ts';

/** A block of headers of which a part has come. */
export interface Block extends Piece {
  readonly id: number;
  /** Of the first frame. */
  readonly flags: number;
}

/** Puts a block of headers together that came in several frames. What is too large is read to its end and not kept. */
export class HeadBlock {
  readonly id: number;
  readonly #flags: number;
  #parts: Buffer[] = [];
  #frames = 0;
  #bytes = 0;

  constructor(first: Frame) {
    this.id = first.id;
    this.#flags = first.flags;
    this.add(first);
  }

  /** False when there is no end of them. */
  add({ bytes, from, to }: Piece): boolean {
    this.#frames++;
    this.#bytes += to - from;
    if (this.#bytes <= LIMITS.grpcMetadataBytes) this.#parts.push(Buffer.from(bytes.subarray(from, to)));
    return this.#frames <= LIMITS.grpcHeadFrames && this.#bytes <= LIMITS.grpcHeadBytes;
  }

  /** With its true size, which tells that it is too large. */
  whole(): Block {
    return { id: this.id, flags: this.#flags, bytes: Buffer.concat(this.#parts), from: 0, to: this.#bytes };
  }
}

/** Takes the payload of a DATA frame, which counts for so many bytes with its padding. */
export function takeData(connection: Connection, frame: Frame, bytes: number): Trouble | undefined {
  const stream = connection.streams.get(frame.id);
  if (!stream) return connection.streams.strange(frame.id);
  if (!stream.receive.come(bytes)) return connection.streams.refuse(frame.id, 'flowControl');
  if (!stream.hasHead) return connection.streams.refuse(frame.id, 'protocol');
  // Padding alone brings nothing.
  if (frame.from < frame.to) connection.patience.answered();
  stream.user.data(frame);
  if (stream.isOver) return undefined;
  if (frame.flags & FLAG.endStream) connection.streams.end(stream, undefined);
  else connection.streams.taken(stream, bytes);
  return undefined;
}

/** Takes a whole block of headers. */
export function takeHead(connection: Connection, block: Block): Trouble | undefined {
  const { id } = block;
  const stream = connection.streams.get(id);
  if (!stream) return connection.streams.strange(id);
  const head = connection.heads.read(block);
  if (head === 'undecodable') return trouble('compression', 'a block of headers cannot be read');
  if (head === 'too large') return connection.streams.refuse(id, 'cancel', TOO_LARGE);
  const isEnd = (block.flags & FLAG.endStream) !== 0;
  if (head === 'malformed' || !fits(head.http, { isFirst: !stream.hasHead, isEnd }))
    return connection.streams.refuse(id, 'protocol');
  // What comes before the answer is not for us.
  if (head.http && head.http < 200) return undefined;
  connection.patience.answered();
  stream.hasHead ||= !isEnd;
  if (isEnd) connection.streams.end(stream, head);
  else stream.user.head(head);
  return undefined;
}

const TOO_LARGE = statuses.made(
  GRPC.resourceExhausted,
  `The metadata of the node are larger than ${LIMITS.grpcMetadataBytes} bytes.`,
);

/** Headers have a status and trailers have none; nothing ends with a word that more will come. */
function fits(http: number, { isFirst, isEnd }: { readonly isFirst: boolean; readonly isEnd: boolean }): boolean {
  if (!isFirst) return http === 0 && isEnd;
  return http >= 200 || (http >= 100 && http !== SWITCHING && !isEnd);
}

const SWITCHING = 101;
