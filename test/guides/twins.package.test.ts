// The guide's walk through the domain service runs as it is printed, and says what it says.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withServer } from '../server/support/serve.ts';
import { programsOf, skipWithout } from '../support/on-path.ts';

const test = suite('guide to the domain service');

const GUIDE = readFileSync(fileURLToPath(new URL('../../server/docs/guides/twins.md', import.meta.url)), 'utf8');

test('from a protocol to credits, with the development key', () =>
  withServer({}, async ({ url, developmentKey }) => {
    const script = /^```sh elsewhere\n(API=[\s\S]*?)^```/m.exec(GUIDE)![1]!;
    const [first, ...rest] = script.split('\n');
    assert.match(first!, /^API=http:\/\/127\.0\.0\.1:3000\/v1 KEY=dev_…$/);
    skipWithout(programsOf(script));
    const run = [`API=${url}/v1 KEY=${developmentKey}`, ...rest].join('\n');
    const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', run]);
    assert.is(stderr, '');
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const told = rest.flatMap((line) => [...line.matchAll(/#.*("\w+":"[\w-]+")/g)].map((match) => match[1]!));
    assert.equal(told, [
      '"code":"domain-not-verified"',
      '"status":"executed"',
      '"status":"Verified"',
      '"status":"issued"',
    ]);
    assert.is(answers.length, 1 + told.length);
    for (const [at, words] of told.entries()) assert.ok(JSON.stringify(answers[at + 1]).includes(words), words);
  }));

test.run();
