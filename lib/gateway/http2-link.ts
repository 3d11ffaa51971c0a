// One HTTP/2 connection to the node that comes back: connects when needed, pauses after failures, finds dead ones by a ping.

import { type ClientHttp2Session, connect } from 'node:http2';
import { isIP, type Socket } from 'node:net';
import { LIMITS } from '../limits.ts';
import type { ChannelHealth, ChannelOptions } from './channel.ts';

export interface Link {
  /** The connection that stands, or undefined: then ask {@link open}. */
  current(): ClientHttp2Session | undefined;
  /** Waits for a connection; undefined when the attempt failed, or at once in the pause after one that did. */
  open(): Promise<ClientHttp2Session | undefined>;
  /** A call on this connection got no answer in time: unless it answers a ping, it is cut. */
  suspect(session: ClientHttp2Session): void;
  health(): ChannelHealth;
  /** Lets calls end for a while, then cuts them. */
  close(): Promise<void>;
}

export function http2Link(options: ChannelOptions): Link {
  const { connectMs = LIMITS.grpcConnectMs, pingMs = LIMITS.grpcPingMs } = options;
  const { backoffMs = LIMITS.grpcBackoffMs, backoffMaxMs = LIMITS.grpcBackoffMaxMs } = options;
  let session: ClientHttp2Session | undefined;
  let opening: Promise<ClientHttp2Session | undefined> | undefined;
  let trouble: string | undefined;
  let failures = 0;
  let retryAt = 0;
  let pingedAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;
  const all = new Set<ClientHttp2Session>();

  // Ready is what has sent its settings: a server that speaks no HTTP/2 never does.
  function attempt(): Promise<ClientHttp2Session | undefined> {
    const made = connectTo(options);
    all.add(made);
    return new Promise((resolve) => {
      const timer = setTimeout(() => made.destroy(new Error(`no HTTP/2 settings within ${connectMs} ms`)), connectMs);
      made.once('remoteSettings', () => {
        clearTimeout(timer);
        failures = 0;
        trouble = undefined;
        session = made;
        resolve(made);
      });
      made.on('goaway', (code) => lose(made, code ? `GOAWAY with code ${code}` : undefined));
      made.on('error', (error) => lose(made, error.message));
      made.once('close', () => {
        clearTimeout(timer);
        all.delete(made);
        lose(made, undefined);
        resolve(undefined);
      });
    });
  }

  function lose(lost: ClientHttp2Session, why: string | undefined): void {
    trouble = why ?? trouble;
    if (session === lost) session = undefined;
  }

  function open(): Promise<ClientHttp2Session | undefined> {
    if (session) return Promise.resolve(session);
    if (closing || performance.now() < retryAt) return Promise.resolve(undefined);
    opening ??= attempt().then((made) => {
      opening = undefined;
      if (!made) pauseBeforeNext();
      return made;
    });
    return opening;
  }

  function pauseBeforeNext(): void {
    const pause = Math.min(backoffMs * 2 ** failures, backoffMaxMs);
    failures++;
    retryAt = performance.now() + pause * (1 - Math.random() / 5);
  }

  function suspect(suspected: ClientHttp2Session): void {
    const now = performance.now();
    if (suspected.destroyed || now - pingedAt < LIMITS.grpcPingPauseMs) return;
    pingedAt = now;
    const timer = setTimeout(() => {
      lose(suspected, `no answer to a ping within ${pingMs} ms`);
      suspected.destroy();
    }, pingMs);
    suspected.once('close', () => clearTimeout(timer));
    suspected.ping(() => clearTimeout(timer));
  }

  async function closeAll(): Promise<void> {
    session = undefined;
    await Promise.all([...all].map(closeSession));
  }

  return {
    current: () => session,
    open,
    suspect,
    health: () => ({ state: state(), ...(trouble !== undefined && { trouble }) }),
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };

  function state(): ChannelHealth['state'] {
    if (closing) return 'closed';
    if (session) return 'ready';
    if (opening) return 'connecting';
    return failures ? 'failing' : 'idle';
  }
}

function connectTo({ upstream, tls = false }: ChannelOptions): ClientHttp2Session {
  const host = upstream.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  const session = connect(`${tls ? 'https' : 'http'}://${upstream}`, {
    settings: {
      enablePush: false,
      initialWindowSize: LIMITS.grpcWindowBytes,
      maxHeaderListSize: LIMITS.grpcMetadataBytes,
    },
    ...(typeof tls === 'object' && { ca: tls.ca }),
    // No name in the greeting of TLS for an address: the certificate is held against the address itself.
    ...(isIP(host) && { servername: '' }),
  });
  session.once('connect', (_session, socket: Socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, LIMITS.grpcPingPauseMs);
    session.setLocalWindowSize(LIMITS.grpcConnectionWindowBytes);
  });
  return session;
}

function closeSession(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => session.destroy(), session.connecting ? 0 : LIMITS.grpcCloseMs);
    session.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    if (!session.closed) session.close();
  });
}
