// `twinline inspect`: an address with a token, which alone lets anybody look, and only from here.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { startProcess } from '../../support/process.ts';
import { run } from '../support/command.ts';
import { readEvents } from '../support/event-reader.ts';
import { TOKEN } from '../support/production.ts';
import { ask, DIAL, withServer } from '../support/serve.ts';

const test = suite('twinline inspect');

const upgraded = (url: string) =>
  new Promise<number>((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on('message', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_req, res) => resolve(res.statusCode!));
    socket.on('error', reject);
  });

test('it hands the inspector on to who has its address, and to nobody else', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN } }, async (server) => {
    const inspector = await startProcess({ OPERATOR_TOKEN: TOKEN }, [
      'server/cli/main.ts',
      'inspect',
      '--url',
      server.url,
      '--session',
      's 1',
      '--stately',
    ]);
    try {
      const [address] = /http:\S+token=\S+/.exec(inspector.printed())!;
      assert.ok(address!.endsWith('#session=s%201'), address);
      assert.not.ok(inspector.printed().includes(TOKEN));
      const { origin, searchParams } = new URL(address!);
      const token = searchParams.get('token')!;

      for (const path of ['/inspector', '/inspector/stream', '/inspector/machines', '/pages/page.css'])
        assert.is((await ask(origin + path)).status, 403, path);
      const other = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`;
      assert.is((await ask(`${origin}/inspector?token=${other}`)).status, 403);

      const welcomed = await ask(`${origin}/inspector?token=${token}`);
      assert.is(welcomed.status, 303);
      assert.is(welcomed.headers.location, '/inspector', 'the token leaves the address');
      const [given] = [welcomed.headers['set-cookie']].flat() as string[];
      assert.match(given!, /HttpOnly; SameSite=Strict/);
      const cookie = given!.split(';')[0]!;
      const page = await ask(`${origin}/inspector`, { headers: { cookie } });
      assert.is(page.status, 200);
      assert.match(page.headers['content-security-policy']!, /script-src 'self'/);

      const bad: Record<string, string>[] = [
        { host: 'evil.example' },
        { host: `localhost:${new URL(origin).port}` },
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      ];
      for (const headers of bad)
        assert.is(
          (await ask(`${origin}/inspector`, { headers: { cookie, ...headers } })).status,
          403,
          JSON.stringify(headers),
        );
      assert.is((await ask(`${origin}/inspector`, { method: 'POST', headers: { cookie } })).status, 403);
      assert.is((await ask(`${origin}/api/ussd/sessions`, { headers: { cookie } })).status, 404);
      assert.is((await ask(`${origin}/pages/../api/ussd/sessions`, { headers: { cookie } })).status, 404);

      const seen = await readEvents(`${origin}/inspector/stream`, { cookie });
      await server.ussd({ ...DIAL, sessionId: 'from-afar' });
      await seen.until(() => JSON.stringify(seen.blocks).includes('from-afar'));
      await seen.close();

      const socket = `${origin.replace('http', 'ws')}/inspector/stately`;
      assert.is(await upgraded(socket), 403);
      for (const target of ['//[', '//[?token=x']) {
        assert.is(await upgraded(`${origin.replace('http', 'ws')}${target}`), 403, 'also what no URL begins with');
        assert.is((await ask(`${origin}${target}`, { headers: { cookie } })).status, 403);
      }
      assert.is(await upgraded(`${socket}?token=${token}`), 101);
    } finally {
      assert.is(await inspector.signal('SIGINT'), 0);
    }
  }));

test('it says what is missing: a server, its token', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN } }, async ({ url }) => {
    for (const [code, words, ...args] of [
      [1, /set the same one here/, '--url', url],
      [1, /Is the server running/, '--url', 'http://127.0.0.1:1'],
      [2, /is no address/, '--url', 'nowhere'],
      [2, /is no port/, '--port', 'x', '--url', url],
    ] as const) {
      const ran = await run(['inspect', ...args]);
      assert.is(ran.code, code, ran.err);
      assert.match(ran.err, words);
    }
  }));

test.run();
