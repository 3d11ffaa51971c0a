// What every LogStore promises about reading and about time: pages, trimming, expiry, sweeps, closing.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { STORE_LIMITS } from '../../store/limits.ts';
import * as assert from '../assert.ts';
import { behind, claim, filled, type LogPromises, numbered, readAll, refuses } from './bench.ts';

/** Sentence → what shows that it is kept. */
export const LOG_READS: LogPromises = {
  'a read is bounded by bytes too, and gives one frame at least': async ({ store, clock }) => {
    await store.open('l', claim(clock));
    const large = 'x'.repeat(COMMON_LIMITS.logReadBytes / 4);
    const whole = 'é'.repeat(STORE_LIMITS.frameBytes / 2);
    await store.append('l', ['small', large, large, large], behind(0, clock));
    await store.append('l', [large, whole, 'small'], behind(4, clock));
    const seen: number[][] = [];
    for (let after = 0; after < 7; after = seen.at(-1)!.at(-1)!)
      seen.push((await store.read('l', { after }))!.frames.map(({ n }) => n));
    assert.equal(seen, [[1, 2, 3, 4], [5], [6], [7]]);
  },

  'another store on the same data sees every append at once': async ({ store, clock, again }) => {
    const other = await again();
    await store.open('l', claim(clock));
    for (let last = 0; last < 60; last += 2) {
      assert.is((await other.read('l', { after: last }))?.frames.length, 0);
      assert.is((await store.append('l', ['a'], behind(last, clock))).kind, 'appended');
      assert.is((await other.read('l', { after: last }))?.frames.length, 1);
      assert.is((await other.append('l', ['b'], behind(last + 1, clock))).kind, 'appended');
      assert.is((await store.state('l'))?.last, last + 2);
    }
  },

  'trimmed frames are gone, and numbers go on': async ({ store, clock }) => {
    const texts = Array.from({ length: 1_300 }, (_, at) => `f${at + 1}`);
    await store.open('l', claim(clock));
    await store.append('l', texts.slice(0, 900), behind(0, clock));
    await store.append('l', texts.slice(900), behind(900, clock));
    assert.is(await store.trim('l', 0), 0);
    assert.is(await store.trim('l', 3), 3);
    assert.is(await store.trim('l', 2), 0);
    assert.equal((await store.read('l', { limit: 2 }))?.frames, numbered(['f4', 'f5'], 4));
    assert.is(await store.trim('l', 1_298), 1_295);
    assert.equal(await readAll(store, 'l'), numbered(['f1299', 'f1300'], 1_299));
    assert.is((await store.state('l'))?.first, 1_299);
    // What was trimmed cannot be compared any more.
    assert.equal(await store.append('l', ['f1298', 'f1299'], behind(1_297, clock)), { kind: 'conflict', last: 1_300 });
    assert.equal(await store.append('l', ['f1299'], behind(1_298, clock)), { kind: 'appended', last: 1_299 });
    assert.is(await store.trim('l', 5_000), 2);
    const { first, last } = (await store.state('l'))!;
    assert.equal([first, last], [1_301, 1_300]);
    assert.equal((await store.read('l'))?.frames, []);
    assert.equal(await store.append('l', ['next'], behind(1_300, clock)), { kind: 'appended', last: 1_301 });
    assert.equal(await readAll(store, 'l'), numbered(['next'], 1_301));
  },

  'sweep deletes the expired and nobody else, up to its limit': async ({ store, clock }) => {
    const names = Array.from({ length: 20 }, (_, at) => `l${at}`);
    for (const [at, name] of names.entries()) {
      await store.open(name, { fence: 1, expiresAt: clock.now() + (at < 12 ? 10 : 1_000) });
      await store.append(name, ['a', 'b'], behind(0, clock, { expiresAt: clock.now() + (at < 12 ? 10 : 1_000) }));
    }
    assert.is(await store.sweep(clock.now(), 100), 0);
    await clock.advance(10);
    const first = await store.sweep(clock.now(), 5);
    const rest = await store.sweep(clock.now(), 100);
    // A backend that expires by itself has nothing to sweep.
    assert.ok((first === 5 && rest === 7) || (first === 0 && rest === 0), `${first} ${rest}`);
    assert.is(await store.sweep(clock.now(), 100), 0);
    for (const [at, name] of names.entries()) assert.is((await readAll(store, name)).length, at < 12 ? 0 : 2);
    await refuses('ERR_INPUT', () => store.sweep(clock.now(), 0));
  },

  'what was appended is there after the store is opened again': async ({ store, clock, again }) => {
    if (store.name === 'memory') return;
    await filled(store, 'l', { clock, texts: ['a', 'b'] });
    await store.close();
    const reopened = await again();
    assert.equal(await readAll(reopened, 'l'), numbered(['a', 'b']));
    assert.equal(await reopened.append('l', ['c'], behind(2, clock)), { kind: 'appended', last: 3 });
  },

  'close lets what was called before finish, and refuses what comes after': async ({ store, clock }) => {
    for (const name of ['a', 'b', 'c']) await store.open(name, claim(clock));
    const under = ['a', 'b', 'c'].map((name) => store.append(name, ['x'], behind(0, clock)));
    await store.close();
    assert.equal(await Promise.all(under), Array(3).fill({ kind: 'appended', last: 1 }));
    await store.close();
    await refuses('ERR_STORE', () => store.open('a', claim(clock)));
    await refuses('ERR_STORE', () => store.append('a', ['x'], behind(1, clock)));
    await refuses('ERR_STORE', () => store.state('a'));
    await refuses('ERR_STORE', () => store.read('a'));
    await refuses('ERR_STORE', () => store.follow('a')[Symbol.asyncIterator]().next());
    await refuses('ERR_STORE', () => store.trim('a', 1));
    await refuses('ERR_STORE', () => store.expireAt('a', 1));
    await refuses('ERR_STORE', () => store.remove('a'));
    await refuses('ERR_STORE', () => store.sweep(0, 1));
    await refuses('ERR_STORE', () => store.ping());
  },
};
