// What every LogStore promises about following: nothing missed, nothing twice, nothing held back or piled up.

import { setTimeout as pause } from 'node:timers/promises';
import type { LogStore } from '../../store/log-store.ts';
import * as assert from '../assert.ts';
import { behind, claim, filled, followAll, type LogPromises, MINUTE, numbered, refuses } from './bench.ts';

const FOLLOWERS = 200;
const FRAMES = 2_000;

/** Sentence → what shows that it is kept. */
export const LOG_FOLLOWERS: LogPromises = {
  'a follower sees what is there, then what comes, and ends with the log': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a', 'b'] });
    const all = followAll(store, 'l');
    const late = followAll(store, 'l', { after: 1 });
    const waiting = followAll(store, 'l', { after: 2, limit: 1 });
    for (let last = 2; last < 10; last++) await store.append('l', [`f${last + 1}`], behind(last, clock));
    await store.append('l', ['x', 'y'], behind(10, clock, { end: true }));
    const frames = numbered(['a', 'b', ...Array.from({ length: 8 }, (_, at) => `f${at + 3}`), 'x', 'y']);
    assert.equal([await all, await late, await waiting], [frames, frames.slice(1), frames.slice(2)]);
    assert.equal(await followAll(store, 'l', { after: 12 }), []);
    assert.equal(await followAll(store, 'l', { after: 99 }), []);
  },

  'an end without frames ends those who wait': async ({ store, clock, again }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    const waiting = followAll(store, 'l');
    const elsewhere = followAll(await again(), 'l');
    await store.append('l', [], behind(1, clock, { end: true }));
    assert.equal([await waiting, await elsewhere], [numbered(['a']), numbered(['a'])]);
  },

  [`each of ${FOLLOWERS} followers sees each of ${FRAMES} frames once, in order`]: async ({ store, clock, again }) => {
    await store.open('l', claim(clock));
    const other = await again();
    const seen = Array.from({ length: FOLLOWERS }, (_, at) => count(at % 2 ? other : store, at % 7));
    for (let last = 0; last < FRAMES; ) {
      const texts = Array.from({ length: 1 + (last % 9) }, (_, at) => `frame ${last + at + 1}`).slice(0, FRAMES - last);
      await store.append('l', texts, behind(last, clock, { end: last + texts.length === FRAMES }));
      last += texts.length;
    }
    for (const [at, frames] of (await Promise.all(seen)).entries()) assert.is(frames, FRAMES - (at % 7));
  },

  'the signal ends a follower at once: before, between and while it waits': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a', 'b', 'c'] });
    assert.equal(await followAll(store, 'l', { signal: AbortSignal.abort() }), []);
    const between = new AbortController();
    let seen = 0;
    for await (const frames of store.follow('l', { limit: 1, signal: between.signal })) {
      seen += frames.length;
      between.abort();
    }
    assert.is(seen, 1);
    const waiting = new AbortController();
    const waited = followAll(store, 'l', { signal: waiting.signal });
    await pause(20);
    waiting.abort();
    assert.equal(await waited, numbered(['a', 'b', 'c']));
  },

  'a log that is not there cannot be followed, and one that goes away ends its followers': async ({ store, clock }) => {
    await refuses('ERR_NOT_FOUND', () => followAll(store, 'no'));
    await filled(store, 'removed', { clock, texts: ['a'] });
    const removed = refuses('ERR_NOT_FOUND', () => followAll(store, 'removed'));
    await pause(20);
    await store.remove('removed');
    await removed;
    await filled(store, 'expired', { clock, texts: ['a'] });
    const expired = refuses('ERR_NOT_FOUND', () => followAll(store, 'expired'));
    await pause(20);
    await clock.advance(MINUTE);
    await expired;
  },

  'a follower behind a trim goes on with the first frame that is left': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a', 'b', 'c', 'd'] });
    const numbers: number[] = [];
    for await (const frames of store.follow('l', { limit: 1 })) {
      numbers.push(...frames.map(({ n }) => n));
      if (numbers.length === 1) await store.trim('l', 2);
      if (numbers.length === 3) await store.append('l', [], behind(4, clock, { end: true }));
    }
    assert.equal(numbers, [1, 3, 4]);
  },

  'close ends followers with ERR_STORE': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    const waiting = refuses('ERR_STORE', () => followAll(store, 'l'));
    await pause(20);
    await store.close();
    await waiting;
  },
};

// How many frames a follower sees, each the next of its log.
async function count(store: LogStore, after: number): Promise<number> {
  let n = after;
  for await (const frames of store.follow('l', { after }))
    for (const frame of frames)
      if (frame.n !== ++n || frame.text !== `frame ${n}`) assert.unreachable(`frame ${frame.n} came as number ${n}`);
  return n - after;
}
