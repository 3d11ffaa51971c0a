// The headers of a call: what all calls of one method share is written once, then come its deadline and metadata.

import { LIMITS } from '../../../limits.ts';
import { metadataText } from '../../channel/metadata.ts';
import { timeoutText } from '../../channel/statuses.ts';
import { FLAG, FRAME, FRAME_BYTES, HEAD_BYTES } from '../codes.ts';
import { type Outbox, writeHead } from '../outbox.ts';
import type { Stream } from '../streams/stream.ts';
import { BlockWriter, fieldBytes, NO_TABLE } from './hpack-encode.ts';

/** What stands at the beginning of all calls of one method, up to the name of the deadline. */
interface Lead {
  readonly block: Buffer;
  /** Of the list of headers, as the node counts it. */
  readonly listBytes: number;
}

export interface HeadOptions {
  /** Whether the node has yet to be told that this side keeps no table. */
  readonly saysNoTable: boolean;
  /** Bytes of a list of headers that the node takes. */
  readonly listBytes: number;
}

const FIELD_BYTES = 32;
// Numbers in the static table.
const AUTHORITY = 1;
const POST = 3;
const PATH = 4;
const SCHEMES = { http: 6, https: 7 } as const;
const CONTENT_TYPE = 31;
/** Bytes of the value of the deadline, with its length. */
const TIMEOUT_BYTES = 10;
/** What all those names and values count for, and more than they take in a block. */
const LEAD_BYTES = 512;

export class RequestHeads {
  readonly #authority: string;
  readonly #scheme: 'http' | 'https';
  readonly #leads = new Map<string, Lead>();
  readonly #writer = new BlockWriter(Buffer.alloc(0));

  constructor(authority: string, scheme: 'http' | 'https') {
    this.#authority = authority;
    this.#scheme = scheme;
  }

  /** Writes the headers of a call to the outbox; false, and nothing, when the node takes none so large. */
  write(outbox: Outbox, stream: Stream, { saysNoTable, listBytes }: HeadOptions): boolean {
    const { path, metadata } = stream.user;
    const lead = this.#leadOf(path);
    const texts: string[] = [];
    let list = lead.listBytes;
    let room = 1 + lead.block.length + TIMEOUT_BYTES;
    for (const [name, value] of metadata) {
      const text = metadataText(value);
      texts.push(text);
      list += name.length + text.length + FIELD_BYTES;
      room += fieldBytes(name, text);
    }
    if (list > listBytes) return false;
    const isWhole = room <= FRAME_BYTES;
    const at = isWhole ? outbox.place(HEAD_BYTES + room) : 0;
    const writer = this.#writer;
    writer.bytes = isWhole ? outbox.page : Buffer.allocUnsafe(room);
    writer.at = isWhole ? at + HEAD_BYTES : 0;
    if (saysNoTable) writer.bytes[writer.at++] = NO_TABLE;
    writer.block(lead.block);
    writer.text(timeoutText(Math.max(stream.user.leftMs(), 1)));
    for (const [nth, [name]] of metadata.entries()) writer.secret(name, texts[nth]!);
    if (isWhole) {
      const flags = stream.body.left ? FLAG.endHeaders : FLAG.endHeaders | FLAG.endStream;
      writeHead(outbox.page, at, { length: writer.at - at - HEAD_BYTES, type: FRAME.headers, flags, id: stream.id });
      outbox.placed(writer.at);
    } else writeInPieces(outbox, stream, writer.bytes.subarray(0, writer.at));
    return true;
  }

  #leadOf(path: string): Lead {
    const known = this.#leads.get(path);
    if (known) return known;
    const made = this.#newLead(path);
    if (this.#leads.size >= LIMITS.grpcKeptPaths) this.#leads.clear();
    this.#leads.set(path, made);
    return made;
  }

  #newLead(path: string): Lead {
    const writer = new BlockWriter(Buffer.allocUnsafe(path.length + this.#authority.length + LEAD_BYTES));
    writer.known(POST);
    writer.known(SCHEMES[this.#scheme]);
    writer.named(PATH, path);
    writer.named(AUTHORITY, this.#authority);
    writer.named(CONTENT_TYPE, 'application/grpc+proto');
    writer.field('te', 'trailers');
    writer.field('grpc-accept-encoding', 'identity');
    writer.begin('grpc-timeout');
    const block = writer.bytes.subarray(0, writer.at);
    return { block, listBytes: LEAD_BYTES + path.length + this.#authority.length };
  }
}

function writeInPieces(outbox: Outbox, { id, body }: Stream, block: Buffer): void {
  for (let at = 0; at < block.length; at += FRAME_BYTES) {
    const isLast = at + FRAME_BYTES >= block.length;
    const type = at ? FRAME.continuation : FRAME.headers;
    const flags = (isLast ? FLAG.endHeaders : 0) | (at || body.left ? 0 : FLAG.endStream);
    outbox.frame({ type, flags, id }, block.subarray(at, at + FRAME_BYTES));
  }
}
