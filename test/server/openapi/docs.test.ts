// The documentation as people read it: Swagger UI from our own files only, and an entry for every error.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROBLEMS } from '../../../lib/domain/problems.ts';
import { ERROR_CODES } from '../../../lib/errors.ts';
import { REFERENCES } from '../../../server/docs/docs-page.ts';
import { GUIDES } from '../../../server/docs/guides.ts';
import { takeSwaggerFiles } from '../../../server/docs/swagger-files.ts';
import { REFUSALS } from '../../../server/http/errors.ts';
import { manifest } from '../../package/manifest.ts';
import { type Answer, sharedServer } from '../support/serve.ts';

const test = suite('docs');
const server = sharedServer(test, {});
const REFERENCE_PATHS = Object.values(REFERENCES).map(({ path }) => path);

test('the page of errors has an entry for every problem type and every error code, once each', async () => {
  const { text } = await server().ask('/docs/errors');
  const names = [...Object.keys(PROBLEMS), ...Object.keys(REFUSALS), ...Object.keys(ERROR_CODES)];
  for (const name of new Set(names)) {
    const found = text.split(`id="${name}"`);
    assert.is(found.length, 2, name);
    const entry = found[1]!.slice(0, found[1]!.indexOf('</article>'));
    const words = [...entry.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, said]) => said!);
    assert.is(words.length, 3, name);
    for (const said of words) assert.match(said, /^(<code>)?[A-Z].{5,}[.]$/, `${name}: ${said}`);
  }
});

test('the type of a problem document leads to its entry', async () => {
  const problem = (await server().ask('/v1/domains')).json() as { type: string };
  const [page, anchor] = problem.type.split('#');
  assert.is(page, '/docs/errors');
  assert.match((await server().ask(page!)).text, `id="${anchor}"`);
});

test('every error has a page of its own, and what is no error has none', async () => {
  for (const name of [...Object.keys(PROBLEMS), ...Object.keys(ERROR_CODES)]) {
    const { status, text } = await server().ask(`/docs/errors/${name}`);
    assert.is(status, 200, name);
    assert.match(text, `id="${name}"`);
  }
  for (const name of ['constructor', 'ERR_NOTHING'])
    assert.is((await server().ask(`/docs/errors/${name}`)).status, 404);
});

test('every guide is a page, and all links between pages lead somewhere', async () => {
  const pages = ['/docs/guides', ...Object.keys(GUIDES).map((name) => `/docs/guides/${name}`), ...REFERENCE_PATHS];
  const asked = new Map<string, Promise<Answer>>();
  const ask = (path: string) => {
    const answer = asked.get(path) ?? server().ask(path);
    asked.set(path, answer);
    return answer;
  };
  for (const page of pages) {
    const { status, text } = await ask(page);
    assert.is(status, 200, page);
    for (const [, href] of text.matchAll(/href="([^"]+)"/g)) {
      // What is elsewhere cannot be asked here.
      if (/^(data:|https:)/.test(href!)) continue;
      const [path, anchor] = href!.split('#');
      const target = path === '' ? { status: 200, text } : await ask(path!);
      assert.is(target.status, 200, `${page} leads to ${href}`);
      if (anchor) assert.match(target.text, `id="${anchor}"`, `${page} leads to ${href}`);
    }
  }
  for (const name of ['constructor', '..%2fengine', 'nothing'])
    assert.is((await server().ask(`/docs/guides/${name}`)).status, 404, name);
});

test('what pages are made of is not sent twice, and nothing else of the disk is sent', async () => {
  for (const file of [
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui.css',
    '/pages/swagger.css',
    '/pages/swagger.js',
    '/openapi.json',
  ]) {
    const first = await server().ask(file);
    assert.is(first.status, 200, file);
    assert.is(first.headers['x-content-type-options'], 'nosniff');
    const again = await server().ask(file, { headers: { 'if-none-match': first.headers.etag! } });
    assert.equal([again.status, again.text], [304, ''], file);
  }
  for (const file of ['package.json', '..%2fpackage.json', '%2e%2e%2fpackage.json', 'constructor', 'LICENSE'])
    assert.is((await server().ask(`/docs/${file}`)).status, 404, file);
});

test('no page allows inline scripts or styles, or content of others', async () => {
  for (const page of ['/docs', '/docs/errors', ...REFERENCE_PATHS, '/docs/guides', '/docs/guides/engine']) {
    const { headers, text } = await server().ask(page);
    const policy = headers['content-security-policy']!;
    assert.match(policy, /^default-src 'none';script-src 'self';style-src 'self';/);
    assert.not.match(policy, /unsafe|https?:|\*/);
    assert.not.match(text, /<script(?! src="\/)|<style| style=| on\w+=/);
  }
});

test('a build takes the files over, so that nobody who runs the server installs the package with its reports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-docs-'));
  try {
    takeSwaggerFiles(folder);
    assert.equal(readdirSync(folder).sort(), [
      ...['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui-bundle.js.br', 'swagger-ui.css.br'],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.not.ok('swagger-ui-dist' in manifest.dependencies);
  assert.ok(manifest.files.includes('dist/server/docs/swagger'));
  assert.is(manifest.allowScripts['@scarf/scarf'], false);
});

test.run();
