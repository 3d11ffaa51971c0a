// A node that speaks HTTP/2 in frames made by hand: it sends whatever a test wants, and remembers what came.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Channel } from '../../lib/gateway/channel/channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { FLAG, FRAME, PREFACE } from '../../lib/gateway/http2/protocol.ts';
import { until } from '../support/until.ts';

export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** One connection to the node. */
export interface Peer {
  /** All frames that came on it, in order. */
  readonly frames: readonly RawFrame[];
  send(...frames: readonly Buffer[]): void;
  /** Resolves with the first frame that fits. */
  until(fits: (frame: RawFrame) => boolean): Promise<RawFrame>;
  /** Ends the connection in order. */
  hangUp(): void;
}

export interface RawNode {
  readonly port: number;
  readonly peers: readonly Peer[];
  stop(): Promise<void>;
}

export interface Script {
  /** The first words to each client. @default empty SETTINGS */
  greet?(peer: Peer): void;
  /** A request has come as a whole: the `nth` from 0, on stream `id`. */
  request?(peer: Peer, id: number, nth: number): void;
}

export function rawFrame(type: number, flags: number, id: number, payload: string | Buffer = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'hex') : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, bytes]);
}

/** A block of headers, all in letters. */
export function blockOf(...fields: readonly string[]): Buffer {
  const texts = fields.map((field) => {
    const bytes = Buffer.from(field, 'latin1');
    const { length } = bytes;
    if (length < 127) return Buffer.concat([Buffer.from([length]), bytes]);
    const rest = length - 127;
    return Buffer.concat([Buffer.from([127, 0x80 | (rest & 0x7f), 0x80 | ((rest >> 7) & 0x7f), rest >> 14]), bytes]);
  });
  return Buffer.concat(texts.flatMap((text, at) => (at % 2 ? [text] : [Buffer.from([0]), text])));
}

/** A message in its frame of gRPC. */
export function messageOf(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export const GREETING = rawFrame(FRAME.settings, 0, 0);
export const HEAD = blockOf(':status', '200', 'content-type', 'application/grpc');
export const END = blockOf('grpc-status', '0');

/** The frames of a good answer. */
export const head = (id: number, flags: number = FLAG.endHeaders, block = HEAD) =>
  rawFrame(FRAME.headers, flags, id, block);
export const data = (id: number, payload = messageOf('one'), flags: number = 0) =>
  rawFrame(FRAME.data, flags, id, payload);
export const end = (id: number, block = END) => rawFrame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, block);
export const answer = (id: number): Buffer => Buffer.concat([head(id), data(id), end(id)]);

export async function rawNode({ greet, request }: Script = {}): Promise<RawNode> {
  const peers: Peer[] = [];
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    const frames: RawFrame[] = [];
    const peer: Peer = {
      frames,
      send: (...all) => void socket.write(Buffer.concat(all)),
      until: (fits) => until(`a frame at the node, for ${fits}`, () => frames.find(fits)),
      hangUp: () => socket.end(),
    };
    peers.push(peer);
    let held = Buffer.alloc(0);
    let isGreeted = false;
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (!isGreeted) {
        if (held.length < PREFACE.length) return;
        if (!held.subarray(0, PREFACE.length).equals(PREFACE)) return void socket.destroy();
        isGreeted = true;
        held = held.subarray(PREFACE.length);
        if (greet) greet(peer);
        else peer.send(GREETING);
      }
      while (held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
        const size = 9 + held.readUIntBE(0, 3);
        const frame = {
          type: held[3]!,
          flags: held[4]!,
          id: held.readUInt32BE(5),
          payload: held.subarray(9, size),
        };
        held = held.subarray(size);
        frames.push(frame);
        const isRequest = frame.type === FRAME.data || frame.type === FRAME.headers;
        if (isRequest && frame.flags & FLAG.endStream) request?.(peer, frame.id, requests++);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    peers,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A deadline that no test waits for. */
export const LONG_MS = 600_000;
export const CALL = { path: '/t.Node/Echo', request: Buffer.from('hello'), deadlineMs: LONG_MS };

export interface Bench {
  readonly node: RawNode;
  readonly channel: Channel;
  /** The first connection, when it stands. */
  readonly peer: Peer;
}

/** Runs a test with a channel that is connected to a node with this script. */
export async function against(
  script: Script,
  work: (bench: Bench) => Promise<void>,
  options: { readonly heldBytes?: number } = {},
): Promise<void> {
  const node = await rawNode(script);
  const upstream = `127.0.0.1:${node.port}`;
  const channel = http2Channel({ upstream, backoffMs: 1, backoffMaxMs: 1, connectMs: LONG_MS, ...options });
  try {
    await channel.ready(LONG_MS);
    await work({ node, channel, peer: node.peers[0]! });
  } finally {
    await channel.close();
    await node.stop();
  }
}

const word = (value: number, bytes = 4): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
/** Frames of one or a few numbers. */
export const grow = (id: number, more: number) => rawFrame(FRAME.window, 0, id, word(more));
export const reset = (id: number, code: number) => rawFrame(FRAME.reset, 0, id, word(code));
export const goaway = (last: number, code = 0) => rawFrame(FRAME.goaway, 0, 0, Buffer.concat([word(last), word(code)]));
export const settings = (...entries: readonly (readonly [name: number, value: number])[]) =>
  rawFrame(FRAME.settings, 0, 0, Buffer.concat(entries.flatMap(([name, value]) => [word(name, 2), word(value)])));
export const repeated = (frame: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => frame));

let pings = 0;
/** Resolves when all that was sent before has been taken in by the channel: it answers a ping. */
export async function heard(peer: Peer): Promise<void> {
  const payload = word(++pings, 6);
  const bytes = Buffer.concat([payload, word(0xabcd, 2)]);
  peer.send(rawFrame(FRAME.ping, 0, 0, bytes));
  await peer.until((frame) => frame.type === FRAME.ping && frame.payload.equals(bytes));
}
