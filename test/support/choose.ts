// Which test files a run takes: the suite of a file is said in its name, and how it runs in one line of it.
//
//   x.test.ts                what Node alone proves: `npm test`
//   x.stores.test.ts         one of SUITES: `npm run test:stores`
//   x.short.long.test.ts     the same, and in a short size a part of `npm test`
//
//   export const runs = 'fresh';    in a process of its own, which measures memory
//   export const runs = 'alone';    the same, after all other files and beside nothing else: deadlines of whole servers
//   export const runs = 'waits';    beside the others, by one process more: what waits for real time and computes little

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the order of `npm run test:all`. */
export const SUITES = ['node', 'stores', 'browsers', 'package', 'kills', 'long'] as const;
export type SuiteName = (typeof SUITES)[number];

export interface TestFile {
  readonly name: string;
  readonly suite: SuiteName;
  readonly isShort: boolean;
  readonly runs: 'shared' | 'fresh' | 'alone' | 'waits';
}

const TEST_FILE = /^(.+?)(\.short)?(?:\.([a-z]+))?\.test\.ts$/;
const LOOKS_LIKE_A_TEST = /[.-](tests?|spec)\.[cm]?[jt]sx?$/;
const RUNS = /^export const runs = '(fresh|alone|waits)';$/m;

/** Every test file below `root`, by name; `onMistake` is told of names that no run would take. */
export function listTests(root: string, onMistake: (name: string, reason: string) => void): TestFile[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  return names.flatMap((name) => {
    if (/(^|\/)(fixtures|node_modules)\//.test(name)) return [];
    const [matches, , short, suffix] = TEST_FILE.exec(name) ?? [];
    if (!matches) {
      if (LOOKS_LIKE_A_TEST.test(name))
        onMistake(name, 'looks like a test file but is never run: end its name with .test.ts');
      return [];
    }
    const suite = suffix === undefined ? 'node' : SUITES.find((one) => one === suffix);
    if (!suite || (short && suite === 'node')) {
      onMistake(name, `names no suite: end its name with .test.ts, or with one of ${SUITES.slice(1).join(', ')}`);
      return [];
    }
    const runs = RUNS.exec(readFileSync(join(root, name), 'utf8'))?.[1] as TestFile['runs'] | undefined;
    return [{ name, suite, isShort: short !== undefined, runs: runs ?? 'shared' }];
  });
}

/** The files of a suite by itself, at its full size. */
export function filesOf(suite: SuiteName, files: readonly TestFile[]): TestFile[] {
  return files.filter((file) => file.suite === suite);
}

/** The files of `npm test`: those of Node alone, and the others that have a short size. */
export function usualFiles(files: readonly TestFile[]): TestFile[] {
  return files.filter(({ suite, isShort }) => suite === 'node' || isShort);
}
