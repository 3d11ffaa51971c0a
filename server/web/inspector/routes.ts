// GET /inspector and everything that its page asks for: read-only, for operators, and for pages of this server alone.

import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { writeFlowTests } from '../../../lib/flow/testing/update.ts';
import { Refusal } from '../../http/errors.ts';
import type { EventStreams } from '../../http/event-streams.ts';
import { WAITING } from '../../http/guard.ts';
import { ownOriginOnly } from '../../http/middleware/own-origin.ts';
import { takeUpgrade } from '../../http/upgrades.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { sendPage } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { type FeedSource, feed, type StatelySocket } from './feed.ts';
import { makeFlowTest } from './flow-test.ts';
import type { Machines } from './open.ts';
import { inspectorPage, sendStatelyPage } from './page.ts';

export interface InspectorDoor extends FeedSource {
  readonly machines: Machines;
  readonly drawings: Pick<Drawings, 'svg'>;
  readonly streams: EventStreams;
  readonly socket: StatelySocket;
}

const HELLO = 'retry: 1000\n: what is stored here is shown from now on\n\n';

/** Adds the routes of the inspector, behind `operators`. */
export function inspectorRoutes(router: Router, door: InspectorDoor, operators: Middleware): void {
  const guards: Middleware[] = [ownOriginOnly(), operators];
  router.get('/inspector', ...guards, (ctx) => sendPage(ctx, inspectorPage()));
  router.get('/inspector/stately', ...guards, (ctx) => stately(ctx, door));
  router.get('/inspector/stream', ...guards, (ctx) => stream(ctx, door));
  router.get('/inspector/machines', ...guards, (ctx) => {
    ctx.body = { machines: door.machines.list() };
  });
  router.get('/inspector/machines/:file', ...guards, (ctx) => diagram(ctx, door));
  router.get('/inspector/sessions/:actor/flow-test', ...guards, (ctx) => flowTest(ctx, door));
}

// The page, or the socket that Stately's tools read.
function stately(ctx: Context, { socket }: InspectorDoor): Promise<void> | void {
  const upgrade = takeUpgrade(ctx.req);
  if (!upgrade) return sendStatelyPage(ctx);
  ctx.respond = false;
  ctx.status = 101;
  ctx.res.emit(WAITING);
  socket.upgrade(ctx.req, upgrade.socket, upgrade.head);
}

function stream(ctx: Context, door: InspectorDoor): void {
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  if (ctx.method === 'HEAD') return;
  const until = door.now() + PAGE_LIMITS.inspectorStreamMs;
  const definitions = ctx.query.definitions === 'always' ? 'always' : 'once';
  door.streams.serve(ctx, {
    owner: 'inspector',
    hello: HELLO,
    messages: (signal) => frames(feed(door, { signal, definitions })),
    // Whoever signed in long ago shows again who they are.
    mayRead: () => door.now() < until,
  });
}

// A batch is one write.
async function* frames(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield batch.map((text) => `data: ${text}\n\n`).join('');
}

async function diagram(ctx: Context, { drawings }: InspectorDoor): Promise<void> {
  const [, id] = /^(.+)\.svg$/.exec(ctx.params.file!) ?? [];
  if (id === undefined) throw new Refusal('not-found');
  const { focus } = ctx.query;
  const { svg, states, shown, focus: around } = await drawings.svg(id, typeof focus === 'string' ? { focus } : {});
  ctx.set({ 'X-States': String(states), 'X-Shown': String(shown), 'Cache-Control': 'private, no-cache' });
  if (around !== undefined) ctx.set('X-Focus', around);
  ctx.type = 'image/svg+xml';
  ctx.body = svg;
}

async function flowTest(ctx: Context, { hub, machines }: InspectorDoor): Promise<void> {
  const events = hub.events().filter(({ actor }) => actor === ctx.params.actor);
  const machine = events.at(-1)?.machine;
  const compiled = machine === undefined ? undefined : machines.flows().get(machine);
  if (!compiled) throw new Refusal('not-found', 'Nothing of this session was seen: keep the inspector open, and dial');
  const file = await makeFlowTest(compiled, events);
  ctx.body = { name: `${compiled.id}.test.json`, text: writeFlowTests(file) };
}
