// The socket of a connection: plain, or TLS with a node that agrees to speak HTTP/2.

import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { LIMITS } from '../../limits.ts';
import type { ChannelOptions } from '../channel/channel.ts';

/** Bytes that are read at once. */
const READ_BYTES = 65_536;

export interface Hearing {
  /** The node can be spoken to. */
  stands(): void;
  /** The first `length` bytes are new; they are good until this returns. */
  heard(bytes: Buffer, length: number): void;
}

/** Dials the node. A node that takes TLS but not HTTP/2 is an error of the socket. */
export function dial(options: ChannelOptions, hearing: Hearing): Socket {
  const { upstream, tls = false } = options;
  const place = {
    host: upstream.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''),
    port: Number(/\d+$/.exec(upstream)),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: LIMITS.grpcPingPauseMs,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (length: number, bytes: Uint8Array) => {
        hearing.heard(bytes as Buffer, length);
        return true;
      },
    },
  };
  if (!tls) {
    const socket = connectPlain(place);
    return socket.once('connect', hearing.stands);
  }
  const socket = connectTls({
    ...place,
    ALPNProtocols: ['h2'],
    ...(tls !== true && { ca: tls.ca }),
    // No name in the greeting of TLS for an address: the certificate is held against the address itself.
    servername: isIP(place.host) ? '' : place.host,
  });
  return socket.once('secureConnect', () => {
    if (socket.alpnProtocol === 'h2') hearing.stands();
    else socket.destroy(new Error('the node did not agree to HTTP/2 (ALPN)'));
  });
}
