// Whatever a door needs and however that fails: the answer is the one of the matrix, in its time, health tells the truth all
// the while, and afterwards all is well without a restart, nothing lost and nothing done twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DependencyName, DOORS, FAULTS, MATRIX, playedFaults } from './matrix.ts';
import { withCounterparts, withModel } from './outside-grounds.ts';
import { playFault } from './play.ts';
import { type Ground, type WithGrounds, withDisks, withMongo, withRedis } from './store-grounds.ts';

const test = suite('faults');

const GROUNDS: readonly WithGrounds[] = [withRedis, withMongo, withDisks, withCounterparts, withModel];
const NAMES = Object.keys(MATRIX) as DependencyName[];

/** `redis freeze` → what was wrong. */
const problems = new Map<string, string[]>();
let reason: unknown;

test.before(async () => {
  const opened: Promise<unknown>[] = [];
  let play: () => void = () => {};
  const allOpen = new Promise<void>((resolve) => {
    play = resolve;
  });
  // A server that starts keeps the others waiting, so that all are open before anything is played.
  for (const withGrounds of GROUNDS)
    await new Promise<void>((isOpen) => {
      const played = withGrounds(async (ground) => {
        isOpen();
        await allOpen;
        await playAll(ground);
      }).catch((error) => {
        reason = error;
      });
      opened.push(played);
      void played.then(() => isOpen());
    });
  play();
  await Promise.all(opened);
});

async function playAll(ground: Ground): Promise<void> {
  const { dependency, title } = ground;
  for (const fault of ground.faults ?? playedFaults(MATRIX[dependency])) {
    const key = `${dependency} ${fault}`;
    const found = await playFault(ground, MATRIX[dependency], fault).catch((error: Error) => [String(error.stack)]);
    const told = found.map((problem) => (title === undefined ? problem : `${title}: ${problem}`));
    problems.set(key, [...(problems.get(key) ?? []), ...told]);
  }
}

for (const name of NAMES)
  for (const fault of playedFaults(MATRIX[name]))
    test(`${MATRIX[name].name} ${FAULTS[fault]}`, () => {
      const found = problems.get(`${name} ${fault}`);
      if (found === undefined) throw reason ?? new Error('it was not played');
      assert.equal(found, []);
    });

test('each door that needs something has an answer for each of its faults', () => {
  for (const { unused, rows } of Object.values(MATRIX)) {
    const doors = Object.keys(DOORS).filter((door) => !Object.hasOwn(unused, door));
    for (const row of Object.values(rows)) if (typeof row !== 'string') assert.equal(Object.keys(row), doors);
  }
});

test.run();
