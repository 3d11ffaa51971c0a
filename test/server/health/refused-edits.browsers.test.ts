// Edits of menus that are not served: what operators see of them.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { assertQuiet } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { withServer } from '../support/serve.ts';

const test = suite('refused edits');
const open = browser(test);

test('a refused edit is told on the pages of tools, at /menus/refused and in the metrics, until it is mended', () =>
  withFolder(async (folder) => {
    cpSync('menus', folder, { recursive: true });
    await withServer({ env: { MENUS_DIR: folder } }, async (server) => {
      const file = join(folder, 'main.flow.json');
      const right = readFileSync(file, 'utf8');
      const problems = async () => ((await server.ask('/menus/refused')).json() as { problems: string[] }).problems;
      assert.equal(await problems(), []);
      const seen = await open(`${server.url}/inspector`);
      writeFileSync(file, right.replace('"start": "preMenu"', '"start": "preMeno"'));
      await until('the edit to be refused', async () => (await problems()).length > 0);
      assert.match(
        (await problems()).join('\n'),
        /main\.flow\.json:\d+:\d+ error [\w-]+: .*preMeno.*Did you mean "preMenu"/s,
      );
      const banner = seen.page.locator('#refused');
      await banner.getByText('An edit is not served').waitFor();
      await banner.getByText('preMeno').waitFor();
      const metrics = async () => (await server.ask('/metrics')).text;
      assert.match(await metrics(), /^twinline_menu_problems 1$/m);
      assert.match(await metrics(), /^twinline_menu_edits_total\{outcome="refused"\} 1$/m);
      writeFileSync(file, right);
      await until('the edit to be served', async () => (await problems()).length === 0);
      await banner.waitFor({ state: 'hidden' });
      assert.match(await metrics(), /^twinline_menu_problems 0$/m);
      assertQuiet(seen);
      await seen.page.context().close();
    });
  }));

test.run();
