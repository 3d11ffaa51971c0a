// Whatever is sent to any route of a server with all doors, the answer is one that the document declares, nothing is logged as
// an error, and no secret leaves. In short; more: `npm run fuzz`.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseSize } from '../support/size.ts';
import { checker } from './check.ts';
import { fuzz } from './fuzz.ts';
import { withFuzzedServer } from './place.ts';
import type { FuzzRequest } from './requests.ts';

const test = suite('random requests');
/** One server answers them, however many. */
const REQUESTS = chooseSize({ short: 120, day: 300, whole: 3_000 });
const CORPUS = new URL('corpus/', import.meta.url);

test(`${REQUESTS} random requests are answered as declared`, async () => {
  const { sent, findings, answers } = await fuzz({ requests: REQUESTS, seed: 7 });
  assert.equal(findings, []);
  assert.is(sent, REQUESTS);
  // Fewer kinds would mean that most requests are turned away before anything reads them.
  assert.ok(answers.size > REQUESTS / 3, `${answers.size} kinds of answers`);
  assert.ok([...answers].filter((answer) => / 20\d$/.test(answer)).length > REQUESTS / 12);
});

test('what once broke a promise does so no more', () =>
  withFuzzedServer(async (place) => {
    const { check } = checker(place);
    for (const file of readdirSync(CORPUS)) {
      const asked = JSON.parse(readFileSync(new URL(file, CORPUS), 'utf8')) as FuzzRequest;
      assert.equal(await check(asked), [], file);
    }
  }));

test.run();
