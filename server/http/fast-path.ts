// What every request passes before a door answers it: overload, whose request it is, and the limit of that client; and how requests and
// connections that are refused here are counted and logged. Koa's doors pass it as middleware; USSD and the query gateway answer
// ahead of Koa, for what Koa makes of a request costs them more than their own work (see test/bench).

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context, Middleware, ParameterizedContext } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { callRarely, type Log } from '../telemetry/log.ts';
import type { CutReason, Metrics } from '../telemetry/metrics.ts';
import type { ConnectionOptions } from './connections.ts';
import { REFUSALS, Refusal } from './errors.ts';
import type { LivePlaces } from './guard.ts';
import { OVERLOADED } from './middleware/answer-errors.ts';
import { type Client, type ReadClient, UNCOUNTED } from './middleware/client.ts';
import { type ClientLimiter, type Limiter, type LimiterOptions, rateLimiter } from './middleware/rate-limit.ts';
import { sharedRateLimiter } from './middleware/shared-rate-limit.ts';
import type { Overload } from './overload.ts';
import { livePlaces } from './unsent.ts';

/** Whether a request may pass; `seconds`: when to try again. */
export type Admission =
  | { readonly kind: 'admitted'; readonly client: Client }
  | { readonly kind: 'overloaded'; readonly seconds: number }
  | { readonly kind: 'limited'; readonly seconds: number; readonly client: Client };

export interface AdmissionOptions {
  readonly overload: Pick<Overload, 'isOver'>;
  readonly readClient: ReadClient;
  readonly limiter: ClientLimiter;
}

/** What is not asked of some requests. */
export interface Exceptions {
  /** Answered under overload, too. @default false */
  readonly always?: boolean;
  /** Not counted by the rate limit. @default false */
  readonly uncounted?: boolean;
  /** The operator who asks: counted apart from others at the same address. @default nobody is known */
  readonly operator?: string | undefined;
}

/** Lets a request in, or says why not. Clients of RATE_LIMIT_EXEMPT are not counted here. */
export type Admit = (req: IncomingMessage, exceptions?: Exceptions) => Promise<Admission>;

const REFUSED_AS_OVERLOADED: Admission = { kind: 'overloaded', seconds: 1 };

export function admission({ overload, readClient, limiter }: AdmissionOptions): Admit {
  const count = ({ bucket, network }: Client, operator: string | undefined) =>
    operator === undefined || bucket === UNCOUNTED ? limiter(bucket, network) : limiter(`${operator} at ${bucket}`);
  return async (req, { always = false, uncounted = false, operator } = {}) => {
    if (!always && overload.isOver(req)) return REFUSED_AS_OVERLOADED;
    const client = readClient(req);
    const seconds = client.exempt || uncounted ? 0 : await count(client, operator);
    return seconds === 0 ? { kind: 'admitted', client } : { kind: 'limited', seconds, client };
  };
}

export interface MiddlewareOptions {
  readonly admit: Admit;
  /** What is not asked of a request. */
  readonly exceptions: (ctx: ParameterizedContext) => Exceptions | undefined;
  /** Answers 429 with a page where the client would rather have one; resolves to whether it did. */
  readonly sendWaitPage: (ctx: Context, seconds: number) => Promise<boolean>;
}

/** Lets requests in: 503 under overload, and 429 for one too many of a client, each with `Retry-After`. */
export function admitRequests({ admit, exceptions, sendWaitPage }: MiddlewareOptions): Middleware {
  return async (ctx, next) => {
    const admission = await admit(ctx.req, exceptions(ctx));
    if (admission.kind === 'admitted') return next();
    const { seconds } = admission;
    ctx.set('Retry-After', String(seconds));
    if (admission.kind === 'overloaded') {
      ctx.state.reason = OVERLOADED;
      throw new Refusal('unavailable');
    }
    if (await sendWaitPage(ctx as Context, seconds)) return;
    throw new Refusal('too-many-requests', `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`);
  };
}

/** How a door answers ahead of Koa. */
export interface FastPath {
  answer(exchange: Exchange): Promise<void>;
  /** Called when `answer` rejects; the connection is cut then. */
  onFault(error: unknown, requestId: string): void;
}

/** A request and its answer as Node has them: nothing that Koa makes of a request is needed on a fast path. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The name of the request, for headers and logs. */
  readonly requestId: string;
}

/** Answers the requests that have a fast path, and hands all others to `app`: also those of web pages, which need CORS. */
export function answerAhead(
  app: RequestListener,
  find: (req: IncomingMessage) => FastPath | undefined,
): RequestListener {
  return (req, res) => {
    const path = req.headers.origin === undefined ? find(req) : undefined;
    if (!path) return app(req, res);
    const exchange = { req, res, requestId: requestId(req) };
    path.answer(exchange).catch((error) => {
      path.onFault(error, exchange.requestId);
      res.destroy();
    });
  };
}

const FIT = /^[\w.-]{1,128}$/;
const RUN = randomBytes(6).toString('base64url');
let count = 0;

/** The request's X-Request-Id. */
export function requestId({ headers }: IncomingMessage): string {
  const header = headers['x-request-id'];
  return typeof header === 'string' && FIT.test(header) ? header : `${RUN}.${(++count).toString(36)}`;
}

export interface TurnAwayDeps {
  readonly config: Pick<Config, 'rateLimit'>;
  readonly overload: Pick<Overload, 'isOver' | 'inFlight'>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Where instances count requests together; without it each counts for itself. */
  readonly redis?: RedisConnection | undefined;
}

/** The limit for all doors: one count per client. */
export function openLimiter(deps: TurnAwayDeps): ClientLimiter {
  const { rateLimit } = deps.config;
  const limit = plainLimiter(deps, rateLimit);
  const limitNetwork = plainLimiter(deps, { ...rateLimit, max: rateLimit.max * SERVER_LIMITS.networkShare });
  return async (bucket, network) => {
    if (bucket === UNCOUNTED) return 0;
    const seconds = (await limit(bucket)) || (network === undefined ? 0 : await limitNetwork(network));
    if (seconds > 0) deps.metrics.refused(isCaller(bucket) ? 'phone' : 'address');
    return seconds;
  };
}

// A notice that a session has ended may name no phone.
const isCaller = (bucket: string) => bucket.startsWith('phone ') || bucket.startsWith('session ');

/** The same for dials; an address that is refused is logged, for it may be that of a telecom gateway. */
export function dialLimiter(
  limiter: ClientLimiter,
  { log, clock }: Pick<TurnAwayDeps, 'log' | 'clock'>,
): ClientLimiter {
  const fix = 'If this is your telecom gateway, list it in RATE_LIMIT_EXEMPT: its callers are then limited one by one.';
  const tell = callRarely(
    (address: string, times) =>
      log.warn({ address, times }, `dials are refused: too many requests from one address. ${fix}`),
    clock,
  );
  return async (bucket, network) => {
    const seconds = await limiter(bucket, network);
    if (seconds > 0 && !isCaller(bucket)) tell(bucket);
    return seconds;
  };
}

/** The overload check; it also counts the requests that it refuses, and tells the log now and then: a line for each is work too. */
export function countedOverload({ overload, metrics, log, clock }: TurnAwayDeps): Pick<Overload, 'isOver'> {
  const tell = callRarely(
    (inFlight: number, times) =>
      log.warn({ inFlight, times }, 'requests are turned away: there is more to do than this server can'),
    clock,
  );
  return {
    isOver: (req) => {
      if (!overload.isOver(req)) return false;
      metrics.refused('overload');
      tell(overload.inFlight);
      return true;
    },
  };
}

/** The rules for connections: known proxies and gateways may have any number. */
export function connectionOptions({ metrics, log, clock }: TurnAwayDeps, readClient: ReadClient): ConnectionOptions {
  const logCrowd = callRarely(
    (address: string, times) =>
      log.warn(
        { address, times },
        'connections are refused: this address has too many. A proxy belongs into TRUST_PROXY_CIDRS',
      ),
    clock,
  );
  const logCut = callRarely(
    (reason: CutReason, times) =>
      log.warn(
        { reason, times },
        'connections are cut: their clients do not read the answers, do not send what they began, or send too many requests ahead',
      ),
    clock,
  );
  return {
    clock,
    countedAs: (socket: Socket) => {
      const { bucket, exempt, proxy } = readClient({ socket, headers: {} });
      return exempt || proxy || bucket === UNCOUNTED ? undefined : bucket;
    },
    onRefused: (address) => {
      metrics.refused('connections');
      logCrowd(address);
    },
    onCut: (reason) => {
      metrics.cut(reason);
      logCut(reason);
    },
  };
}

/** Counts the streams and sockets of each client; an address that has too many is logged now and then. */
export function countedLivePlaces({ config, metrics, log, clock }: TurnAwayDeps, readClient: ReadClient): LivePlaces {
  const fix = 'Where many clients share it, raise STREAMS_PER_CLIENT; a proxy belongs into TRUST_PROXY_CIDRS.';
  const tell = callRarely(
    (address: string, times) =>
      log.warn({ address, times }, `streams and sockets are refused: this address has too many. ${fix}`),
    clock,
  );
  const onRefused = (address: string) => {
    metrics.refused('streams');
    tell(address);
  };
  return livePlaces({ readClient, perClient: config.rateLimit.streams, onRefused });
}

function plainLimiter({ redis, metrics, log, clock }: TurnAwayDeps, limit: Omit<LimiterOptions, 'clock'>): Limiter {
  const limits = { ...limit, clock };
  const local = rateLimiter(limits);
  if (!redis) return local;
  const onAway = (error: unknown) => {
    metrics.problem('rate-limit');
    log.warn({ err: error }, 'requests are counted by this instance alone while Redis is away');
  };
  const onBack = () => log.info('requests are counted in Redis again');
  return sharedRateLimiter({ ...limits, redis, local, onAway, onBack });
}
