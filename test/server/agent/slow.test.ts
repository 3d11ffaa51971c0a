// Readers that take nothing: what waits for one is bounded, it is cut off, and what it missed is in the log.

import type { ServerResponse } from 'node:http';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { AGENT_ROUTES } from '../../../server/agent/routes.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { eventStreams } from '../../../server/http/event-streams.ts';
import { listen } from '../../../server/http/listen.ts';
import { addRoutes, newRouter } from '../../../server/http/route-table.ts';
import { AGENT_INPUT } from '../../../server/user/input.ts';
import { ANN, framesOf, ground, newSession, say, scripted, shownText } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { readEvents } from '../support/event-reader.ts';
import { readerOf, readOut } from './chats.ts';

const test = suite('slow readers of a reply');

// One frame each.
const PIECE = 'ä'.repeat(16_000);
const PIECES = 500;

test('a reader that takes nothing of 16 MB holds one read, is cut off, and reads the rest when it comes back', async () => {
  const long = scripted(async function* () {
    for (let at = 0; at < PIECES; at++) yield { type: 'text', text: PIECE };
  });
  const agent = await ground().agent(long, { replyBytes: 2 ** 26 });
  const session = await newSession(agent);
  const run = await say(agent, session, 'hi');

  const answers: ServerResponse[] = [];
  const clock = new SimulatedClock();
  const streams = eventStreams({ clock, onProblem: (error) => assert.unreachable(String(error)) });
  const router = newRouter();
  const readers = { admit: () => new AbortController().signal };
  const deps = { agent, streams, readers, readClient: undefined as never, delegations: undefined as never };
  addRoutes(router, AGENT_ROUTES, { deps, guards: { user: (_ctx, next) => next() }, input: AGENT_INPUT });
  const app = new Koa().use((ctx, next) => {
    ctx.state.user = { did: ANN };
    answers.push(ctx.res);
    return next();
  });
  const server = await listen(app.use(router.routes()).callback(), { host: '127.0.0.1', port: 0 });
  try {
    const join = async (after: number) => readerOf(await readEvents(`${server.url}/runs/${run}?after=${after}`, {}));
    const slow = await join(0);
    await slow.until('message');
    slow.pause();
    await agent.idle();
    let most = 0;
    await until('the reader is cut off', async () => {
      most = Math.max(most, answers[0]!.writableLength);
      await clock.advance(SERVER_LIMITS.eventStallMs);
      return answers[0]!.closed;
    });
    // A page of the log, and what it takes to send it as events.
    assert.ok(most > 0 && most < 2 * COMMON_LIMITS.logReadBytes, `${most} bytes wait for a reader`);
    slow.resume();
    assert.is(await slow.ended, 'cut');

    const seen = slow.frames();
    assert.ok(seen.length < PIECES, `${seen.length} frames came before the cut`);
    const rest = await readOut(await join(seen.at(-1)!.n), 'finished');
    assert.is(shownText([...seen, ...rest]).length, PIECES * PIECE.length);
    assert.equal(
      [...seen, ...rest].map(({ data }) => data),
      (await framesOf(agent, run)).map(({ data }) => data),
    );
  } finally {
    streams.close();
    await server.close(1_000);
    await agent.close();
  }
});

test.run();
