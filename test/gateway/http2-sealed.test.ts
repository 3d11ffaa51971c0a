// The folder of our HTTP/2 has one entry, and the tests that its page names exist.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../package/manifest.ts';
import { importsOf } from '../support/layers.ts';

const test = suite('http2, sealed');
const FOLDER = 'lib/gateway/http2';

test('what lies outside of it imports its entry alone', () => {
  const found = ['lib', 'server', 'machines'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith('.ts') && !path.startsWith(`${FOLDER}/`))
      .flatMap((path) =>
        importsOf(readFileSync(join(ROOT, path), 'utf8'))
          .filter(({ from }) => from.includes('/http2/'))
          .map(({ from }) => `${path} → ${from}`),
      ),
  );
  assert.equal(found, ['lib/gateway/channel/http2-channel.ts → ../http2/open.ts']);
});

/** What the files of tests add to the name of a row in a table. */
const AROUND = /^a flood of | is read$| is malformed$| ends the connection$/g;

test('each test that its page names stands in the file that it names', () => {
  const page = readFileSync(join(ROOT, FOLDER, 'README.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| (RFC|against)/.test(line));
  assert.ok(rows.length > 30, `${rows.length} rows`);
  const missing = rows.flatMap((row) => {
    const [file, ...names] = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    assert.ok(names.length, row);
    const source = readFileSync(join(ROOT, `test/gateway/${file}.test.ts`), 'utf8');
    return names.filter((name) => !source.includes(name) && !source.includes(name.replace(AROUND, '')));
  });
  assert.equal(missing, []);
});

test.run();
