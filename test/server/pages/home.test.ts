// The home of a server, its errors as pages, the search of the documentation, and what every page weighs.

import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GUIDES } from '../../../server/docs/guides.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { ask, sharedServer, testRoutes, withServer } from '../support/serve.ts';

const test = suite('home');
const fail = () => {
  throw new Error('the password is hunter2');
};
const server = sharedServer(test, { routes: [testRoutes({ 'GET /failing': fail })] });
const HTML = { headers: { accept: 'text/html' } };

test('programs get the same JSON as ever from /, and browsers a page', async () => {
  const plain = (await server().ask('/')).json() as { status: string; message: string };
  assert.equal([plain.status, plain.message], ['ok', 'Twinline is running']);
  const { status, headers, text } = await server().ask('/', HTML);
  assert.is(status, 200);
  assert.match(headers['content-type']!, 'text/html');
  assert.match(headers.vary!, 'Accept');
  assert.match(text, 'main');
});

test('visitors in production are told of no menu and no tool, and operators of both', async () => {
  for (const [env, leads] of [
    [PRODUCTION, false],
    [{ ...PRODUCTION, OPERATOR_TOKEN: TOKEN }, true],
  ] as const)
    await withServer({ env }, async ({ ask }) => {
      const { text } = await ask('/', HTML);
      assert.match(text, 'Twinline is running');
      for (const secret of ['wallet', '/simulator', '/studio', 'memory', 'production'])
        assert.not.match(text, secret, secret);
      assert.is(text.includes('href="/inspector"'), leads);
    });
});

test('an error is a page for browsers and JSON for programs', async () => {
  const { status, text, headers } = await server().ask('/nothing', HTML);
  assert.is(status, 404);
  assert.match(text, 'There is no such page');
  assert.match(text, headers['x-request-id']!);
  const plain = await server().ask('/nothing');
  assert.equal([plain.status, (plain.json() as { code: string }).code], [404, 'not-found']);
  const bearer = { headers: { accept: 'text/html', authorization: 'Bearer x' } };
  assert.match((await server().ask('/nothing', bearer)).headers['content-type']!, 'json');
  const failed = await server().ask('/failing', HTML);
  assert.is(failed.status, 500);
  assert.match(failed.text, 'Something went wrong here');
  assert.not.match(failed.text, 'hunter2');
});

test('the search finds keys, settings, errors, routes and parts of guides, also with a letter wrong', async () => {
  const first = async (words: string) => {
    const { text } = await server().ask(`/docs/search?q=${encodeURIComponent(words)}`);
    return /<ol class="lined named"><li><a href="([^"]+)"/.exec(text)?.[1];
  };
  assert.is(await first('USSD_GATEWAYS'), '/docs/guides/operators#settings');
  assert.match((await first('verifyPin'))!, '/docs/services#account-verifyPin');
  assert.is(await first('ERR_TURN_LIMIT'), '/docs/errors#ERR_TURN_LIMIT');
  assert.match((await first('delegation revoke'))!, '/docs#/');
  assert.is(await first('audit log'), '/docs/guides/operators#the-audit-log');
  assert.is(await first('governence'), await first('governance'));
  assert.is(await first('qqqqzzzz'), undefined);
  const { text } = await server().ask(`/docs/search?q=${encodeURIComponent('"><script>x</script>')}`);
  assert.not.match(text, '<script>x');
  for (const strange of ['', '   ', '(', '*'.repeat(99), 'x'.repeat(5_000)])
    assert.is((await server().ask(`/docs/search?q=${encodeURIComponent(strange)}`)).status, 200, strange.slice(0, 9));
});

/** Holds the editor, which others have made. */
const VENDORED = /\/pages\/studio\.js/;

/** Bytes of a page or of a part, compressed, and the parts that it loads; parts are shared by many pages. */
const loaded = new Map<string, { readonly bytes: number; readonly parts: readonly string[] }>();

async function load(address: string) {
  const known = loaded.get(address);
  if (known) return known;
  const { status, text } = await ask(address, { headers: { accept: 'text/html, */*' } });
  assert.is(status, 200, address);
  const parts = [...text.matchAll(/(?:src|href)="(\/pages\/[^"]+)"/g)].map(([, path]) => new URL(path!, address).href);
  const result = { bytes: VENDORED.test(address) ? 0 : gzipSync(text).length, parts: [...new Set(parts)] };
  loaded.set(address, result);
  return result;
}

/** Bytes of a page, compressed, with all scripts and sheets that it loads. */
async function weightOf(url: string): Promise<number> {
  const seen = new Set([url]);
  let bytes = 0;
  for (const address of seen) {
    const part = await load(address);
    bytes += part.bytes;
    for (const other of part.parts) seen.add(other);
  }
  assert.is(seen.size, 3, 'the page, its script and its style sheet');
  return bytes;
}

test('every page is three requests and less than 100 kB compressed, without the parts that others have made', async () => {
  const paths =
    '/ /settings /registry /simulator /chat /inspector /docs /studio /preview /docs/search?q=private /docs/errors'.split(
      ' ',
    );
  for (const path of [...paths, ...Object.keys(GUIDES).map((name) => `/docs/guides/${name}`)]) {
    const bytes = await weightOf(server().url + path);
    assert.ok(bytes < 100_000, `${path}: ${bytes}`);
  }
});

test.run();
