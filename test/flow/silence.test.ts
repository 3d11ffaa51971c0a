// How long a conversation may be silent: as long as the engine says, or as its flow says when that is sooner.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { cutPages } from '../../lib/flow/run/render.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';

const test = suite('silence');

const flowWith = (limits: Flow['limits']): Flow => ({
  flow: 'quiet',
  version: 1,
  start: 'ask',
  ...(limits && { limits }),
  screens: { ask: { type: 'input', text: 'Say something', save: 'said', to: 'ask' } },
  vars: { said: { type: 'string' } },
});

async function livesFor(limits: Flow['limits'], seconds: number): Promise<boolean> {
  const clock = new SimulatedClock();
  const store = memorySnapshots({ clock });
  const engine = createEngine({ store, clock, conversations: [compileFlow(flowWith(limits))], ttlSeconds: 180 });
  await takeTurn(engine, { key: 'k', decide: () => ({ kind: 'begin', conversation: 'quiet' }) });
  await clock.advance(seconds * 1_000);
  return (await store.load('k')) !== undefined;
}

test('a flow may shorten the silence that ends a session, and cannot make it longer', async () => {
  assert.is(await livesFor(undefined, 179), true);
  assert.is(await livesFor(undefined, 181), false);
  assert.is(await livesFor({ session: '60s' }, 59), true);
  assert.is(await livesFor({ session: '60s' }, 61), false);
  assert.is(await livesFor({ session: '10m' }, 181), false);
});

test('navigation lines that alone are longer than a screen give way to the text', () => {
  const endless = { text: 'Balance 20.00', rows: [] };
  const pages = cutPages(endless, { chars: 182, footer: () => [`0. ${'b'.repeat(200)}`] });
  assert.equal(pages, ['Balance 20.00']);
});

test.run();
