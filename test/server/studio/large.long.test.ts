// A flow of 1,000 screens in the studio: checked, completed and drawn in part.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { json, sharedServer } from '../support/serve.ts';

const test = suite('studio, a large flow');
const server = sharedServer(test, {});
const SCREENS = 1_000;

test('a flow of 1,000 screens is checked, completed and drawn in part', async () => {
  const post = async (path: string, body: object) => {
    const { status, json: read } = await server().ask(`/studio${path}`, json(body, { origin: server().url }));
    assert.is(status, 200);
    return read() as Record<string, unknown>;
  };
  const question = (at: number) => ({
    ...{ type: 'input', text: `Question ${at} of a very long form?`, save: 'answer' },
    to: at === SCREENS - 1 ? 'bye' : `s${at + 1}`,
  });
  const screens = Object.fromEntries(Array.from({ length: SCREENS }, (_, at) => [`s${at}`, question(at)]));
  const flow = {
    ...{ flow: 'main', version: 1, start: 's0', vars: { answer: { type: 'string', max: 20 } } },
    screens: { ...screens, bye: { type: 'end', text: 'Bye' } },
  };
  const text = JSON.stringify(flow, null, 2);
  const checked = await post('/check', { flow: 'main', text });
  assert.is((checked.screens as object[]).length, SCREENS + 1);
  const problems = checked.problems as { severity: string }[];
  assert.not.ok(problems.some(({ severity }) => severity === 'error'));
  const completed = await post('/complete', { flow: 'main', text, offset: text.indexOf('"to": "s1"') + 7 });
  assert.is((completed.items as object[]).length, SCREENS + 1);
  const drawn = await post('/drawing', { flow: 'main', text, focus: 's500' });
  assert.is(drawn.states, SCREENS + 1);
  assert.ok((drawn.shown as number) < SCREENS + 1);
  // Beyond the usual size of bodies.
  await post('/check', { flow: 'main', text: JSON.stringify({ ...flow, note: 'x'.repeat(2_000_000) }) });
});

test.run();
