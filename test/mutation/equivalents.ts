// Changes to the source that no test can notice, because the code does the same with them: each with the reason. A row names
// the change as `npm run mutate` prints it, and the line where it begins if the same change is also made elsewhere.

import { readFileSync } from 'node:fs';
import type { Equivalent } from './verdict.ts';

type Rows = { readonly [file: string]: readonly Omit<Equivalent, 'file'>[] };

const ROWS = JSON.parse(
  readFileSync(new URL('../fixtures/mutation/equivalents.json', import.meta.url), 'utf8'),
) as Rows;

export const EQUIVALENTS: readonly Equivalent[] = Object.entries(ROWS).flatMap(([file, rows]) =>
  rows.map((row) => ({ file, ...row })),
);
