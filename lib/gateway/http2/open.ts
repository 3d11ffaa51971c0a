// The entry point of this folder: an HTTP/2 client for the calls of one channel, with one connection that is replaced when it
// ends.

import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { retryDelay } from '../../retry.ts';
import type { ChannelHealth, ChannelOptions, RpcCall, StreamCall } from '../channel/channel.ts';
import type { ByteBudget, CallSource, Sink } from '../channel/message-stream.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { type Reconnector, startCall } from './call.ts';
import { Connection, type SocketHandler } from './connection.ts';
import { HeaderDecoder, HeaderEncoder } from './headers.ts';

export interface Http2Options extends ChannelOptions {
  /** Default deadline of a call, in milliseconds. */
  readonly deadlineMs: number;
  /** Largest message of a reply, in bytes. */
  readonly answerBytes: number;
  /** Memory budget for large messages of all calls. */
  readonly budget: ByteBudget;
}

export interface Http2Client {
  /** Starts a call; `sink.end` is called once, and nothing after it. */
  startCall(call: RpcCall | StreamCall, sink: Sink): CallSource;
  /** Resolves once a connection attempt has ended; immediately if connected, or in the pause after a failed attempt. */
  connect(): Promise<unknown>;
  health(): ChannelHealth;
  /** Lets running calls end within GATEWAY_LIMITS.grpcCloseMs, then ends them. */
  close(): Promise<void>;
}

/** Opens a client to `options.upstream`; returns immediately and connects on the first call. */
export function openHttp2(options: Http2Options): Http2Client {
  const { deadlineMs, answerBytes, budget } = options;
  const reconnector = createReconnector(options);
  const context = { reconnector, deadlineMs, answerBytes, budget };
  return {
    startCall: (call, sink) => startCall(call, context, sink),
    connect: reconnector.connect,
    health: reconnector.health,
    close: reconnector.close,
  };
}

function createReconnector(options: ChannelOptions): Reconnector {
  const {
    upstream,
    tls = false,
    connectMs = GATEWAY_LIMITS.grpcConnectMs,
    pingMs = GATEWAY_LIMITS.grpcPingMs,
  } = options;
  const { backoffMs = GATEWAY_LIMITS.grpcBackoffMs, backoffMaxMs = GATEWAY_LIMITS.grpcBackoffMaxMs } = options;
  const headerDecoder = new HeaderDecoder();
  const headerEncoder = new HeaderEncoder(upstream, tls ? 'https' : 'http');
  let current: Connection | undefined;
  let connecting: Promise<Connection | undefined> | undefined;
  let trouble: string | undefined;
  let failures = 0;
  let retryAt = 0;
  let pingedAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;
  const all = new Set<Connection>();

  // A connection is ready once the node has sent its settings; a server that does not speak HTTP/2 never does.
  function attempt(): Promise<Connection | undefined> {
    return new Promise((resolve) => {
      const connection: Connection = new Connection({
        headerDecoder,
        headerEncoder,
        dial: (handler) => dial(options, handler),
        handler: {
          onReady: () => {
            clearTimeout(timer);
            failures = 0;
            trouble = undefined;
            current = connection;
            resolve(connection);
          },
          onLeaving: (why) => retire(connection, why),
          onClosed: () => {
            clearTimeout(timer);
            all.delete(connection);
            retire(connection, undefined);
            resolve(undefined);
          },
        },
      });
      const timer = setTimeout(() => connection.destroy(`no HTTP/2 settings within ${connectMs} ms`), connectMs);
      all.add(connection);
    });
  }

  function retire(connection: Connection, why: string | undefined): void {
    trouble = why ?? trouble;
    if (current === connection) current = undefined;
  }

  function connect(): Promise<Connection | undefined> {
    if (current) return Promise.resolve(current);
    if (closing || performance.now() < retryAt) return Promise.resolve(undefined);
    connecting ??= attempt().then((connection) => {
      connecting = undefined;
      if (!connection) pauseBeforeNext();
      return connection;
    });
    return connecting;
  }

  function pauseBeforeNext(): void {
    retryAt = performance.now() + retryDelay(++failures, { firstMs: backoffMs, maxMs: backoffMaxMs, jitter: 0.2 });
  }

  function test(connection: Connection): void {
    const now = performance.now();
    if (now - pingedAt < GATEWAY_LIMITS.grpcPingPauseMs || !all.has(connection)) return;
    pingedAt = now;
    connection.ping(pingMs);
  }

  async function closeAll(): Promise<void> {
    current = undefined;
    await Promise.all([...all].map((connection) => connection.close()));
  }

  function state(): ChannelHealth['state'] {
    if (closing) return 'closed';
    if (current) return 'ready';
    if (connecting) return 'connecting';
    return failures ? 'failing' : 'idle';
  }

  return {
    current: () => current,
    connect,
    test,
    health: () => ({ state: state(), ...(trouble !== undefined && { trouble }) }),
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** Bytes per socket read. */
const READ_BYTES = 65_536;

/** Opens a plain or TLS socket. A node that accepts TLS but not HTTP/2 is a socket error. */
function dial({ upstream, tls = false }: ChannelOptions, handler: SocketHandler): Socket {
  const target = {
    host: upstream.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''),
    port: Number(/\d+$/.exec(upstream)),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: GATEWAY_LIMITS.grpcPingPauseMs,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (length: number, bytes: Uint8Array) => {
        handler.onBytes(bytes as Buffer, length);
        return true;
      },
    },
  };
  if (!tls) {
    const socket = connectPlain(target);
    return socket.once('connect', handler.onConnect);
  }
  const socket = connectTls({
    ...target,
    ALPNProtocols: ['h2'],
    ...(tls !== true && { ca: tls.ca }),
    // No SNI for an IP address: the certificate is checked against the address itself.
    servername: isIP(target.host) ? '' : target.host,
  });
  return socket.once('secureConnect', () => {
    if (socket.alpnProtocol === 'h2') handler.onConnect();
    else socket.destroy(new Error('the node did not agree to HTTP/2 (ALPN)'));
  });
}
