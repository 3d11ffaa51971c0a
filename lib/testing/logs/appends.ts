// What every LogStore promises about writing: numbers, fences, repeats, ends, limits.

import { setImmediate as nextTick } from 'node:timers/promises';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { STORE_LIMITS } from '../../store/limits.ts';
import * as assert from '../assert.ts';
import { behind, claim, type LogPromises, numbered, readAll, refuses } from './bench.ts';

const ODD_TEXTS = ['', '\0', 'é😀\u2028', '{"a":"\\u0000"}', '\uffff', ' ', '0', '-', 'x'.repeat(100_000)];
const ODD_NAMES = [
  'a',
  'A',
  ' ',
  '\0',
  '}',
  '{}',
  '{a}',
  'a}b{c',
  '*:?[]^\\',
  '😀',
  '\uffff',
  '__proto__',
  'n'.repeat(256),
];

/** Sentence → what shows that it is kept. */
export const LOG_APPENDS: LogPromises = {
  'frames come back as they were, in logs of any name, which never mix': async ({ store, clock }) => {
    for (const name of ODD_NAMES) {
      await store.open(name, claim(clock));
      assert.equal(await store.append(name, [...ODD_TEXTS, name], behind(0, clock)), { kind: 'appended', last: 10 });
    }
    for (const name of ODD_NAMES) assert.equal(await readAll(store, name), numbered([...ODD_TEXTS, name]), name);
  },

  'a repeat is answered also when the log has ended since, or would end with it': async ({ store, clock }) => {
    const appended = { kind: 'appended', last: 1 };
    await store.open('later', claim(clock));
    assert.equal(await store.append('later', ['a'], behind(0, clock)), appended);
    assert.equal(await store.append('later', [], behind(1, clock, { end: true })), appended);
    assert.equal(await store.append('later', ['a'], behind(0, clock)), appended, 'without the end that came later');
    assert.equal(await store.append('later', ['a'], behind(0, clock, { end: true })), appended, 'with it');
    await store.open('at once', claim(clock));
    assert.equal(await store.append('at once', ['a'], behind(0, clock, { end: true })), appended);
    assert.equal(await store.append('at once', ['a'], behind(0, clock)), appended, 'without the end it had');
    assert.equal(await store.append('at once', ['b'], behind(0, clock)), { kind: 'ended', last: 1 });
    for (const name of ['later', 'at once']) assert.equal(await readAll(store, name), numbered(['a']), name);
  },

  'of two writers at the same place one is written, whoever of them was first': async ({ store, clock, again }) => {
    const other = await again();
    await store.open('l', claim(clock));
    const written: string[] = [];
    for (let expected = 0; expected < 15; expected++) {
      const texts = Array.from({ length: 4 }, (_, at) => `${expected}/${at}`);
      const results = await Promise.all(
        texts.map((text, at) => (at % 2 ? other : store).append('l', [text], behind(expected, clock))),
      );
      const won = results.findIndex(({ kind }) => kind === 'appended');
      const kinds = results.map(({ kind }) => kind);
      assert.equal(
        kinds,
        kinds.map((_, at) => (at === won ? 'appended' : 'conflict')),
      );
      written.push(texts[won]!);
    }
    assert.equal(await readAll(store, 'l'), numbered(written));
  },

  'of two owners that write at once, the one with the lower fence stops for good': async ({ store, clock, again }) => {
    const other = await again();
    await store.open('l', claim(clock));
    const old = async () => {
      for (let last = 0; ; last++) {
        await nextTick();
        const result = await store.append('l', [`old ${last}`], behind(last, clock));
        if (result.kind !== 'appended') return { result, last };
      }
    };
    const oldEnded = old();
    let taken = 0;
    for (; taken < 5; await nextTick()) taken = (await other.state('l'))?.last ?? 0;
    const opened = await other.open('l', claim(clock, 2));
    assert.is(opened.kind, 'opened');
    const last = opened.kind === 'opened' ? opened.last : 0;
    assert.equal(await other.append('l', ['new'], behind(last, clock, { fence: 2 })), {
      kind: 'appended',
      last: last + 1,
    });
    assert.equal(await oldEnded, { result: { kind: 'fenced', fence: 2 }, last });
    const texts = Array.from({ length: last }, (_, at) => `old ${at}`);
    assert.equal(await readAll(other, 'l', 7), numbered([...texts, 'new']));
  },

  'what is malformed is refused with ERR_INPUT, and nothing of it is written': async ({ store, clock }) => {
    await store.open('l', claim(clock));
    for (const name of ['', 'n'.repeat(257), 'a\ud800']) {
      await refuses('ERR_INPUT', () => store.open(name, claim(clock)));
      await refuses('ERR_INPUT', () => store.append(name, ['a'], behind(0, clock)));
      await refuses('ERR_INPUT', () => store.read(name));
      await refuses('ERR_INPUT', () => store.follow(name)[Symbol.asyncIterator]().next());
      await refuses('ERR_INPUT', () => store.remove(name));
    }
    const big = 'x'.repeat(STORE_LIMITS.frameBytes);
    const frames = [
      [],
      ['a', 'b\ud800'],
      [`${big}x`],
      [`${big.slice(1)}é`],
      Array(COMMON_LIMITS.framesPerAppend + 1).fill('a'),
    ];
    for (const texts of [...frames, Array(5).fill(big)])
      await refuses('ERR_INPUT', () => store.append('l', texts, behind(0, clock)));
    for (const fence of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
      await refuses('ERR_INPUT', () => store.open('l', claim(clock, fence)));
      await refuses('ERR_INPUT', () => store.append('l', ['a'], behind(0, clock, { fence })));
    }
    for (const expected of [-1, 0.5])
      await refuses('ERR_INPUT', () => store.append('l', ['a'], behind(expected, clock)));
    for (const expiresAt of [-1, 0.5, 8.64e15 + 1])
      await refuses('ERR_INPUT', () => store.open('l', { fence: 1, expiresAt }));
    for (const limit of [0, 0.5, COMMON_LIMITS.pageSizeMax + 1])
      await refuses('ERR_INPUT', () => store.read('l', { limit }));
    for (const after of [-1, 0.5]) await refuses('ERR_INPUT', () => store.read('l', { after }));
    assert.is((await store.state('l'))?.last, 0);
    assert.equal(await store.append('l', Array(4).fill(big), behind(0, clock)), { kind: 'appended', last: 4 });
  },

  'a log that is full takes nothing but its end; trimming makes room': async ({ store, clock }) => {
    await store.open('l', claim(clock));
    const many = Array(COMMON_LIMITS.framesPerAppend).fill('a');
    const rounds = STORE_LIMITS.framesPerLog / many.length;
    for (let round = 0; round < rounds; round++) {
      const result = await store.append('l', many, behind(round * many.length, clock));
      if (result.kind !== 'appended') assert.unreachable(result.kind);
    }
    const last = STORE_LIMITS.framesPerLog;
    assert.equal(await store.append('l', ['b'], behind(last, clock)), { kind: 'full', last });
    assert.is(await store.trim('l', 1), 1);
    assert.equal(await store.append('l', ['b'], behind(last, clock)), { kind: 'appended', last: last + 1 });
    assert.equal(await store.append('l', ['c'], behind(last + 1, clock)), { kind: 'full', last: last + 1 });
    assert.equal(await store.append('l', ['c'], behind(last + 1, clock, { end: true })), {
      kind: 'appended',
      last: last + 2,
    });
    assert.is(await store.remove('l'), true);
    assert.equal(await store.open('l', claim(clock)), { kind: 'opened', last: 0, ended: false });
    assert.equal(await readAll(store, 'l'), []);
  },
};
