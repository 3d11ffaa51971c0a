// A session of a machine of your own outlives its server: kill -9 in the middle of a dialogue, and the next one goes on with it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../../support/build.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { ask, DIAL, json } from '../support/serve.ts';
import { PRIVATE, writeOrder } from './order.ts';

const test = suite('a machine of your own over restarts');

test('kill -9 in the middle: the next server goes on, answers a retry as before, and the store never held what is hidden in clear', () =>
  withFolder(async (folder) => {
    const library = pathToFileURL(await builtFile('lib/index.ts')).href;
    const env = { ...writeOrder(folder, library), DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error' };
    const say = async (url: string, text: string) => (await ask(`${url}/api/ussd`, json({ ...DIAL, text }))).text;
    const first = await startProcess(env);
    for (const text of ['', '1', '1*1', '1*1*3']) assert.match(await say(first.url, text), /^CON Cups: /);
    await first.kill();
    const second = await startProcess(env);
    assert.match(await say(second.url, '1*1*3'), /^CON Cups: 2\n/);
    assert.is(await say(second.url, '1*1*3*2'), 'CON Which street?');
    await second.kill();
    const third = await startProcess(env);
    assert.is(await say(third.url, `1*1*3*2*${PRIVATE}`), `END 2 cups to ${PRIVATE}`);
    await third.kill();
    const files = readdirSync(env.DATA_DIR, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    for (const { parentPath, name } of files)
      assert.not.ok(readFileSync(join(parentPath, name)).includes(PRIVATE), `${name} holds it in clear`);
  }));

test.run();
