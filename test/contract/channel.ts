// What every Channel promises; run it with a function that opens it.

import { once } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { STORE_LIMITS } from '../../lib/store/limits.ts';
import { refuses } from '../../lib/testing/sessions/bench.ts';
import { suite } from '../support/suites.ts';

/** A new channel for one promise. */
export interface ChannelBench {
  readonly channel: Channel;
  /** Another instance on the same channel; the same one when it lives within the process. */
  again(): Promise<Channel>;
}

/** Opens the channel under test; the same `name` means the same channel. */
export type OpenChannel = (name: string) => Channel | Promise<Channel>;

const TOPICS = [
  'a',
  'A',
  ' ',
  '\0',
  '}',
  '{}',
  '{a}',
  'a}b{c',
  '*',
  '?[^\\',
  '😀',
  '\uffff',
  't'.repeat(STORE_LIMITS.topicChars),
];
const MESSAGES = ['', '\0', 'é😀\u2028', '{"a":1}', '\uffff', 'x'.repeat(COMMON_LIMITS.channelMessageBytes)];

/** Sentence → what shows that it is kept. */
const PROMISES: { readonly [sentence: string]: (bench: ChannelBench) => Promise<void> } = {
  'messages arrive as they were, in order, on every instance that has subscribed': async ({ channel, again }) => {
    const other = await again();
    const [mine, theirs] = [await listen(channel, 't'), await listen(other, 't')];
    for (const message of MESSAGES) await channel.publish('t', message);
    await Promise.all([mine.count(MESSAGES.length), theirs.count(MESSAGES.length)]);
    assert.equal([mine.heard, theirs.heard], [MESSAGES, MESSAGES]);
  },

  'messages that are published without waiting keep their order': async ({ channel, again }) => {
    const heard = await listen(await again(), 't');
    const messages = Array.from({ length: 500 }, (_, at) => `m${at}`);
    await Promise.all(messages.map((message) => channel.publish('t', message)));
    await heard.count(500);
    assert.equal(heard.heard, messages);
  },

  'topics of any text never mix': async ({ channel }) => {
    const all = await Promise.all(TOPICS.map((topic) => listen(channel, topic)));
    for (const topic of TOPICS) await channel.publish(topic, topic);
    await Promise.all(all.map((one) => one.count(1)));
    await flushed(channel);
    assert.equal(
      all.map(({ heard }) => heard),
      TOPICS.map((topic) => [topic]),
    );
  },

  'after unsubscribing nothing is told, and others go on': async ({ channel }) => {
    const [first, second] = [await listen(channel, 't'), await listen(channel, 't')];
    await channel.publish('t', 'both');
    await Promise.all([first.count(1), second.count(1)]);
    first.unsubscribe();
    first.unsubscribe();
    await channel.publish('t', 'one');
    await second.count(2);
    await flushed(channel);
    assert.equal([first.heard, second.heard], [['both'], ['both', 'one']]);
  },

  'a listener may unsubscribe, and subscribe, while it is told': async ({ channel }) => {
    const heard: string[] = [];
    const inner = deferred();
    const unsubscribe = await channel.subscribe('t', {
      onMessage: (message) => {
        heard.push(`outer ${message}`);
        unsubscribe();
        void channel
          .subscribe('t', { onMessage: (text) => void heard.push(`inner ${text}`) })
          .then(() => inner.resolve());
      },
    });
    await channel.publish('t', '1');
    await inner.promise;
    await channel.publish('t', '2');
    await flushed(channel);
    assert.equal(heard, ['outer 1', 'inner 2']);
  },

  'what is malformed is refused with ERR_INPUT': async ({ channel }) => {
    for (const topic of ['', 't'.repeat(STORE_LIMITS.topicChars + 1), 'a\ud800']) {
      await refuses('ERR_INPUT', () => channel.publish(topic, 'm'));
      await refuses('ERR_INPUT', () => channel.subscribe(topic, { onMessage() {} }));
    }
    for (const message of [
      'x'.repeat(COMMON_LIMITS.channelMessageBytes + 1),
      'é'.repeat(COMMON_LIMITS.channelMessageBytes / 2 + 1),
      '\udc00',
    ])
      await refuses('ERR_INPUT', () => channel.publish('t', message));
  },

  'close ends subscriptions, and refuses what comes after': async ({ channel, again }) => {
    const heard = await listen(channel, 't');
    await channel.ping();
    await channel.close();
    await channel.close();
    await refuses('ERR_STORE', () => channel.publish('t', 'm'));
    await refuses('ERR_STORE', () => channel.subscribe('t', { onMessage() {} }));
    await refuses('ERR_STORE', () => channel.ping());
    const other = await again();
    if (other !== channel) await other.publish('t', 'late');
    assert.equal(heard.heard, []);
  },
};

/** Runs the suite. */
export function channelContract(name: string, open: OpenChannel): void {
  const test = suite(`channel ${name}`);
  for (const [at, [sentence, keep]] of Object.entries(PROMISES).entries())
    test(sentence, async () => {
      const opened: Channel[] = [];
      const again = async () => {
        if (opened[0]?.name === 'memory') return opened[0];
        opened.push(await open(`${name.replace(/\W/g, '')}${at}:`));
        return opened.at(-1)!;
      };
      try {
        await keep({ channel: await again(), again });
      } finally {
        for (const channel of opened) await channel.close();
      }
    });
  test.run();
}

/** What one subscription has heard so far. */
export async function listen(channel: Channel, topic: string) {
  const heard: string[] = [];
  const told = new EventTarget();
  let gaps = 0;
  const unsubscribe = await channel.subscribe(topic, {
    onMessage(message) {
      heard.push(message);
      told.dispatchEvent(new Event('told'));
    },
    onGap() {
      gaps++;
      told.dispatchEvent(new Event('told'));
    },
  });
  return {
    heard,
    unsubscribe,
    gaps: () => gaps,
    /** Resolves when so many messages, and gaps, have come. */
    async count(messages: number, least = 0): Promise<void> {
      while (heard.length < messages || gaps < least) await once(told, 'told');
    },
  };
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

// What was published before has arrived when this has.
async function flushed(channel: Channel): Promise<void> {
  const probe = await listen(channel, 'flush');
  await channel.publish('flush', '');
  await probe.count(1);
  probe.unsubscribe();
  await nextTick();
}
