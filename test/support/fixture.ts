// Data of tests that stands in files of its own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../package/manifest.ts';

/** What a JSON file below test/fixtures/ holds. */
export function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(join(ROOT, 'test/fixtures', name), 'utf8')) as T;
}
