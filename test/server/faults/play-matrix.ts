// Plays rows of the matrix on grounds that are open beside each other; each fault of each dependency is one test.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DependencyName, FAULTS, type Fault, MATRIX, playedFaults, type Windows } from './matrix.ts';
import { playFault } from './play.ts';
import type { Ground, WithGrounds } from './store-grounds.ts';

export interface MatrixOptions {
  readonly dependencies: readonly DependencyName[];
  /** Of those that are in the matrix; default: all. */
  readonly faults?: (dependency: DependencyName) => readonly Fault[];
  readonly grounds: readonly WithGrounds[];
  readonly windows: Windows;
  /** Whether answers must come in their time: only where nothing else keeps the machine busy. */
  readonly isTimed: boolean;
}

/** Runs the suite. */
export function matrixTests({ dependencies, faults, grounds, windows, isTimed }: MatrixOptions): void {
  const test = suite('faults');
  /** `redis freeze` → what was wrong. */
  const problems = new Map<string, string[]>();
  let reason: unknown;
  const chosen = (name: DependencyName, all: readonly Fault[] = playedFaults(MATRIX[name])) =>
    all.filter((fault) => faults?.(name).includes(fault) ?? true);

  const playAll = async (ground: Ground) => {
    const { dependency, title } = ground;
    for (const fault of chosen(dependency, ground.faults)) {
      const key = `${dependency} ${fault}`;
      const row = { dependency: MATRIX[dependency], fault, isTimed };
      const found = await playFault(ground, row).catch((error: Error) => [String(error.stack)]);
      const told = found.map((problem) => (title === undefined ? problem : `${title}: ${problem}`));
      problems.set(key, [...(problems.get(key) ?? []), ...told]);
    }
  };

  test.before(async () => {
    const opened: Promise<unknown>[] = [];
    const { promise: allOpen, resolve: play } = withResolvers();
    // A server that starts keeps the others waiting, so that all are open before anything is played.
    for (const withGrounds of grounds)
      await new Promise<void>((isOpen) => {
        const played = withGrounds(async (ground) => {
          isOpen();
          await allOpen;
          await playAll(ground);
        }, windows).catch((error) => {
          reason = error;
        });
        opened.push(played);
        void played.then(() => isOpen());
      });
    play();
    await Promise.all(opened);
  });

  for (const name of dependencies)
    for (const fault of chosen(name))
      test(`${MATRIX[name].name} ${FAULTS[fault]}`, () => {
        const found = problems.get(`${name} ${fault}`);
        if (found === undefined) throw reason ?? new Error('it was not played');
        assert.equal(found, []);
      });
  test.run();
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
