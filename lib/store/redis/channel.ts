// A channel over Redis pub/sub: between all instances that reach it; sharded by topic when it is a Cluster.

import type { Channel } from '../channel.ts';
import { checkMessage, checkTopic } from '../channel-rules.ts';
import { closedError } from '../input.ts';
import { connectionOf, type RedisAt } from './connection.ts';
import { channelName, checkPrefix } from './names.ts';
import { redisSubscriber } from './subscriber.ts';

export type RedisChannelOptions = RedisAt & {
  /** What every channel in Redis begins with: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
};

/**
 * Opens the channel; returns at once and connects in the background: one connection to publish, one more for all
 * subscriptions (in a Cluster one per master). A subscription whose connection broke is made again, on whichever node
 * owns the topic by then, and its `onGap` is called. Throws ERR_CONFIG for a bad URL or prefix.
 */
export function redisChannel(options: RedisChannelOptions): Channel {
  const { prefix = 'twinline:' } = options;
  checkPrefix(prefix);
  const connection = connectionOf(options);
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
