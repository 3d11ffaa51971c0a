// `npm run guides`: writes the guides and pictures that are made from the source, in their places.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { twinline } from '../../server/cli/main.ts';
import { readApi, writeReport } from '../../server/docs/generate/api.ts';
import { ROOT } from '../package/manifest.ts';
import { guaranteesPage, PAGE } from '../promises/page.ts';
import { builtPackage } from '../support/build.ts';
import { commandLineGuide } from './command-line.ts';
import { operatorsGuide } from './metrics.ts';

export const PICTURE = 'server/docs/guides/main-flow.svg';
/** The public names, for reviews. */
export const API_REPORT = 'test/fixtures/package/api.txt';
export const OPERATORS = 'server/docs/guides/operators.md';

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(ROOT, 'server/docs/guides/cli.md'), await commandLineGuide());
  writeFileSync(join(ROOT, API_REPORT), writeReport(readApi(join(await builtPackage(), 'dist'))));
  writeFileSync(join(ROOT, PAGE), guaranteesPage());
  writeFileSync(join(ROOT, OPERATORS), operatorsGuide(readFileSync(join(ROOT, OPERATORS), 'utf8')));
  process.exitCode = await writePicture(join(ROOT, PICTURE));
}

/** Draws the main flow into a file; the exit code of `twinline graph`. */
export async function writePicture(file: string): Promise<number> {
  return (await twinline(['graph', 'main', '--menus-dir', join(ROOT, 'menus'), '--out', file], {})) ?? 0;
}
