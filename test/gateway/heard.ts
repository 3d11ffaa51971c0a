// What a connection of the HTTP/2 client makes of bytes: for tests that give it any.

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Connection, type SocketHandler } from '../../lib/gateway/http2/connection.ts';
import { HeaderDecoder, HeaderEncoder } from '../../lib/gateway/http2/headers.ts';
import { Stream } from '../../lib/gateway/http2/stream-table.ts';
import { GREETING } from './raw-node.ts';

const STREAMS = 4;
const shared = { headerDecoder: new HeaderDecoder(), headerEncoder: new HeaderEncoder('node:1', 'http') };

export interface Heard {
  /** What each stream was told, in order. */
  readonly told: readonly string[][];
  /** What was sent, in hex. */
  readonly sent: string;
}

/** The last word of each stream. */
export const LAST = /^(ended|broken|reset|lost)/;

/** Gives bytes to a connection with running streams, in these pieces, then hangs up. */
export async function hear(pieces: readonly Buffer[]): Promise<Heard> {
  const sent: Buffer[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      sent.push(chunk);
      done();
    },
  });
  let handler: SocketHandler | undefined;
  const connection = new Connection({
    ...shared,
    handler: { onReady() {}, onLeaving() {}, onClosed() {} },
    dial: (given) => {
      handler = given;
      return socket as Socket;
    },
  });
  handler!.onConnect();
  handler!.onBytes(GREETING, GREETING.length);
  const told = Array.from({ length: STREAMS }, () => {
    const events: string[] = [];
    connection.streams.start(
      new Stream({
        path: '/t/T',
        metadata: [],
        requests: [Buffer.alloc(30_000)],
        readLeftMs: () => 1_000,
        onHeaders: ({ http }) => events.push(`head ${http}`),
        onData: ({ bytes, from, to }) => events.push(`data ${bytes.toString('hex', from, to)}`),
        onEnd: (trailers) => events.push(`ended ${trailers?.status?.code}`),
        onFailure: ({ message }) => events.push(`broken ${message}`),
        onReset: (code) => events.push(`reset ${code}`),
        onLost: (isUnprocessed) => events.push(`lost ${isUnprocessed}`),
      }),
    );
    return events;
  });
  for (const piece of pieces) handler!.onBytes(piece, piece.length);
  await nextTurn();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  return { told, sent: Buffer.concat(sent).toString('hex') };
}
