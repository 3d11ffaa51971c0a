// A machine of your own on the page of the inspector: where its sessions are lights up, in each region, and its values are hidden.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertQuiet, assertReadable } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { DIAL, sharedServer } from '../support/serve.ts';
import { PRIVATE, writeOrder } from './order.ts';

const test = suite('page of a machine');
const folder = mkdtempSync(join(tmpdir(), 'twinline-test-'));
const server = sharedServer(test, { env: writeOrder(folder) });
const open = browser(test);
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const width of [1280, 390])
  test(`its states, the way that was taken, its screen while it shows nothing hidden, at ${width}`, async () => {
    const sessionId = `page-${width}`;
    const phoneNumber = `+26097123${1000 + width}`;
    const say = (text: string) => server().ussd({ ...DIAL, sessionId, phoneNumber, text });
    const seen = await open(`${server().url}/inspector#session=${sessionId}`, { viewport: { width, height: 800 } });
    const { page } = seen;
    await page.waitForSelector('#state .dot.live');
    await say('');
    const actives = (...states: string[]) =>
      Promise.all(
        states.map((state) => page.waitForSelector(`.state.active[data-state="${state}"]`, { state: 'attached' })),
      );
    await actives('bell.still', 'table.choosing');
    await say('1');
    await say('1*3');
    await actives('bell.ringing', 'table.choosing');
    const taken = await page.$$eval('.edge.taken', (edges) => edges.map((edge) => edge.getAttribute('data-to')));
    assert.equal(taken, ['bell.ringing']);
    assert.match((await page.textContent('#screen'))!, /^Cups: 1/);
    await say('1*3*2');
    await actives('bell.ringing', 'table.asking');
    await say(`1*3*2*${PRIVATE}`);
    await actives('bell.ringing', 'table.paid');
    assert.match((await page.textContent('#screen'))!, /^\*{4} This screen shows values that `shown`/);
    assert.match((await page.textContent('#context'))!, /phone\*{4}cups1street\*{4}/);
    assert.not.ok((await page.content()).includes(PRIVATE));
    assert.is(await page.isVisible('#copy'), false, 'a machine has no flow tests');
    if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `machine-${width}.png`) });
    await assertReadable(page);
    assertQuiet(seen);
  });

test.run();
