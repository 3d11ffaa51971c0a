// GET /inspector and the routes of its page, for operators, from pages of this server only.

import type { Context } from 'koa';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import { writeFlowTests } from '../../../lib/flow/testing/update.ts';
import { type FeedSource, feed } from '../../../lib/inspection/feed.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { readInput } from '../../http/check-input.ts';
import {
  jsonTypes,
  PAGE,
  PAGE_LIMITED,
  PLAIN_ANSWERS,
  REFUSED,
  SIGN_IN_ANSWER,
  UNKNOWN,
} from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { EventStreams } from '../../http/event-streams.ts';
import { WAITING } from '../../http/guard.ts';
import type { RouteAnswer, RouteGroup } from '../../http/route-table.ts';
import { takeUpgrade } from '../../http/upgrades.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { pageRoute } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { CALLER_ROUTES, type CallerDoor } from './caller-routes.ts';
import { makeFlowTest } from './flow-test.ts';
import type { Machines } from './machines.ts';
import type { SessionRequest } from './one-session.ts';
import { inspectorPage, sendStatelyPage } from './page.ts';
import type { StatelySocket } from './socket.ts';

export interface InspectorDoor extends FeedSource, CallerDoor {
  readonly machines: Machines;
  readonly drawings: Pick<Drawings, 'svg' | 'draw'>;
  readonly streams: EventStreams;
  readonly socket: StatelySocket;
  /** Undefined if there is no such live session. */
  readonly showPrivate: (request: SessionRequest) => Promise<JsonObject | undefined>;
  /** False if there is no such live session of a phone. */
  readonly endCall: (request: SessionRequest) => Promise<boolean>;
  /** What a dial starts; the page shows it first. */
  readonly dialled: { readonly flow: string };
}

const HELLO = 'retry: 1000\n: what is stored here is shown from now on\n\n';

const TEXT: Schema = { type: 'string' };

const MACHINE = record('A machine', {
  id: TEXT,
  kind: { enum: ['flow', 'machine', 'lifecycle'] },
  version: { type: 'integer' },
  title: TEXT,
});

const SVG: RouteAnswer = {
  description: 'The drawing; of a large machine the part around one state',
  types: { 'image/svg+xml': TEXT },
  headers: { 'X-States': 'States of the machine', 'X-Shown': 'How many of them are drawn' },
};

/** For operators and own pages only; the guards check both. */
export const INSPECTOR_ROUTES: RouteGroup<InspectorDoor> = {
  tag: 'Inspector',
  description:
    'Sessions, proposals, delegations and runs as they happen, for operators and pages of this server alone. All but one of them only read, and while nobody watches, only the last turns of sessions that failed are remembered. Secrets are left out, private values are masked, phone numbers are shortened, and nothing is shown of what people write to the agent.',
  access: 'operator',
  parameters: {
    file: { description: 'The id of a machine, and `.svg`', schema: { type: 'string', examples: ['main.svg'] } },
    actor: {
      description: 'A session, as the stream names it',
      schema: { type: 'string', examples: ['x:4c73552dbf8a4343'] },
    },
  },
  answers: {
    ...PLAIN_ANSWERS,
    429: PAGE_LIMITED,
    400: { description: 'The page of another site asks, or what was sent is wrong', types: jsonTypes(REFUSED) },
    401: SIGN_IN_ANSWER,
    404: UNKNOWN,
  },
  routes: [
    pageRoute({
      path: '/inspector',
      id: 'getInspector',
      summary: 'Sessions live',
      page: ({ dialled }) => inspectorPage(dialled.flow),
    }),
    {
      method: 'GET',
      path: '/inspector/stream',
      id: 'watch',
      summary: 'What happens, in the format of Stately’s inspector',
      description:
        'Each `data:` is one message: `@xstate.actor`, `@xstate.event` or `@xstate.snapshot`. First come the sessions that live and the last 500 turns that were watched, then every turn once it is stored, of all instances. A client that reads too slowly is cut off.',
      query: {
        definitions: {
          description: '`always`: every actor brings the config of its machine',
          schema: { enum: ['once', 'always'], default: 'once' },
        },
      },
      answers: { 200: { description: 'The stream', types: { 'text/event-stream': TEXT } }, 503: PLAIN_ANSWERS[503] },
      handle: stream,
    },
    {
      method: 'GET',
      path: '/inspector/stately',
      id: 'openStately',
      summary: 'The way to the inspector at stately.ai; as a WebSocket, the stream for Stately’s own tools',
      answers: { 200: PAGE },
      handle: stately,
    },
    {
      method: 'GET',
      path: '/inspector/machines',
      id: 'listMachines',
      summary: 'Flows, machines of your own and lifecycles',
      answers: {
        200: {
          description: 'The machines',
          types: jsonTypes(record('Machines', { machines: { type: 'array', items: MACHINE } })),
        },
      },
      handle: (ctx, { machines }) => {
        ctx.body = { machines: machines.list() };
      },
    },
    {
      method: 'GET',
      path: '/inspector/machines/:file',
      id: 'drawMachine',
      summary: 'A machine as SVG',
      query: { focus: { description: 'The path of a state around which to draw', schema: TEXT } },
      answers: { 200: SVG },
      handle: diagram,
    },
    {
      method: 'GET',
      path: '/inspector/sessions/:actor/flow-test',
      id: 'takeFlowTest',
      summary: 'A session that was watched from its beginning, as a file of flow tests',
      description: 'Dummies stand for secrets and hidden numbers; services answer what they answered.',
      answers: { 200: { description: 'The file', types: jsonTypes(record('A file', { name: TEXT, text: TEXT })) } },
      handle: flowTest,
    },
    ...CALLER_ROUTES,
    {
      method: 'POST',
      path: '/inspector/sessions/:actor/private',
      id: 'showPrivate',
      summary: 'The private variables of a living session; the audit log says who asked',
      answers: {
        200: {
          description: 'Name → value',
          types: jsonTypes(record('Private values', { values: { type: 'object', additionalProperties: true } })),
        },
      },
      handle: async (ctx, door) => {
        const values = await door.showPrivate({ actor: ctx.params.actor!, by: ctx.state.operator });
        if (!values) throw new Refusal('not-found', 'No such session lives');
        ctx.set('Cache-Control', 'no-store');
        ctx.body = { values };
      },
    },
    {
      method: 'DELETE',
      path: '/inspector/sessions/:actor',
      id: 'endCall',
      summary: 'Ends a living session of a phone; the audit log says who ended it',
      description:
        'A turn that runs here is taken first; one that runs elsewhere stores nothing any more. Whoever answers then reads that the session has ended, and may dial again. What services have done stays done.',
      answers: {
        200: {
          description: 'It has ended',
          types: jsonTypes(record('An end', { ended: { const: true } })),
        },
        409: { description: 'Its turns came one after the other; try again', types: jsonTypes(REFUSED) },
      },
      handle: async (ctx, door) => {
        const isEnded = await door.endCall({ actor: ctx.params.actor!, by: ctx.state.operator });
        if (!isEnded) throw new Refusal('not-found', 'No such session of a phone lives');
        ctx.body = { ended: true };
      },
    },
  ],
};

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
  const { definitions } = readInput<{ query: { definitions: 'once' | 'always' } }>(ctx).query;
  door.streams.serve(ctx, {
    owner: 'inspector',
    hello: HELLO,
    messages: (signal) => frames(feed(door, { signal, definitions })),
    // An old sign-in must be checked again.
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
  const { query } = readInput<{ query: { focus?: string } }>(ctx);
  const { svg, states, shown, focus: around } = await drawings.svg(id, query);
  ctx.set({ 'X-States': String(states), 'X-Shown': String(shown), 'Cache-Control': 'private, no-cache' });
  if (around !== undefined) ctx.set('X-Focus', around);
  ctx.type = 'image/svg+xml';
  ctx.body = svg;
}

async function flowTest(ctx: Context, { hub, machines }: InspectorDoor): Promise<void> {
  const events = hub.events().filter(({ actor }) => actor === ctx.params.actor);
  const machine = events.at(-1)?.machine;
  const compiled = machine === undefined ? undefined : machines.served().get(machine);
  if (compiled && !isFlow(compiled))
    throw new Refusal('bad-request', `"${machine}" is a machine of your own: tests beside menus are for flows`);
  if (!compiled) throw new Refusal('not-found', 'Nothing of this session was seen: keep the inspector open, and dial');
  const file = await makeFlowTest(compiled, events);
  ctx.body = { name: `${compiled.id}.test.json`, text: writeFlowTests(file) };
}
