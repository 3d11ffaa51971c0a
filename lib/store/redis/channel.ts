// A channel over Redis pub/sub: between all instances that reach it; sharded by topic when it is a Cluster. Subscriptions
// are always there again: on one node, or on the node of a cluster that owns each channel.

import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { closedError, requireGiven } from '../../given.ts';
import { type Channel, checkMessage, checkTopic, type Subscriber, type Unsubscribe } from '../channel.ts';
import { backoff } from './client.ts';
import { type RedisAt, type RedisConnection, shareConnection } from './connection.ts';
import { channelName, checkPrefix, REDIS_PREFIX } from './layout.ts';

/** Options of `redisChannel`. */
export type RedisChannelOptions = RedisAt & {
  /** What every channel in Redis begins with: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
};

/**
 * Opens the channel; returns at once and connects in the background: one connection to publish, one more for all
 * subscriptions (in a Cluster one per master). A subscription whose connection broke is made again, on whichever node
 * owns the topic by then, and its `onGap` is called. Throws ERR_CONFIG for a bad URL or prefix.
 * @example
 * import { EventEmitter, once } from 'node:events';
 *
 * const channel = redisChannel({ url: process.env.REDIS_URL! });
 * const bus = new EventEmitter();
 * const heard = once(bus, 'tea');
 * await channel.subscribe('tea', { onMessage: (message) => bus.emit('tea', message) });
 * await channel.publish('tea', 'ready');
 * await heard; // → ['ready']
 * await channel.close();
 */
export function redisChannel(options: RedisChannelOptions): Channel {
  requireGiven('open a channel in Redis', options, {});
  const { prefix = REDIS_PREFIX } = options;
  checkPrefix(prefix);
  const connection = shareConnection(options);
  const subscriber = redisSubscriber(connection);
  const isCluster = connection.kind === 'cluster';
  let closed = false;

  function check(): void {
    if (closed) throw closedError('Redis channel');
  }

  return {
    name: 'redis',
    async publish(topic, message) {
      check();
      checkTopic(topic);
      checkMessage(message);
      const name = channelName(prefix, topic);
      await connection.run('publish', (client) =>
        isCluster ? client.spublish(name, message) : client.publish(name, message),
      );
    },
    async subscribe(topic, listener) {
      check();
      checkTopic(topic);
      return connection.run('subscribe', () => subscriber.subscribe(channelName(prefix, topic), listener));
    },
    async ping() {
      check();
      await connection.ping();
    },
    async close() {
      if (closed) return;
      closed = true;
      subscriber.close();
      await connection.close();
    },
  };
}

export interface RedisSubscriber {
  /** Resolves when the subscription works; rejects with what Redis or the client said. */
  subscribe(channel: string, subscriber: Subscriber): Promise<Unsubscribe>;
  close(): void;
}

/** A connection that subscribes. It is used until it breaks, then another takes its place. */
interface Link {
  readonly client: Redis;
  readonly open: Promise<void>;
  readonly channels: Set<string>;
  /** Channels whose UNSUBSCRIBE is not answered yet: what still comes was published for those who have left. */
  readonly leaving: Map<string, Promise<void>>;
  /** How often the node said that a channel moved, and how often that answered a call of ours. */
  moved: number;
  redirected: number;
}

interface HeldTopic {
  readonly subscribers: Set<Subscriber>;
  link: Link | undefined;
  placing: Promise<void> | undefined;
}

const REDIRECTS_MAX = 5;
/** Milliseconds between two questions whether the node is still there: a broken line says nothing by itself. */
const HEARTBEAT_MS = 5_000;
/** A link never connects again by itself: its channels may belong to another node by then. */
const LINK: RedisOptions = {
  lazyConnect: true,
  retryStrategy: () => null,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
};

/** Connects when something is subscribed, with the settings of `connection`: one link, or one per master of a cluster. */
export function redisSubscriber({ client, kind }: Pick<RedisConnection, 'client' | 'kind'>): RedisSubscriber {
  const isCluster = kind === 'cluster';
  const channels = new Map<string, HeldTopic>();
  const links = new Map<string, Link>();
  const homeless = new Set<string>();
  let rescue: NodeJS.Timeout | undefined;
  let attempts = 0;
  let heartbeat: NodeJS.Timeout | undefined;
  let closed = false;

  function linkTo(address: string): Link {
    if (closed) throw new Error('Connection is closed.');
    const known = links.get(address);
    if (known) return known;
    const own = duplicateFor(client, address);
    const link: Link = {
      client: own,
      open: own.connect(),
      channels: new Set(),
      leaving: new Map(),
      moved: 0,
      redirected: 0,
    };
    links.set(address, link);
    link.open.catch(() => {});
    own.on('error', () => {});
    own.on(isCluster ? 'smessage' : 'message', (channel: string, message: string) => deliver(link, channel, message));
    own.on('moved', () => {
      link.moved++;
      setImmediate(recheck, link);
    });
    own.once('end', () => {
      if (links.get(address) === link) links.delete(address);
      for (const channel of link.channels) lose(link, channel);
    });
    heartbeat ??= setInterval(beat, HEARTBEAT_MS);
    return link;
  }

  function anyLink(): Link {
    if (!isCluster) return linkTo('');
    const [open] = links.values();
    if (open) return open;
    const masters = (client as Cluster).nodes('master');
    const { host, port } = (masters[Math.floor(Math.random() * masters.length)]?.options ?? {}) as RedisOptions;
    if (host === undefined) throw new Error("Cluster isn't ready");
    return linkTo(`${host}:${port}`);
  }

  // In a cluster every node knows who owns a channel, and says so.
  async function place(channel: string, held: HeldTopic): Promise<void> {
    let link = anyLink();
    for (let hop = 0; ; hop++) {
      await link.open;
      await link.leaving.get(channel);
      try {
        await (isCluster ? link.client.ssubscribe(channel) : link.client.subscribe(channel));
        break;
      } catch (error) {
        const owner = /^MOVED \d+ (\S+)$/.exec((error as Error).message)?.[1];
        if (owner === undefined) throw error;
        link.redirected++;
        if (hop === REDIRECTS_MAX) throw error;
        link = linkTo(owner);
      }
    }
    if (closed || link.client.status === 'end') throw new Error('Connection is closed.');
    const now = channels.get(channel);
    if (!now) leaveOut(link, channel);
    if (now !== held) return;
    held.link = link;
    link.channels.add(channel);
  }

  function placeOnce(channel: string, held: HeldTopic): Promise<void> {
    held.placing ??= place(channel, held).finally(() => {
      held.placing = undefined;
    });
    return held.placing;
  }

  function lose(link: Link, channel: string): void {
    link.channels.delete(channel);
    const held = channels.get(channel);
    if (held?.link !== link) return;
    held.link = undefined;
    homeless.add(channel);
    rescueLater();
  }

  function rescueLater(): void {
    if (closed || rescue || homeless.size === 0) return;
    rescue = setTimeout(rescueAll, backoff(++attempts));
  }

  async function rescueAll(): Promise<void> {
    const lost = [...homeless];
    await Promise.all(lost.map(rescueOne));
    rescue = undefined;
    if (homeless.size < lost.length) attempts = 0;
    rescueLater();
  }

  async function rescueOne(channel: string): Promise<void> {
    const held = channels.get(channel);
    try {
      if (held && !held.link) await placeOnce(channel, held);
      homeless.delete(channel);
    } catch {
      return;
    }
    for (const subscriber of [...(held?.subscribers ?? [])]) subscriber.onGap?.();
  }

  // A node gives channels away when their slots move to another, and does not say which: those that are still here stay.
  function recheck(link: Link): void {
    if (link.moved <= link.redirected) return;
    link.moved = link.redirected = 0;
    for (const channel of [...link.channels]) lose(link, channel);
  }

  function deliver(link: Link, channel: string, message: string): void {
    const held = channels.get(channel);
    if (held?.link !== link && (held?.link !== undefined || link.leaving.has(channel))) return;
    for (const subscriber of [...(held?.subscribers ?? [])])
      if (held!.subscribers.has(subscriber))
        try {
          subscriber.onMessage(message);
        } catch {
          // Anybody who reaches this Redis can publish: what its subscriber cannot read counts as lost.
          subscriber.onGap?.();
        }
  }

  function leaveOut({ client, leaving }: Link, channel: string): void {
    const left = (isCluster ? client.sunsubscribe(channel) : client.unsubscribe(channel)).then(
      () => {},
      () => {},
    );
    leaving.set(channel, left);
    void left.then(() => {
      if (leaving.get(channel) === left) leaving.delete(channel);
    });
  }

  function beat(): void {
    // A node that does not answer is disconnected by the time-out of its socket.
    for (const { client } of links.values()) client.ping().catch(() => {});
  }

  return {
    async subscribe(channel, subscriber) {
      const held: HeldTopic = channels.get(channel) ?? { subscribers: new Set(), link: undefined, placing: undefined };
      channels.set(channel, held);
      // A copy: the same object may be subscribed twice.
      const own = { ...subscriber };
      held.subscribers.add(own);
      const unsubscribe = () => {
        if (!held.subscribers.delete(own) || held.subscribers.size > 0 || channels.get(channel) !== held) return;
        channels.delete(channel);
        homeless.delete(channel);
        held.link?.channels.delete(channel);
        if (held.link) leaveOut(held.link, channel);
      };
      try {
        if (!held.link) await placeOnce(channel, held);
      } catch (error) {
        unsubscribe();
        throw error;
      }
      return unsubscribe;
    },
    close() {
      closed = true;
      clearTimeout(rescue);
      clearInterval(heartbeat);
      channels.clear();
      for (const { client } of links.values()) client.disconnect();
    },
  };
}

function duplicateFor(client: Redis | Cluster, address: string): Redis {
  if (!('nodes' in client)) return client.duplicate(LINK);
  const [template] = client.nodes('master');
  if (!template) throw new Error("Cluster isn't ready");
  const colon = address.lastIndexOf(':');
  const at = { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  return template.duplicate({ ...LINK, ...at, readOnly: false });
}
