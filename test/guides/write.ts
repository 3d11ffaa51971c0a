// `npm run guides`: writes the guides and pictures that are made from the source, in their places.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { twinline } from '../../server/cli/main.ts';
import { ROOT } from '../package/manifest.ts';
import { guaranteesPage, PAGE } from '../promises/page.ts';
import { commandLineGuide } from './command-line.ts';

export const PICTURE = 'server/docs/guides/main-flow.svg';

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(ROOT, 'server/docs/guides/cli.md'), await commandLineGuide());
  writeFileSync(join(ROOT, PAGE), guaranteesPage());
  process.exitCode = await writePicture(join(ROOT, PICTURE));
}

/** Draws the main flow into a file; the exit code of `twinline graph`. */
export async function writePicture(file: string): Promise<number> {
  return (await twinline(['graph', 'main', '--menus-dir', join(ROOT, 'menus'), '--out', file], {})) ?? 0;
}
