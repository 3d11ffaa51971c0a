// The USSD gateway over HTTP: each telecom dialect on its own route, read and answered by its adapter.
//
// This is the hot path of the server. It reads bodies itself, bypasses Koa's response object, and does itself what middleware
// does for other routes; measured in test/bench.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Adapter, AdapterRoute, RawReply, UssdReply } from '../../lib/ussd/adapter.ts';
import { conEnd, FORBIDDEN, INVALID_INPUT, TOO_MANY, UNAVAILABLE } from '../../lib/ussd/reply.ts';
import { isTextTooLong, type RawRequest, type UssdRequest } from '../../lib/ussd/request.ts';
import type { TurnAbout, UssdService } from '../../lib/ussd/service.ts';
import { Refusal } from '../http/errors.ts';
import { type Admit, type Exchange, type FastPath, requestId } from '../http/fast-path.ts';
import { nameSpan } from '../http/guard.ts';
import type { Limiter } from '../http/middleware/rate-limit.ts';
import { listRoutes, newRouter, type ServedRoute } from '../http/route-table.ts';
import type { Log } from '../telemetry/log.ts';
import type { GatewayRefusal, Metrics, TurnOutcome } from '../telemetry/metrics.ts';
import { readUssdBody, type UssdBody } from './body.ts';
import { type DialectPlace, dialectRoutes, PLAIN_DIALECT, USSD_BASE } from './dialects.ts';
import { EVERYBODY, type ForbiddenRequest, type UssdGateways } from './gateways.ts';
import type { OperatorNotes } from './operator-routes.ts';

export interface UssdDoor {
  readonly ussd: UssdService;
  /** Decides who may speak for callers. */
  readonly gateways: UssdGateways;
  /** Called for each request of a gateway that is not allowed. */
  readonly onForbidden: (request: ForbiddenRequest) => void;
  readonly adapters: Readonly<Record<string, Adapter>>;
  readonly admit: Admit;
  /** Like `admit`, without counting: Koa's middleware has counted these requests. */
  readonly admitOperator: Admit;
  /** Rate-limits the callers of gateways exempt from the limit per address. */
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly log: Log;
  /** HTTP status of "Service temporarily unavailable". */
  readonly errorStatus: number;
  /** For browsers; telecom gateways send no Origin. */
  readonly cors: Middleware;
  /** Audits simulated phones. */
  readonly notes: Pick<OperatorNotes, 'simulated'> | undefined;
}

/** Prefix of session ids of simulated phones. */
const SIMULATED = 'sim-';

const SIMULATOR_BASE = '/simulator/dial';
const NO_QUERY = new URLSearchParams();

export type UssdRoutes = Middleware & {
  /** Knows the methods of each path. */
  readonly router: Router;
  readonly routes: readonly ServedRoute[];
  /** Serves POST USSD_BASE, almost all requests. */
  readonly plain: FastPath;
  /** For simulated phones; callers must have authenticated the operator. */
  readonly simulated: SimulatedDoor;
};

export interface SimulatedDoor {
  /** The plain endpoint. */
  readonly dial: Middleware;
  /** Answers as if the gateway of a dialect had asked. Throws {@link Refusal} for an unknown dialect. */
  readonly ask: (request: SimulatedRequest, ctx: Context) => Promise<RawReply>;
}

/** A request under the path of a dialect, and what its dial starts. */
export interface SimulatedRequest extends Pick<RawRequest, 'method'> {
  readonly dialect: string;
  /** '' or starts with a slash. */
  readonly path: string;
  readonly query?: string;
  /** Media type of the body. */
  readonly type?: string;
  readonly body?: string;
  readonly begin?: TurnAbout['begin'];
}

/** The routes of all dialects under USSD_BASE; other requests pass through. */
export function ussdRoutes(door: UssdDoor): UssdRoutes {
  const router = newRouter();
  const adapter = door.adapters[PLAIN_DIALECT]!;
  for (const place of dialectRoutes(door.adapters)) addDialectRoute(router, place, door);
  // The match is known without the router, and nothing of Koa's context is needed.
  const plain: FastPath = {
    answer: server(USSD_BASE, { method: 'POST', path: '' }, { door, adapter }),
    onFault: (error, id) => door.log.warn({ err: error, requestId: id }, 'a response failed'),
  };
  // Koa's middleware has counted this request and read its body.
  const trusted: UssdDoor = { ...door, gateways: EVERYBODY, admit: door.admitOperator, limiter: async () => 0 };
  const take = taker(SIMULATOR_BASE, { method: 'POST', path: '' }, { door: trusted, adapter });
  const dial: Middleware = async (ctx) => {
    const body: UssdBody = { kind: 'text', text: (ctx.request.rawBody as string | undefined) ?? '' };
    const { operator, requestId: id } = ctx.state;
    const { raw } = (await take({ req: ctx.req, id, read: async () => body, simulatedBy: operator }))!;
    ctx.status = raw.status;
    ctx.set({ 'Content-Type': raw.type, 'Cache-Control': 'no-store' });
    ctx.body = raw.body;
  };
  const ask: SimulatedDoor['ask'] = async (
    { dialect, method, path, query, type, body = '', begin },
    { req, state },
  ) => {
    const dialectAdapter = Object.hasOwn(door.adapters, dialect) ? door.adapters[dialect] : undefined;
    if (!dialectAdapter) throw new Refusal('bad-request', `There is no dialect ${JSON.stringify(dialect)}`);
    const headers = type === undefined ? {} : { 'content-type': type };
    const segments = path.split('/').slice(1).map(decodeSegment);
    const raw = { method, path: segments, query: new URLSearchParams(query), headers, body: '' };
    const takeOne = taker(SIMULATOR_BASE, { method: 'POST', path: '' }, { door: trusted, adapter: dialectAdapter });
    const read = async (): Promise<UssdBody> => ({ kind: 'text', text: body });
    return (await takeOne({ req, id: state.requestId, read, raw, begin, simulatedBy: state.operator }))!.raw;
  };
  const simulated: SimulatedDoor = { dial, ask };
  return Object.assign(router.routes() as Middleware, { routes: listRoutes(router), router, plain, simulated });
}

interface Dialect {
  readonly door: UssdDoor;
  readonly adapter: Adapter;
}

function addDialectRoute(router: Router, { adapter, base, route, method, path }: DialectPlace, door: UssdDoor): void {
  const serve = server(base, route, { door, adapter });
  const answer: Middleware = async (ctx) => {
    ctx.respond = false;
    if (ctx.req.headers.origin !== undefined) await door.cors(ctx, async () => {});
    await serve({ req: ctx.req, res: ctx.res, requestId: requestId(ctx.req) });
  };
  const layer = router.register(path, [method], [answer], router.opts);
  // The router adds HEAD to GET, but for a dialect that uses GET, HEAD would take a turn and lose its reply.
  if (layer) layer.methods = [method];
}

type Serve = (exchange: Exchange) => Promise<void>;

function server(base: string, route: AdapterRoute, dialect: Dialect): Serve {
  const take = taker(base, route, dialect);
  return async ({ req, res, requestId: id }) => {
    const answer = await take({ req, id, read: readUssdBody });
    if (answer) send(res, answer, id);
  };
}

/**
 * Takes and counts a request; undefined if the sender disconnected. Rejects, with a {@link Refusal}, only for simulated
 * phones.
 */
type Take = (arrival: Arrival) => Promise<TurnAnswer | undefined>;

interface Arrival {
  readonly req: IncomingMessage;
  readonly id: string;
  readonly read: (req: IncomingMessage) => Promise<UssdBody>;
  /** Replaces what is read from the request. */
  readonly raw?: Writable<RawRequest>;
  readonly begin?: TurnAbout['begin'];
  /** The operator who simulates the phone. @default a real phone */
  readonly simulatedBy?: string;
}

function taker(base: string, route: AdapterRoute, { door, adapter }: Dialect): Take {
  const { ussd, gateways, onForbidden, admit, limiter, metrics, log, errorStatus, notes } = door;
  const check = gateways.findCheck(adapter.name);
  const isDebug = log.isLevelEnabled('debug');
  const template = base + route.path;

  const refuse = (raw: RawRequest, reply: UssdReply, outcome: TurnOutcome): TurnAnswer => {
    const status = reply === TOO_MANY ? 429 : reply === UNAVAILABLE ? errorStatus : 200;
    return { raw: { ...adapter.refuse(reply, raw), status }, outcome };
  };

  const forbid = (address: string, reason: GatewayRefusal): TurnAnswer => {
    onForbidden({ dialect: adapter.name, address, reason });
    return { raw: { ...conEnd(FORBIDDEN), status: 403 }, outcome: 'forbidden' };
  };

  const noteSimulated = async (by: string, request: UssdRequest): Promise<void> => {
    const { sessionId, event } = request;
    if (!sessionId.startsWith(SIMULATED))
      throw new Refusal('bad-request', `The session id of a simulated phone must start with ${SIMULATED}`);
    if (notes && event === 'turn' && !(await ussd.locate(sessionId))) await notes.simulated(by, adapter.name, request);
  };

  const answer: Take = async ({ req, id, read, begin, simulatedBy, ...arrival }) => {
    const raw = arrival.raw ?? rawRequest(req, { base, method: route.method });
    const admission = await admit(req);
    if (admission.kind === 'overloaded')
      return { ...refuse(raw, UNAVAILABLE, 'unavailable'), retryAfter: admission.seconds };
    if (admission.kind === 'limited') return { ...refuse(raw, TOO_MANY, 'limited'), retryAfter: admission.seconds };
    const { client } = admission;
    const credential = check(req, client.address);
    if (credential.kind === 'refused') return forbid(client.address, credential.reason);
    const body = await read(req);
    if (body.kind === 'gone') return undefined;
    if (credential.kind === 'signed' && !(body.kind === 'text' && credential.fits(body.text)))
      return forbid(client.address, 'signature');
    if (body.kind === 'refused') return refuse(raw, INVALID_INPUT, 'invalid');
    raw.body = body.text;
    let request: UssdRequest;
    try {
      request = adapter.read(raw);
    } catch (error) {
      log.info({ err: error, dialect: adapter.name }, 'refused a USSD request');
      return refuse(raw, INVALID_INPUT, isTextTooLong(error) ? 'too-long' : 'invalid');
    }
    // End-of-session notices may lack a phone number; count them per session instead.
    const caller = request.phoneNumber === '' ? `session ${request.sessionId}` : `phone ${request.phoneNumber}`;
    const retryAfter = client.exempt ? await limiter(caller) : 0;
    if (retryAfter > 0) return { ...refuse(raw, TOO_MANY, 'limited'), retryAfter };
    const isSimulated = simulatedBy !== undefined;
    if (isSimulated) await noteSimulated(simulatedBy, request);
    if (request.text === '' && request.event === 'turn') metrics.dial(adapter.name);
    const reply = await ussd.turn(request, adapter.name, { requestId: id, begin, simulated: isSimulated });
    if (reply === UNAVAILABLE) {
      return { raw: { ...adapter.write(reply, request), status: errorStatus }, outcome: 'unavailable' };
    }
    return { raw: adapter.write(reply, request), outcome: reply === INVALID_INPUT ? 'invalid' : reply.kind };
  };

  return async (arrival) => {
    const { req, id } = arrival;
    const startedAt = performance.now();
    nameSpan({ method: route.method, route: template, requestId: id });
    let turnAnswer: TurnAnswer | undefined;
    try {
      turnAnswer = await answer(arrival);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      metrics.problem('ussd');
      log.error({ err: error, dialect: adapter.name }, 'a USSD request failed');
      turnAnswer = refuse(rawRequest(req, { base, method: route.method }), UNAVAILABLE, 'unavailable');
    }
    if (!turnAnswer) return undefined;
    const ms = Math.round((performance.now() - startedAt) * 100) / 100;
    metrics.turn(adapter.name, turnAnswer.outcome, ms);
    if (isDebug) log.debug({ method: req.method, route: template, status: turnAnswer.raw.status, ms, requestId: id });
    return turnAnswer;
  };
}

interface TurnAnswer {
  readonly raw: RawReply;
  readonly outcome: TurnOutcome;
  /** Seconds. */
  readonly retryAfter?: number;
}

function rawRequest(req: IncomingMessage, { base, method }: { base: string; method: string }): Writable<RawRequest> {
  const url = req.url!;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return {
    method,
    path:
      path.length > base.length
        ? path
            .slice(base.length + 1)
            .split('/')
            .map(decodeSegment)
        : [],
    query: mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1)),
    headers: req.headers as Readonly<Record<string, string | undefined>>,
    body: '',
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

// Writes one flat array of raw headers: no lookup, merge or second validation.
function send(res: ServerResponse, { raw, retryAfter }: TurnAnswer, id: string): void {
  const { status, type, headers, body } = raw;
  const list = [
    'Content-Type',
    type,
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'X-Request-Id',
    id,
  ];
  if (headers) for (const name in headers) list.push(name, headers[name]!);
  if (retryAfter !== undefined) list.push('Retry-After', String(retryAfter));
  res.writeHead(status, list);
  res.end(body);
}
