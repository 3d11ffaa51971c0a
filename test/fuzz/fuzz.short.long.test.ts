// Whatever is sent to any route of a server with all doors, the answer is one that the document declares, nothing is logged as
// an error, and no secret leaves. In short; more: `npm run fuzz`.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checker } from './check.ts';
import { fuzz } from './fuzz.ts';
import { withFuzzedServer } from './place.ts';
import type { FuzzRequest } from './requests.ts';

const test = suite('random requests');
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

test('a secret, an answer that is not declared or cannot be read, none, and an error in the log are findings', async () => {
  const asked = { operation: 'GET /one', method: 'GET', path: '/one', headers: {} };
  const responses = { 200: { content: { 'application/json': { schema: { type: 'string' } } } } };
  const problems = async (status: number, text: string, logged: readonly object[] = []) => {
    const answer = { status, text, headers: { 'content-type': 'application/json' } };
    const place = {
      document: { paths: { '/one': { get: { responses } } }, components: { schemas: {} } },
      secrets: new Map([['token', 'canary']]),
      server: { logged },
      send: () => (status ? Promise.resolve(answer) : Promise.reject(new Error(text))),
    };
    return (await checker(place as never).check(asked)).join();
  };
  assert.is(await problems(200, '"fine"'), '');
  assert.is(await problems(200, '"a canary"'), 'the token is in the answer');
  assert.match(await problems(200, '1'), 'GET /one 200 / must be string');
  assert.match(await problems(200, '{'), 'GET /one 200 cannot be read');
  assert.match(await problems(418, '""'), 'GET /one does not document 418');
  assert.match(await problems(500, '""'), 'GET /one 500: ""');
  assert.match(await problems(0, 'reset'), 'GET /one has no answer: reset');
  assert.match(await problems(200, '""', [{ level: 50, msg: 'canary' }]), 'the token is in the log,logged: ');
});

test.run();
