// A node for tests: a real grpc-js server with methods that answer bytes, and a bare HTTP/2 server that misbehaves.

import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerOptions,
  status,
} from '@grpc/grpc-js';
import { until } from '../support/until.ts';

type Unary = handleUnaryCall<Buffer, Buffer>;
type Bidi = handleBidiStreamingCall<Buffer, Buffer>;

export interface Seen {
  /** Metadata of the last call, as grpc-js gives it. */
  metadata: Metadata;
  /** Milliseconds that the node was told it has, when the call arrived. */
  deadlineMs: number;
  /** Calls that were begun, and that the caller gave up. */
  begun: number;
  cancelled: number;
  /** Messages that a stream has got rid of, and streams that sent all of theirs. */
  written: number;
  ended: number;
}

export interface TestNode {
  readonly port: number;
  readonly seen: Seen;
  /** Resolves when `seen` fits. */
  until(fits: (seen: Seen) => boolean): Promise<void>;
  /** Ends with all calls cut. */
  stop(): Promise<void>;
  /** As a node that is shut down in order: GOAWAY, then the running calls end. */
  drain(): Promise<void>;
}

const same = (bytes: Buffer) => bytes;
/** A method of grpc-js whose messages are bytes. */
export const bytesMethod = (path: string, requestStream: boolean, responseStream = requestStream) => ({
  ...{ path, requestStream, responseStream },
  ...{ requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
});

/** The port on which a server now listens; `port` 0 takes a free one. */
export function bound(server: Server, port = 0, credentials = ServerCredentials.createInsecure()): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) => (error ? reject(error) : resolve(at))),
  );
}

/** Starts a node. `port` 0 takes a free one; `tls` as PEM. */
export async function testNode(
  options: { port?: number; tls?: { key: string; cert: string }; server?: ServerOptions } = {},
): Promise<TestNode> {
  const { port = 0, tls, server: settings = {} } = options;
  const seen: Seen = { metadata: new Metadata(), deadlineMs: 0, begun: 0, cancelled: 0, written: 0, ended: 0 };
  const arrived = (call: Parameters<Unary>[0] | Parameters<Bidi>[0]) => {
    seen.begun++;
    seen.metadata = call.metadata;
    seen.deadlineMs = Number(call.getDeadline()) - Date.now();
  };

  const handlers = {
    Echo: ((call, answer) => {
      arrived(call);
      const headers = new Metadata();
      for (const name of ['x-echo', 'x-echo-bin', 'x-cosmos-block-height'])
        for (const value of call.metadata.get(name)) headers.add(name, value);
      call.sendMetadata(headers);
      const trailers = new Metadata();
      trailers.add('x-end', 'bye');
      trailers.add('x-end-bin', Buffer.from([0, 255]));
      answer(null, call.request, trailers);
    }) satisfies Unary,
    Fail: ((call, answer) => {
      arrived(call);
      const { code, details, hasHeaders } = JSON.parse(call.request.toString());
      if (hasHeaders) call.sendMetadata(new Metadata());
      const metadata = new Metadata();
      metadata.add('grpc-status-details-bin', Buffer.from('rich'));
      answer({ code, details, metadata });
    }) satisfies Unary,
    Hang: ((call) => {
      arrived(call);
      call.on('cancelled', () => seen.cancelled++);
    }) satisfies Unary,
    Slow: ((call, answer) => {
      arrived(call);
      setTimeout(() => answer(null, call.request), 100);
    }) satisfies Unary,
    /** The request says how many bytes. */
    Big: ((call, answer) => {
      arrived(call);
      answer(null, Buffer.alloc(Number(call.request.toString()), 'x'));
    }) satisfies Unary,
  };

  const streams = {
    /** For each request `count,size`: so many messages of that size, with the pace of the reader. */
    Count: ((call) => {
      arrived(call);
      let isLeft = false;
      let wake = () => {};
      call.on('cancelled', () => {
        isLeft = true;
        seen.cancelled++;
        wake();
      });
      call.on('drain', () => wake());
      const requests: string[] = [];
      call.on('data', (request: Buffer) => requests.push(request.toString()));
      call.on('end', async () => {
        for (const request of requests) {
          const [count, size] = request.split(',').map(Number);
          for (let at = 0; at < count! && !isLeft; at++) {
            seen.written++;
            const message = Buffer.alloc(size!, 'x');
            message.writeUInt32BE(at);
            if (!call.write(message)) await new Promise<void>((resolve) => (wake = resolve));
          }
        }
        const trailers = new Metadata();
        trailers.add('x-end', 'bye');
        call.end(trailers);
        seen.ended++;
      });
    }) satisfies Bidi,
    /** One message, then an error. */
    Break: ((call) => {
      arrived(call);
      call.on('data', () => {});
      call.write(Buffer.from('one'));
      setImmediate(() => call.emit('error', { code: status.ABORTED, details: 'broke' }));
    }) satisfies Bidi,
  };

  const server = new Server({ 'grpc.max_receive_message_length': -1, ...settings });
  server.addService(
    {
      ...Object.fromEntries(Object.keys(handlers).map((name) => [name, bytesMethod(`/t.Node/${name}`, false)])),
      ...Object.fromEntries(Object.keys(streams).map((name) => [name, bytesMethod(`/t.Node/${name}`, true)])),
    },
    { ...handlers, ...streams },
  );
  const credentials = tls
    ? ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
    : ServerCredentials.createInsecure();
  return {
    port: await bound(server, port, credentials),
    seen,
    until: (fits) => until('calls at the node', () => fits(seen)).then(() => {}),
    stop: async () => server.forceShutdown(),
    drain: () => new Promise((resolve) => server.tryShutdown(() => resolve())),
  };
}

/** What the bare server does with one call; `cut` ends its connection without a word. */
export type Misdeed = (stream: ServerHttp2Stream, session: Http2Session, cut: () => void) => void;

export interface HostileNode {
  readonly port: number;
  readonly calls: number;
  readonly connections: number;
  stop(): Promise<void>;
}

/** A server of HTTP/2 on loopback that does to each call what `misdeed` says, given the number of the call from 0. */
export async function hostileNode(misdeed: (call: number) => Misdeed, port = 0): Promise<HostileNode> {
  const sessions = new Set<Http2Session>();
  let calls = 0;
  let connections = 0;
  const server = createServer();
  let socket: Socket | undefined;
  server.on('connection', (made: Socket) => {
    socket = made;
  });
  server.on('session', (session) => {
    connections++;
    sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.resume();
    misdeed(calls++)(stream, stream.session!, () => socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get calls() {
      return calls;
    },
    get connections() {
      return connections;
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };
const frame = (bytes: Buffer, flag = 0) => {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const ONE = frame(Buffer.from('one'));

/** Answers as one should: in pieces of `piece` bytes. */
export function well(piece = Number.POSITIVE_INFINITY, body: Buffer = ONE): Misdeed {
  return (stream) => {
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    for (let at = 0; at < body.length; at += piece) stream.write(body.subarray(at, at + piece));
    stream.end();
  };
}

/** Name of a misdeed → what it is, and the code with which a channel must answer, or the codes it may choose from. */
export const MISDEEDS: { readonly [name: string]: { readonly does: Misdeed; readonly code: number | number[] } } = {
  'no trailers after a message': {
    code: 13,
    does: (stream) => {
      stream.respond(HEADERS);
      stream.end(ONE);
    },
  },
  'nothing but headers': { code: 2, does: (stream) => stream.respond(HEADERS, { endStream: true }) },
  'OK without a message': {
    code: 13,
    does: (stream) => stream.respond({ ...HEADERS, 'grpc-status': '0' }, { endStream: true }),
  },
  // grpc-js never looks at the second message and waits for the deadline.
  'two messages where one belongs': { code: [13, 4], does: well(undefined, Buffer.concat([ONE, ONE])) },
  'a compressed message without saying how': { code: 13, does: well(undefined, frame(Buffer.from('one'), 1)) },
  'half a message, then OK': { code: 13, does: well(undefined, ONE.subarray(0, 6)) },
  'a message that announces 4 GB': {
    code: 8,
    does: (stream) => {
      stream.respond(HEADERS);
      stream.write(Buffer.from([0, 255, 255, 255, 255, 1]));
    },
  },
  'HTTP 503 with a page': {
    code: 14,
    does: (stream) => {
      stream.respond({ ':status': 503, 'content-type': 'text/html' });
      stream.end('<html>away');
    },
  },
  'HTTP 404': { code: 12, does: (stream) => stream.respond({ ':status': 404 }, { endStream: true }) },
  'HTTP 401': { code: 16, does: (stream) => stream.respond({ ':status': 401 }, { endStream: true }) },
  'a reset with INTERNAL_ERROR': { code: 13, does: (stream) => stream.close(2) },
  'a reset with ENHANCE_YOUR_CALM': { code: 8, does: (stream) => stream.close(11) },
  'a reset in the middle of a message': {
    code: 13,
    does: (stream) => {
      stream.respond(HEADERS);
      stream.write(ONE.subarray(0, 6), () => stream.close(2));
    },
  },
  'a connection cut in the middle of a message': {
    code: 14,
    does: (stream, _session, cut) => {
      stream.respond(HEADERS);
      stream.write(ONE.subarray(0, 6), cut);
    },
  },
  'GOAWAY with an error': { code: 14, does: (_stream, session) => session.goaway(2, 0) },
};
