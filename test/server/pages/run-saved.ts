// A file of flow tests that a page made, run beside its flow as `twinline test` does.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { checkMenus } from '../../../server/menus/check.ts';

/** What failed. */
export async function runSaved({ name, text }: { name: string; text: string }): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-saved-'));
  const flow = name.replace('.test.json', '.flow.json');
  try {
    copyFileSync(join('menus', flow), join(folder, flow));
    writeFileSync(join(folder, name), text);
    const { reports, problems } = await checkMenus({ folder });
    assert.is(reports.length, 1, JSON.stringify(problems));
    return reports[0]!.tests.flatMap(({ failures }) => failures.map(({ message }) => message));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
