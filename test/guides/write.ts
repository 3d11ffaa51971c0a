// `npm run guides`: writes the guides and pictures that are made from the source, in their places.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatFile } from '../../lib/flow/format/write.ts';
import { screenDefinitions } from '../../lib/flow/screens/kinds.ts';
import type { JsonObject } from '../../lib/json/json.ts';
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
export const FLOW_SCHEMA = 'menus/flow.schema.json';

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(ROOT, 'server/docs/guides/cli.md'), await commandLineGuide());
  writeFileSync(join(ROOT, API_REPORT), writeReport(readApi(join(await builtPackage(), 'dist'))));
  writeFileSync(join(ROOT, PAGE), guaranteesPage());
  writeFileSync(join(ROOT, FLOW_SCHEMA), withScreens(readFileSync(join(ROOT, FLOW_SCHEMA), 'utf8')));
  writeFileSync(join(ROOT, OPERATORS), operatorsGuide(readFileSync(join(ROOT, OPERATORS), 'utf8')));
  process.exitCode = await writePicture(join(ROOT, PICTURE));
}

/** The schema of flow files with the definitions that `lib/flow/screens` gives. */
export function withScreens(text: string): string {
  const schema = JSON.parse(text) as { readonly definitions: JsonObject };
  const definitions = { ...schema.definitions, ...(screenDefinitions() as JsonObject) };
  return formatFile({ ...schema, definitions });
}

/** Draws the main flow into a file; the exit code of `twinline graph`. */
export async function writePicture(file: string): Promise<number> {
  return (await twinline(['graph', 'main', '--menus-dir', join(ROOT, 'menus'), '--out', file], {})) ?? 0;
}
