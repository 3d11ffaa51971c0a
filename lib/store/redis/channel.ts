// A channel over Redis pub/sub, shared by all instances; in a Cluster it uses sharded pub/sub. Lost subscriptions are
// re-established, in a Cluster on the node that owns the channel by then.

import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { closedError, requireGiven } from '../../given.ts';
import { type Channel, checkMessage, checkTopic, type Subscriber, type Unsubscribe } from '../channel.ts';
import { backoff } from './client.ts';
import { type RedisAt, type RedisConnection, shareConnection } from './connection.ts';
import { channelName, checkPrefix, REDIS_PREFIX } from './layout.ts';

/** Options of `redisChannel`. */
export type RedisChannelOptions = RedisAt & {
  /** Prefix of all channel names: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
};

/**
 * Opens the channel; returns immediately and connects in the background, with one connection to publish and one for all
 * subscriptions (in a Cluster, one per master). After a lost connection, subscriptions are re-established on the node that
 * owns the topic by then, and `onGap` is called. Throws ERR_CONFIG for an invalid URL or prefix.
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
  let isClosed = false;

  function check(): void {
    if (isClosed) throw closedError('Redis channel');
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
      if (isClosed) return;
      isClosed = true;
      subscriber.close();
      await connection.close();
    },
  };
}

export interface RedisSubscriber {
  /** Resolves once the subscription is active; rejects with the error of Redis or the client. */
  subscribe(channel: string, subscriber: Subscriber): Promise<Unsubscribe>;
  close(): void;
}

/** A subscriber connection, used until it breaks and then replaced. */
interface Link {
  readonly client: Redis;
  readonly open: Promise<void>;
  readonly channels: Set<string>;
  /** Channels with a pending UNSUBSCRIBE: messages that still arrive were meant for previous subscribers. */
  readonly leaving: Map<string, Promise<void>>;
  /** How often the node reported MOVED, and how often that was the reply to our own command. */
  moved: number;
  redirected: number;
}

interface TopicState {
  readonly subscribers: Set<Subscriber>;
  link: Link | undefined;
  placing: Promise<void> | undefined;
}

const REDIRECTS_MAX = 5;
/** Interval of heartbeats: a broken connection gives no sign by itself. */
const HEARTBEAT_MS = 5_000;
/** A link never reconnects: by then, its channels may belong to another node. */
const LINK: RedisOptions = {
  lazyConnect: true,
  retryStrategy: () => null,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
};

/** Connects on the first subscription, with the settings of `connection`: one link, or one per master of a cluster. */
export function redisSubscriber({ client, kind }: Pick<RedisConnection, 'client' | 'kind'>): RedisSubscriber {
  const isCluster = kind === 'cluster';
  const channels = new Map<string, TopicState>();
  const links = new Map<string, Link>();
  const homeless = new Set<string>();
  let rescue: NodeJS.Timeout | undefined;
  let attempts = 0;
  let heartbeat: NodeJS.Timeout | undefined;
  let isClosed = false;

  function linkTo(address: string): Link {
    if (isClosed) throw new Error('Connection is closed.');
    const existing = links.get(address);
    if (existing) return existing;
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

  // Any cluster node redirects to the owner of a channel.
  async function place(channel: string, topic: TopicState): Promise<void> {
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
    if (isClosed || link.client.status === 'end') throw new Error('Connection is closed.');
    const current = channels.get(channel);
    if (!current) leaveOut(link, channel);
    if (current !== topic) return;
    topic.link = link;
    link.channels.add(channel);
  }

  function placeOnce(channel: string, topic: TopicState): Promise<void> {
    topic.placing ??= place(channel, topic).finally(() => {
      topic.placing = undefined;
    });
    return topic.placing;
  }

  function lose(link: Link, channel: string): void {
    link.channels.delete(channel);
    const topic = channels.get(channel);
    if (topic?.link !== link) return;
    topic.link = undefined;
    homeless.add(channel);
    rescueLater();
  }

  function rescueLater(): void {
    if (isClosed || rescue || homeless.size === 0) return;
    rescue = setTimeout(rescueAll, backoff(++attempts));
  }

  async function rescueAll(): Promise<void> {
    const orphans = [...homeless];
    await Promise.all(orphans.map(rescueOne));
    rescue = undefined;
    if (homeless.size < orphans.length) attempts = 0;
    rescueLater();
  }

  async function rescueOne(channel: string): Promise<void> {
    const topic = channels.get(channel);
    try {
      if (topic && !topic.link) await placeOnce(channel, topic);
      homeless.delete(channel);
    } catch {
      return;
    }
    for (const subscriber of [...(topic?.subscribers ?? [])]) subscriber.onGap?.();
  }

  // When slots move, a node drops their channels without naming them: resubscribe all of them.
  function recheck(link: Link): void {
    if (link.moved <= link.redirected) return;
    link.moved = link.redirected = 0;
    for (const channel of [...link.channels]) lose(link, channel);
  }

  function deliver(link: Link, channel: string, message: string): void {
    const topic = channels.get(channel);
    if (topic?.link !== link && (topic?.link !== undefined || link.leaving.has(channel))) return;
    for (const subscriber of [...(topic?.subscribers ?? [])])
      if (topic!.subscribers.has(subscriber))
        try {
          subscriber.onMessage(message);
        } catch {
          // Anyone with access to Redis can publish: treat a malformed message as a lost one.
          subscriber.onGap?.();
        }
  }

  function leaveOut({ client, leaving }: Link, channel: string): void {
    const unsubscribed = (isCluster ? client.sunsubscribe(channel) : client.unsubscribe(channel)).then(
      () => {},
      () => {},
    );
    leaving.set(channel, unsubscribed);
    void unsubscribed.then(() => {
      if (leaving.get(channel) === unsubscribed) leaving.delete(channel);
    });
  }

  function beat(): void {
    // The socket timeout disconnects a node that does not answer.
    for (const { client } of links.values()) client.ping().catch(() => {});
  }

  return {
    async subscribe(channel, subscriber) {
      const topic = channels.get(channel) ?? { subscribers: new Set(), link: undefined, placing: undefined };
      channels.set(channel, topic);
      // A copy, because the same object may be subscribed twice.
      const own = { ...subscriber };
      topic.subscribers.add(own);
      const unsubscribe = () => {
        if (!topic.subscribers.delete(own) || topic.subscribers.size > 0 || channels.get(channel) !== topic) return;
        channels.delete(channel);
        homeless.delete(channel);
        topic.link?.channels.delete(channel);
        if (topic.link) leaveOut(topic.link, channel);
      };
      try {
        if (!topic.link) await placeOnce(channel, topic);
      } catch (error) {
        unsubscribe();
        throw error;
      }
      return unsubscribe;
    },
    close() {
      isClosed = true;
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
