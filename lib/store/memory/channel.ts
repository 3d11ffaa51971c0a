// A channel within this process: for a single instance, with any stores.

import { closedError } from '../../given.ts';
import { type Channel, checkMessage, checkTopic, type Subscriber } from '../channel.ts';

/**
 * A channel without subscribers. Messages are delivered in a later event-loop turn than `publish`.
 * @example
 * import { EventEmitter, once } from 'node:events';
 *
 * const channel = memoryChannel();
 * const bus = new EventEmitter();
 * const heard = once(bus, 'tea');
 * await channel.subscribe('tea', { onMessage: (message) => bus.emit('tea', message) });
 * await channel.publish('tea', 'ready');
 * await heard; // → ['ready']
 * await channel.close();
 */
export function memoryChannel(): Channel {
  const topics = new Map<string, Set<Subscriber>>();
  let isClosed = false;

  function check(): void {
    if (isClosed) throw closedError('memory channel');
  }

  function deliver(topic: string, message: string): void {
    for (const subscriber of [...(topics.get(topic) ?? [])])
      if (topics.get(topic)?.has(subscriber)) subscriber.onMessage(message);
  }

  return {
    name: 'memory',
    async publish(topic, message) {
      check();
      checkTopic(topic);
      checkMessage(message);
      if (topics.has(topic)) setImmediate(deliver, topic, message);
    },
    async subscribe(topic, subscriber) {
      check();
      checkTopic(topic);
      // A copy, because the same object may be subscribed twice.
      const own = { ...subscriber };
      const subscribers = topics.get(topic) ?? new Set();
      topics.set(topic, subscribers.add(own));
      return () => {
        subscribers.delete(own);
        if (subscribers.size === 0 && topics.get(topic) === subscribers) topics.delete(topic);
      };
    },
    async ping() {
      check();
    },
    async close() {
      isClosed = true;
      topics.clear();
    },
  };
}
