// The subpath that needs no Node: its machines in the bundle of a page, run by Chromium.

import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { browser } from '../server/support/browser.ts';
import { ROOT } from './manifest.ts';

const test = suite('machines in a browser');
const open = browser(test);

const PROGRAM = `
import { createActor } from 'xstate';
import { delegationMachine } from './machines/index.ts';
const input = { sealed: 'secret', expiresAt: Date.now() + 1e6, at: Date.now() };
const actor = createActor(delegationMachine, { input }).start();
const before = actor.getSnapshot().value;
actor.send({ type: 'REVOKE', at: input.at });
globalThis.said = before + ', then ' + actor.getSnapshot().value;`;

test('a delegation is revoked in a page, which complains of nothing', async () => {
  const stdin = { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' } as const;
  const { outputFiles } = await build({ stdin, bundle: true, format: 'iife', platform: 'browser', write: false });
  const { page, complaints } = await open('about:blank');
  await page.addScriptTag({ content: outputFiles[0]!.text });
  assert.is(await page.evaluate('said'), 'authorized, then revoked');
  assert.equal(complaints, []);
});

test.run();
