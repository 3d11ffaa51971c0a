// More than the server can do: it turns work away in words that callers understand, keeps the order of what waits, and says that it lives.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { overloadWatch, waitingRequests } from '../../../server/http/overload.ts';
import { until } from '../../support/until.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('overload');

const WITHOUT_END = 600_000;

/** Stops this thread for so long, without using the processor. */
const stall = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const DOORS: Readonly<Record<string, RegExp>> = {
  '/v1/domains': /^application\/problem\+json.*"status":503/,
  '/sessions': /^application\/json.*"code":"unavailable"/,
  '/nowhere': /^application\/json.*"code":"unavailable"/,
};

test('what waited too long is 503 with Retry-After in the form of its door; probes are answered, and one line is logged', () => {
  const overload = { requestsAtOnce: 0, requestWaitMs: 0, loopDelayMs: WITHOUT_END };
  return withServer({ overload, env: { USSD_ERROR_STATUS: '503' } }, async (server) => {
    for (const [path, form] of Object.entries(DOORS)) {
      const { status, headers, text } = await server.ask(path);
      assert.equal([status, headers['retry-after']], [503, '1'], path);
      assert.match(`${headers['content-type']} ${text}`, form, path);
    }
    const ussd = await server.ask('/api/ussd', json(DIAL));
    assert.equal([ussd.status, ussd.headers['retry-after']], [503, '1']);
    assert.is(ussd.text, 'END Service temporarily unavailable. Please try again later.');
    for (const probe of ['/livez', '/health', '/']) assert.is((await server.ask(probe)).status, 200);
    assert.equal(
      server.logged.filter(({ status, msg }) => status === 503 || /turned away/.test(`${msg}`)).map(({ msg }) => msg),
      ['requests are turned away: there is more to do than this server can'],
    );
  });
});

/** The queue of a server that works on `most` requests at a time, each of which takes `workMs` to begin. */
function openQueue({ most, waitMs = WITHOUT_END, workMs = 0 }: { most: number; waitMs?: number; workMs?: number }) {
  const begun: string[] = [];
  const overload = { inFlight: 0, most, isFull: false, overdue: new WeakSet<IncomingMessage>(), waitMs };
  const begin = ({ url }: IncomingMessage) => {
    overload.inFlight++;
    if (workMs) stall(workMs);
    begun.push(url!);
  };
  const queue = waitingRequests<ServerResponse>({ overload, begin });
  const enter = (url: string) => {
    const [req, res] = [{ url, socket: { destroyed: false } }, { destroyed: false }];
    queue.enter(req as never, res as never);
    return { req: req as never as IncomingMessage, hangUp: () => Object.assign(res, { destroyed: true }) };
  };
  const answer = () => {
    overload.inFlight--;
    queue.left();
  };
  return { begun, overload, enter, answer };
}

test('a request that waits begins when another is answered, in its order; one whose client hung up never does', async () => {
  const { begun, overload, enter, answer } = openQueue({ most: 2 });
  const [, , , d] = ['a', 'b', 'c', 'd', 'e'].map(enter);
  await until('the queue to be full', () => overload.isFull);
  assert.equal(begun, ['a', 'b']);
  d!.hangUp();
  for (const next of ['c', 'e']) {
    answer();
    await until(`${next} to begin`, () => begun.includes(next));
  }
  assert.equal(begun, ['a', 'b', 'c', 'e']);
});

test('a request that waited too long begins, to be refused, though there is no place for it', async () => {
  const { begun, overload, enter } = openQueue({ most: 0, waitMs: 0 });
  const { req } = enter('a');
  await until('it to begin', () => begun.length > 0);
  assert.ok(overload.overdue.has(req));
});

test('of requests that come all at once, few begin in one turn of the event loop: a probe of its health waits for no more', async () => {
  const { begun, enter } = openQueue({ most: 1_000, workMs: 5 });
  for (let at = 0; at < 100; at++) enter(`${at}`);
  assert.is(begun.length, 1, 'as soon as one took longer than a short turn');
  await turn();
  assert.ok(begun.length < 20, `${begun.length}`);
  await until('all to begin', () => begun.length === 100);
  assert.equal(
    begun,
    Array.from({ length: 100 }, (_, at) => `${at}`),
  );
});

test('while the event loop comes late more than a few requests are turned away, then none', async () => {
  const logged: string[] = [];
  const log = { warn: (_fields: object, msg: string) => logged.push(msg) };
  const watch = overloadWatch(log as never, { loopDelayMs: 250, requestsWhenLate: 2 });
  const isOver = (inFlight: number) => {
    watch.inFlight = inFlight;
    return watch.isOver({} as never);
  };
  watch.begin();
  try {
    assert.is(isOver(3), false);
    await until('a late event loop to be noticed', () => {
      stall(300);
      return isOver(3);
    });
    assert.is(isOver(2), false, 'there is little to do');
    assert.is(logged[0], 'the event loop is late; shedding load');
    await until('it to be in time again', () => !isOver(3));
  } finally {
    watch.stop();
  }
});

test.run();
