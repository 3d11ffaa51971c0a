// Requests to receivers that do not end their answer: what is not read holds no connection.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { publicExchange, webhookSender } from '../../lib/http/client.ts';
import { NAME, toHere } from '../server/support/receiver.ts';
import { certificate } from '../support/certificate.ts';
import { until } from '../support/until.ts';

const test = suite('client of other servers');

/** A receiver that answers 200 and then drips bytes for good, or sends them as fast as they are read. */
async function withEndless(
  how: 'drips' | 'floods',
  work: (receiver: { url: string; ca: string; sockets: Set<Socket> }) => Promise<void>,
): Promise<void> {
  const { key, cert } = certificate;
  const sockets = new Set<Socket>();
  const server = createServer({ key, cert }, (request, response) => {
    request.resume();
    response.writeHead(200);
    const piece = 'x'.repeat(how === 'drips' ? 1 : 16_384);
    const timer = setInterval(() => response.write(piece), 5);
    request.socket.on('close', () => clearInterval(timer));
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await work({ url: `https://${NAME}:${port}/`, ca: cert, sockets });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const closed = (sockets: ReadonlySet<Socket>) => until('no connection is open', () => sockets.size === 0);

const posted = { headers: {}, body: '{}' };
const never = new AbortController().signal;

for (const how of ['drips', 'floods'] as const) {
  test(`a webhook whose receiver ${how} is delivered, and its connection ends`, () =>
    withEndless(how, async ({ url, ca, sockets }) => {
      const post = webhookSender({ lookup: toHere, ca, ...(how === 'drips' && { restMs: 50 }) });
      assert.is((await post({ ...posted, url }, never)).status, 200);
      await closed(sockets);
    }));
}

test('an answer that is read has a bound, and a deadline while it is read; then the connection ends', async () => {
  const failure = async (work: Promise<unknown>) =>
    String(await work.catch(({ code, message }) => `${code} ${message}`));
  await withEndless('floods', async ({ url, ca, sockets }) => {
    const asked = publicExchange({ lookup: toHere, ca })({ ...posted, url }, never);
    assert.is(await failure(asked), 'ERR_SERVICE the connection failed: ANSWER_TOO_LONG');
    await closed(sockets);
  });
  await withEndless('drips', async ({ url, ca, sockets }) => {
    const asked = publicExchange({ lookup: toHere, ca })({ ...posted, url }, AbortSignal.timeout(500));
    assert.is(await failure(asked), `ERR_TIMEOUT no answer within ${COMMON_LIMITS.webhookAnswerMs / 1_000} s`);
    await closed(sockets);
  });
});

test.run();
