// Size × shape: whatever a node answers, the event loop of the server goes on, memory has a bound, refusals are declared.

import { get } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LIMITS } from '../../lib/limits.ts';
import { type GroveNode, groveNode, type Scripted } from '../server/gateway/node.ts';
import { withFile } from '../server/gateway/place.ts';
import { type RunningServer, startProcess } from '../support/process.ts';
import { SHAPES, SHAPES_SET } from './shapes.ts';

const test = suite('size and shape of replies', { timeoutMs: 300_000 });

/** CPU milliseconds that the main thread may work without a pause. */
const TURN_MS = 100;
const RSS_MB = 1_400;
const MEGABYTE = 1_000_000;
const LARGEST = LIMITS.grpcAnswerBytes - 64;
/** What the gateway's table of errors declares for a reply that it cannot or will not tell. */
const DECLARED = [200, 500, 502, 503, 504];

let node: GroveNode;
let server: RunningServer;
let done = () => {};
let ended: Promise<void>;

test.before(
  () =>
    new Promise<void>((ready, failed) => {
      ended = open(ready);
      ended.catch(failed);
    }),
);
test.after(async () => {
  done();
  await ended;
});

async function open(ready: () => void): Promise<void> {
  node = await groveNode(0, SHAPES_SET);
  await withFile(
    { upstream: node.upstream, deadlineMs: 60_000 },
    async (env) => {
      const given = { DATA_DIR: ':memory:', LOG_LEVEL: 'fatal', RATE_LIMIT_MAX: '1000000' };
      server = await startProcess({ ...given, ...(env as Record<string, string>) }, ['test/gateway/watched-child.ts']);
      ready();
      await new Promise<void>((resolve) => {
        done = resolve;
      });
      await server.kill();
    },
    SHAPES_SET,
  );
  node.stop();
}

interface Answered {
  readonly status: number;
  readonly bytes: number;
  /** The first characters. */
  readonly text: string;
}

function ask(path: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = get(server.url + path, { agent: false }, (res) => {
      let bytes = 0;
      let text = '';
      res.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (text.length < 300) text += chunk.toString('latin1', 0, 300);
      });
      res.on('error', reject);
      res.on('end', () => resolve({ status: res.statusCode!, bytes, text }));
    });
    request.on('error', reject);
  });
}

/** The longest turn since the last look, and the most memory. */
async function look(): Promise<{ readonly turnMs: number; readonly rssMb: number }> {
  const from = server.printed().length;
  process.kill(server.pid, 'SIGUSR2');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const found = /^watched (.*)\n/m.exec(server.printed().slice(from));
    if (found) return JSON.parse(found[1]!) as { turnMs: number; rssMb: number };
  }
}

async function bounded(name: string, work: () => Promise<string>): Promise<void> {
  await look();
  const began = performance.now();
  const what = await work();
  const { turnMs, rssMb } = await look();
  if (process.env.SHAPES_SHOWN)
    console.log(
      name,
      what,
      `turn ${turnMs.toFixed(0)} ms, rss ${rssMb.toFixed(0)} MB, ${(performance.now() - began).toFixed(0)} ms`,
    );
  assert.ok(turnMs < TURN_MS, `the event loop stood still for ${turnMs} ms`);
  assert.ok(rssMb < RSS_MB, `${rssMb} MB`);
}

let asked = 0;
const scripted = (script: Scripted) => {
  node.script = () => script;
};

test('the server is warm', async () => {
  scripted({ bytes: SHAPES['a map of many']!(200_000) });
  for (let nth = 0; nth < 5; nth++) assert.is((await ask(`/shapes/warm-${nth}`)).status, 200);
});

for (const [name, shape] of Object.entries(SHAPES))
  for (const size of [60_000, MEGABYTE, LARGEST])
    test(`${name}, ${size} bytes`, () =>
      bounded(`${name} ${size}`, async () => {
        scripted({ bytes: shape(size) });
        const { status, bytes, text } = await ask(`/shapes/${asked++}`);
        assert.ok(DECLARED.includes(status), `${status}: ${text}`);
        if (status !== 200) assert.match(text, /^\{"code":(4|8|13|14),"message":"[^"]/);
        return `${status} ${bytes} ${status === 200 ? '' : text}`;
      }));

test.run();
