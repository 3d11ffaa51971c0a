// The connection of a channel that comes back: connects when needed, pauses after failures, finds dead ones by a ping.

import { LIMITS } from '../../limits.ts';
import { retryDelay } from '../../retry.ts';
import type { ChannelHealth, ChannelOptions } from '../channel/channel.ts';
import { Connection } from './connection.ts';
import { dial } from './dial.ts';
import { Heads } from './headers/head.ts';
import { RequestHeads } from './headers/request-head.ts';

export interface Link {
  /** The connection that stands, or undefined: then ask {@link open}. */
  current(): Connection | undefined;
  /** Waits for a connection; undefined when the attempt failed, or at once in the pause after one that did. */
  open(): Promise<Connection | undefined>;
  /** A call on this connection got no answer in time: unless it answers a ping, it is cut. */
  suspect(connection: Connection): void;
  health(): ChannelHealth;
  /** Lets calls end for a while, then cuts them. */
  close(): Promise<void>;
}

export function http2Link(options: ChannelOptions): Link {
  const { upstream, tls = false, connectMs = LIMITS.grpcConnectMs, pingMs = LIMITS.grpcPingMs } = options;
  const { backoffMs = LIMITS.grpcBackoffMs, backoffMaxMs = LIMITS.grpcBackoffMaxMs } = options;
  const shared = { heads: new Heads(), requestHeads: new RequestHeads(upstream, tls ? 'https' : 'http') };
  let standing: Connection | undefined;
  let opening: Promise<Connection | undefined> | undefined;
  let trouble: string | undefined;
  let failures = 0;
  let retryAt = 0;
  let pingedAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;
  const all = new Set<Connection>();

  // Ready is what has sent its settings: a server that speaks no HTTP/2 never does.
  function attempt(): Promise<Connection | undefined> {
    return new Promise((resolve) => {
      const made: Connection = new Connection({
        ...shared,
        dial: (hear) => dial(options, hear),
        user: {
          ready: () => {
            clearTimeout(timer);
            failures = 0;
            trouble = undefined;
            standing = made;
            resolve(made);
          },
          leaving: (why) => lose(made, why),
          closed: () => {
            clearTimeout(timer);
            all.delete(made);
            lose(made, undefined);
            resolve(undefined);
          },
        },
      });
      const timer = setTimeout(() => made.cut(`no HTTP/2 settings within ${connectMs} ms`), connectMs);
      all.add(made);
    });
  }

  function lose(lost: Connection, why: string | undefined): void {
    trouble = why ?? trouble;
    if (standing === lost) standing = undefined;
  }

  function open(): Promise<Connection | undefined> {
    if (standing) return Promise.resolve(standing);
    if (closing || performance.now() < retryAt) return Promise.resolve(undefined);
    opening ??= attempt().then((made) => {
      opening = undefined;
      if (!made) pauseBeforeNext();
      return made;
    });
    return opening;
  }

  function pauseBeforeNext(): void {
    retryAt = performance.now() + retryDelay(++failures, { firstMs: backoffMs, maxMs: backoffMaxMs, jitter: 0.2 });
  }

  function suspect(suspected: Connection): void {
    const now = performance.now();
    if (now - pingedAt < LIMITS.grpcPingPauseMs || !all.has(suspected)) return;
    pingedAt = now;
    suspected.probe(pingMs);
  }

  return {
    current: () => standing,
    open,
    suspect,
    health: () => ({ state: state(), ...(trouble !== undefined && { trouble }) }),
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };

  async function closeAll(): Promise<void> {
    standing = undefined;
    await Promise.all([...all].map((connection) => connection.close()));
  }

  function state(): ChannelHealth['state'] {
    if (closing) return 'closed';
    if (standing) return 'ready';
    if (opening) return 'connecting';
    return failures ? 'failing' : 'idle';
  }
}
