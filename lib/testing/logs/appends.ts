// What every LogStore promises about writing: numbers, fences, repeats, ends, limits.

import { setImmediate as nextTick } from 'node:timers/promises';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { STORE_LIMITS } from '../../store/limits.ts';
import * as assert from '../assert.ts';
import { behind, claim, filled, type LogPromises, MINUTE, numbered, readAll, refuses } from './bench.ts';

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
  'an unknown log has nothing, and takes nothing': async ({ store, clock }) => {
    assert.is(await store.state('no'), undefined);
    assert.is(await store.read('no'), undefined);
    assert.equal(await store.append('no', ['a'], behind(0, clock)), { kind: 'missing' });
    assert.equal(await store.append('no', [], behind(0, clock, { end: true })), { kind: 'missing' });
    assert.is(await store.trim('no', 5), 0);
    assert.is(await store.expireAt('no', clock.now() + 1), false);
    assert.is(await store.remove('no'), false);
    assert.is(await store.state('no'), undefined);
    await store.ping();
  },

  'an opened log is empty, and frames are numbered from 1 without gaps': async ({ store, clock }) => {
    assert.equal(await store.open('l', claim(clock, 7)), { kind: 'opened', last: 0, ended: false });
    const expiresAt = clock.now() + MINUTE;
    assert.equal(await store.state('l'), { first: 1, last: 0, ended: false, fence: 7, expiresAt });
    assert.equal(await store.read('l'), { frames: [], last: 0, ended: false, expiresAt });
    const groups = [['a'], ['b', 'c', 'd'], ['e', 'e']];
    let last = 0;
    for (const group of groups) {
      const result = await store.append('l', group, behind(last, clock, { fence: 7 }));
      last += group.length;
      assert.equal(result, { kind: 'appended', last });
    }
    assert.equal(await readAll(store, 'l'), numbered(groups.flat()));
    assert.equal(await store.state('l'), { first: 1, last: 6, ended: false, fence: 7, expiresAt });
  },

  'frames come back as they were, in logs of any name, which never mix': async ({ store, clock }) => {
    for (const name of ODD_NAMES) {
      await store.open(name, claim(clock));
      assert.equal(await store.append(name, [...ODD_TEXTS, name], behind(0, clock)), { kind: 'appended', last: 10 });
    }
    for (const name of ODD_NAMES) assert.equal(await readAll(store, name), numbered([...ODD_TEXTS, name]), name);
  },

  'a lower fence is refused from the moment that a higher one has opened the log': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    assert.equal(await store.open('l', claim(clock, 3)), { kind: 'opened', last: 1, ended: false });
    for (const fence of [1, 2]) {
      assert.equal(await store.append('l', ['b'], behind(1, clock, { fence })), { kind: 'fenced', fence: 3 });
      assert.equal(await store.append('l', [], behind(1, clock, { fence, end: true })), { kind: 'fenced', fence: 3 });
      assert.equal(await store.open('l', claim(clock, fence)), { kind: 'fenced', fence: 3 });
    }
    assert.equal(await store.open('l', claim(clock, 3)), { kind: 'opened', last: 1, ended: false });
    assert.equal(await readAll(store, 'l'), numbered(['a']));
  },

  'a lower fence is refused from the moment that a higher one has written the log': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    const high = Number.MAX_SAFE_INTEGER;
    assert.equal(await store.append('l', ['b'], behind(1, clock, { fence: high - 1 })), { kind: 'appended', last: 2 });
    assert.equal(await store.append('l', ['c'], behind(2, clock, { fence: high - 2 })), {
      kind: 'fenced',
      fence: high - 1,
    });
    assert.equal(await store.append('l', ['c'], behind(2, clock, { fence: high })), { kind: 'appended', last: 3 });
    assert.is((await store.state('l'))?.fence, high);
    // What was refused has taken nothing over.
    assert.is((await store.append('l', ['x'], behind(9, clock, { fence: high }))).kind, 'conflict');
    assert.equal(await readAll(store, 'l'), numbered(['a', 'b', 'c']));
  },

  'an append behind another frame than the last writes nothing and says which is last': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a', 'b'] });
    for (const [expected, texts] of [
      [0, ['x']],
      [1, ['x']],
      [1, ['b', 'x']],
      [3, ['c']],
      [100, ['c']],
    ] as const)
      assert.equal(await store.append('l', texts, behind(expected, clock, { fence: 2 })), {
        kind: 'conflict',
        last: 2,
      });
    assert.is((await store.state('l'))?.fence, 1);
    assert.equal(await readAll(store, 'l'), numbered(['a', 'b']));
  },

  'a repeated append answers as the first did, and writes nothing': async ({ store, clock }) => {
    await store.open('l', claim(clock));
    const first = () => store.append('l', ['a', 'b'], behind(0, clock));
    const second = () => store.append('l', ['c'], behind(2, clock));
    const third = () => store.append('l', ['d', 'd'], behind(3, clock, { end: true }));
    const fourth = () => store.append('l', [], behind(5, clock, { end: true }));
    for (let time = 0; time < 2; time++) assert.equal(await first(), { kind: 'appended', last: 2 });
    for (let time = 0; time < 2; time++) assert.equal(await second(), { kind: 'appended', last: 3 });
    assert.equal(await first(), { kind: 'appended', last: 2 });
    for (let time = 0; time < 2; time++) assert.equal(await third(), { kind: 'appended', last: 5 });
    assert.equal(await second(), { kind: 'appended', last: 3 });
    assert.equal(await fourth(), { kind: 'appended', last: 5 });
    assert.equal(await store.append('l', ['c'], behind(2, clock, { end: true })), { kind: 'ended', last: 5 });
    assert.equal(await readAll(store, 'l'), numbered(['a', 'b', 'c', 'd', 'd']));
    await store.open('l', claim(clock, 2));
    assert.equal(await second(), { kind: 'fenced', fence: 2 });
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

  'a repeat and a refusal leave the fence and the time of expiry as they are': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    const state = await store.state('l');
    const more = { fence: 5, expiresAt: clock.now() + 2 * MINUTE };
    assert.equal(await store.append('l', ['a'], behind(0, clock, more)), { kind: 'appended', last: 1 });
    assert.equal(await store.append('l', ['b'], behind(7, clock, more)), { kind: 'conflict', last: 1 });
    assert.equal(await store.state('l'), state);
    const ended = await store.append('l', [], behind(1, clock, { end: true }));
    assert.equal(
      [ended, await store.state('l')],
      [
        { kind: 'appended', last: 1 },
        { ...state, ended: true },
      ],
    );
    assert.equal(await store.append('l', ['b'], behind(1, clock, more)), { kind: 'ended', last: 1 });
    assert.equal(await store.state('l'), { ...state, ended: true });
  },

  'an ended log takes nothing more, and is read as before': async ({ store, clock }) => {
    await filled(store, 'l', { clock, texts: ['a'] });
    assert.equal(await store.append('l', [], behind(1, clock, { end: true })), { kind: 'appended', last: 1 });
    assert.equal(await store.append('l', ['b'], behind(1, clock, { fence: 9 })), { kind: 'ended', last: 1 });
    assert.equal(await store.open('l', claim(clock, 2)), { kind: 'opened', last: 1, ended: true });
    const page = await store.read('l');
    assert.equal([page?.frames, page?.last, page?.ended], [numbered(['a']), 1, true]);
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
  },
};
