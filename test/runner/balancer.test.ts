// The load balancer does what real ones do: what is proved behind it is proved of requests that were passed on once.

import { createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBalancer } from '../support/balancer.ts';

const test = suite('load balancer');

interface Backend {
  readonly url: string;
  readonly server: Server;
  /** Requests that came, without those for readiness. */
  heard: number;
  isReady: boolean;
}

async function withBackends(
  answer: (backend: Backend) => RequestListener,
  work: (backends: readonly Backend[], ask: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const backends = await Promise.all([0, 1, 2].map(() => startBackend(answer)));
  const balancer = await startBalancer(() => backends.map(({ url }) => url));
  try {
    await work(backends, () => asked(balancer.url));
  } finally {
    await balancer.close();
    for (const { server } of backends) server.closeAllConnections();
    await Promise.all(backends.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  }
}

async function startBackend(answer: (backend: Backend) => RequestListener): Promise<Backend> {
  const server = createServer((req, res) => {
    if (req.url === '/readyz') return void res.writeHead(backend.isReady ? 200 : 503).end();
    backend.heard++;
    answer(backend)(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backend: Backend = { url, server, heard: 0, isReady: true };
  return backend;
}

/** The status and body of the answer, or the code of the error. */
function asked(url: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(`${url}/work`, { method: 'POST', agent: false }, (res) => {
      let text = `${res.statusCode} `;
      res.on('data', (chunk) => (text += chunk));
      res.on('end', () => resolve(text));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
    sent.end('words');
  });
}

const echo = () => async (req: AsyncIterable<Buffer>, res: { end(text: string): void }) => {
  let text = '';
  for await (const chunk of req) text += chunk;
  res.end(text);
};

test('requests are passed on with their bodies, to everybody in turn', () =>
  withBackends(echo as never, async (backends, ask) => {
    for (let at = 0; at < 9; at++) assert.is(await ask(), '200 words');
    assert.equal(
      backends.map(({ heard }) => heard),
      [3, 3, 3],
    );
  }));

test('who says three times that it is not ready gets no more; when all say so, all do', () =>
  withBackends(echo as never, async (backends, ask) => {
    backends[1]!.isReady = false;
    await pause(700);
    for (let at = 0; at < 6; at++) await ask();
    assert.equal(
      backends.map(({ heard }) => heard),
      [3, 0, 3],
    );
    for (const backend of backends) backend.isReady = false;
    await pause(700);
    for (let at = 0; at < 6; at++) assert.is(await ask(), '200 words');
    assert.ok(backends[1]!.heard > 0);
  }));

test('a refused connection is nobody’s loss', () =>
  withBackends(echo as never, async ([first], ask) => {
    first!.server.closeAllConnections();
    await new Promise((resolve) => first!.server.close(resolve));
    for (let at = 0; at < 6; at++) assert.is(await ask(), '200 words');
  }));

test('what was sent is not sent again, whatever becomes of it', () =>
  withBackends(
    () => (req) => void req.socket.destroy(),
    async (backends, ask) => {
      assert.is(await ask(), 'ECONNRESET');
      assert.is(
        backends.reduce((sum, { heard }) => sum + heard, 0),
        1,
      );
    },
  ));

test.run();
