// Whatever is sent to any route of a server with all doors, the answer is one that the document declares, nothing is logged as
// an error, and no secret leaves. In short; more: `npm run fuzz`.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checker } from './check.ts';
import { fuzz } from './fuzz.ts';
import { withFuzzedServer } from './place.ts';
import type { FuzzRequest } from './requests.ts';

const test = suite('random requests', { timeoutMs: 120_000 });
const CORPUS = new URL('corpus/', import.meta.url);

test('300 random requests are answered as declared', async () => {
  const { sent, findings, answers } = await fuzz({ requests: 300, seed: 7 });
  assert.equal(findings, []);
  assert.is(sent, 300);
  // Fewer kinds would mean that most requests are turned away before anything reads them.
  assert.ok(answers.size > 100, `${answers.size} kinds of answers`);
  assert.ok([...answers].filter((answer) => / 20\d$/.test(answer)).length > 25);
});

test('what once broke a promise does so no more', () =>
  withFuzzedServer(async (place) => {
    const { check } = checker(place);
    for (const file of readdirSync(CORPUS)) {
      const asked = JSON.parse(readFileSync(new URL(file, CORPUS), 'utf8')) as FuzzRequest;
      assert.equal(await check(asked), [], file);
    }
  }));

test('a secret in an answer, an answer that is not declared, and no answer are findings', () =>
  withFuzzedServer(async (place) => {
    const asked = { operation: 'GET /livez', method: 'GET', path: '/livez', headers: {} };
    const answering = (status: number, text: string) => ({
      ...place,
      send: async () => ({
        status,
        text,
        headers: { 'content-type': 'application/json' },
        json: () => JSON.parse(text),
      }),
    });
    const problems = async (status: number, text: string) =>
      (await checker(answering(status, text)).check(asked)).join();
    assert.match(
      await problems(200, JSON.stringify(place.secrets.get('operator token'))),
      'the operator token is in the answer',
    );
    assert.match(await problems(418, '{}'), 'GET /livez does not document 418');
    assert.match(await problems(200, '{'), 'cannot be read');
    const silent = { ...place, send: () => Promise.reject(new Error('reset')) };
    assert.match((await checker(silent).check(asked)).join(), 'has no answer: reset');
  }));

test.run();
