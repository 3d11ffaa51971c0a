// The scripts and style sheets of pages: one bundle each, kept by browsers for as long as its content is the same.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assetAddress, writeAssets } from '../../../server/web/kit/assets.ts';
import { withFolder } from '../../support/process.ts';
import { sharedServer } from '../support/serve.ts';

const test = suite('assets');
const server = sharedServer(test, {});

test('a page names one script and one style sheet by their content, and these may be kept for ever', async () => {
  const { text } = await server().ask('/inspector', { headers: { accept: 'text/html' } });
  const files = [...text.matchAll(/(?:src|href)="(\/pages\/[^"]+)"/g)].map(([, path]) => path!);
  assert.equal(files, [await assetAddress('inspector.css'), await assetAddress('inspector.js')]);
  for (const file of files) {
    const { status, headers } = await server().ask(file);
    assert.equal([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'], file);
    assert.match(headers['content-type']!, file.includes('.css') ? /^text\/css; charset=utf-8$/ : /^text\/javascript;/);
  }
});

test('who takes Brotli gets it, under an ETag of its own; pages of documentation, too', async () => {
  for (const path of ['/pages/studio.js', '/docs/guides/operators']) {
    const plain = await server().ask(path);
    const packed = await fetch(server().url + path, { headers: { 'accept-encoding': 'br' } });
    assert.equal([packed.headers.get('content-encoding'), packed.headers.get('vary')], ['br', plain.headers.vary]);
    assert.match(String(plain.headers.vary), /Accept-Encoding/);
    assert.is(await packed.text(), plain.text, path);
    assert.ok(Number(packed.headers.get('content-length')) < plain.text.length / 2.5, path);
    assert.is(plain.headers['content-encoding'], undefined);
    if (plain.headers.etag) assert.is(packed.headers.get('etag'), plain.headers.etag.replace(/"$/, '-br"'));
  }
});

test('another content, or none that is named, is asked for anew', async () => {
  for (const query of ['', '?v=', '?v=another', '?v=a&v=b']) {
    const { headers } = await server().ask(`/pages/chat.js${query}`);
    assert.is(headers['cache-control'], 'no-cache', query);
    const again = await server().ask(`/pages/chat.js${query}`, { headers: { 'if-none-match': headers.etag! } });
    assert.equal([again.status, again.text], [304, '']);
  }
  for (const name of ['constructor', 'chat.ts', '..%2fkit%2fpage.css'])
    assert.is((await server().ask(`/pages/${name}`)).status, 404, name);
});

test('a build writes the same files as a running source serves, and none imports another', () =>
  withFolder(async (folder) => {
    await writeAssets(folder);
    const names = readdirSync(join(folder, 'assets'));
    assert.ok(names.length > 10);
    for (const name of names) {
      const text = readFileSync(join(folder, 'assets', name), 'utf8');
      assert.is(text, (await server().ask(`/pages/${name}`)).text, name);
      assert.not.match(text, /(^|[;}\n])(import|export)\b|@import|sourceMappingURL/, name);
    }
  }));

test.run();
