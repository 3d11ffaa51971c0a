// Who counts as an operator: holders of a token; without one, only this machine, and only in development. And what pages of other sites
// may not have a browser do here.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { growing } from '../../../lib/common-limits.ts';
import { shortMac } from '../../../lib/keyring.ts';
import type { Config } from '../../config/config.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { callRarely, type Log } from '../../telemetry/log.ts';
import { REFUSALS, Refusal } from '../errors.ts';
import { clientReader, type ReadClient } from './client.ts';

export interface OperatorRule {
  /** Undefined where there are none. */
  readonly tokens: OperatorTokens | undefined;
  readonly production: boolean;
  readonly readClient: ReadClient;
  /** How browsers reach this server. @default by the host that each asks */
  readonly publicUrl?: string | undefined;
}

/** The tokens that open the routes of operators. */
export interface OperatorTokens {
  /** How the log names their holders: fingerprints, which tell nothing else about the tokens. */
  readonly names: readonly string[];
  /**
   * The name of the token that was given, or undefined when it is none. Too many wrong ones of one address are a refusal
   * with Retry-After; a right one never is, for others may share its address. What keeps guesses from success is how long tokens
   * are, and the limit of requests.
   */
  identify(ctx: Context, token: string): string | undefined;
  /** The name of the token in an Authorization header; undefined where there is none or a wrong one, which is not counted. */
  recognize(authorization: string): string | undefined;
}

export interface OperatorTokensOptions {
  /** For fingerprints. */
  readonly key: Buffer;
  readonly readClient: ReadClient;
  /** Called with the address of each wrong token. */
  readonly onWrong?: (address: string) => void;
  /** Milliseconds that only go forward. @default performance.now */
  readonly now?: () => number;
}

/** The rule of a configuration; the log is told of guesses. */
export function operatorRule(
  config: Pick<Config, 'trustedProxies' | 'production' | 'publicUrl' | 'operatorTokens' | 'rateLimit' | 'keyring'>,
  { log, clock }: { readonly log: Pick<Log, 'warn'>; readonly clock: Pick<Clock, 'monotonic'> },
): OperatorRule {
  const { trustedProxies: proxies, production, publicUrl, operatorTokens: tokens } = config;
  const readClient = clientReader({ ...config.rateLimit, proxies });
  const onWrong = callRarely(
    (address: string, times) => log.warn({ address, times }, 'wrong tokens of operators: somebody may be guessing'),
    clock,
  );
  const key = config.keyring.subkey('operator-pass/v1')!;
  return {
    production,
    publicUrl,
    readClient,
    tokens: tokens.length ? operatorTokens(tokens, { key, readClient, onWrong, now: clock.monotonic }) : undefined,
  };
}

const { operatorFailures, operatorFailureMs } = SERVER_LIMITS;

export function operatorTokens(tokens: readonly string[], options: OperatorTokensOptions): OperatorTokens {
  const { key, readClient, onWrong, now = () => performance.now() } = options;
  const operators = tokens.map((token) => ({
    name: `token ${shortMac(key, ['fingerprint', token]).slice(0, 8)}`,
    matches: secretCheck(token),
  }));
  const failures = new LRUCache<string, { count: number; until: number }>(growing(SERVER_LIMITS.countedClients));
  // All are compared, whichever is right.
  const findName = (token: string) => operators.filter(({ matches }) => matches(token))[0]?.name;
  return {
    names: operators.map(({ name }) => name),
    recognize(authorization) {
      const token = readBearer(authorization);
      return token === undefined ? undefined : findName(token);
    },
    identify(ctx, token) {
      const name = findName(token);
      if (name !== undefined) return name;
      const { bucket, address } = readClient(ctx.req);
      const at = now();
      const earlier = failures.get(bucket);
      const failure = earlier && at < earlier.until ? earlier : { count: 0, until: at + operatorFailureMs };
      if (failure.count >= operatorFailures) {
        ctx.set('Retry-After', String(Math.ceil((failure.until - at) / 1_000)));
        throw new Refusal('too-many-requests', 'Too many wrong tokens of operators came from this address. Try later');
      }
      failure.count++;
      failures.set(bucket, failure);
      onWrong?.(address);
      return undefined;
    },
  };
}

/**
 * Lets operators through, named in `ctx.state.operator`; others get 401 where there is a token, 404 where there is none, and pages
 * of other origins 400: operators visit those, too.
 */
export function operatorsOnly(rule: OperatorRule): Middleware {
  const ownOrigin = ownOriginOnly(rule.publicUrl);
  if (rule.tokens) {
    const holders = tokenHolders(rule.tokens);
    return (ctx, next) => ownOrigin(ctx, () => holders(ctx, next) as Promise<unknown>);
  }
  return (ctx, next) => {
    ctx.state.operator = readLocalOperator(ctx, rule);
    if (ctx.state.operator === undefined) throw new Refusal('not-found');
    ctx.set('Cache-Control', 'no-store');
    return ownOrigin(ctx, next);
  };
}

/** `loopback` for clients of this machine in development, where they count as operators; else undefined. */
export function readLocalOperator(ctx: Pick<Context, 'req' | 'get'>, rule: OperatorRule): 'loopback' | undefined {
  if (rule.production || rule.tokens) return undefined;
  const isHere = rule.readClient(ctx.req).loopback && isAskedLocally(ctx.req.headers);
  return isHere ? 'loopback' : undefined;
}

function tokenHolders(tokens: OperatorTokens): Middleware {
  return (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    const token = readBearer(ctx.get('authorization'));
    ctx.state.operator = token === undefined ? undefined : tokens.identify(ctx as Context, token);
    if (ctx.state.operator !== undefined) return next();
    ctx.set('WWW-Authenticate', 'Bearer realm="operator"');
    throw new Refusal('unauthorized', `${REFUSALS.unauthorized.words}: send Authorization: Bearer <OPERATOR_TOKEN>`);
  };
}

/** Whether an Authorization header carries this secret as its bearer token. */
export function bearerCheck(secret: string): (authorization: string) => boolean {
  const matches = secretCheck(secret);
  return (authorization) => {
    const token = readBearer(authorization);
    return token !== undefined && matches(token);
  };
}

function readBearer(authorization: string): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
}

// How long it takes says nothing about the secret: lengths are equal for the comparison, for any text.
function secretCheck(secret: string): (text: string) => boolean {
  const expected = digest(secret);
  return (text) => timingSafeEqual(digest(text), expected);
}

const digest = (text: string) => createHash('sha256').update(text).digest();

// A page of another site can reach this machine by a name of its own that leads here, but not by ours.
const LOCAL_NAME = /^(localhost|[\w-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;

/**
 * Whether a browser asked this machine by its own name, as somebody does who sits at it or has a tunnel to it: behind a proxy that
 * says so, everybody's socket comes from the proxy.
 */
export function isAskedLocally({ host = '', ...headers }: IncomingHttpHeaders): boolean {
  return headers['x-forwarded-for'] === undefined && headers.forwarded === undefined && LOCAL_NAME.test(host);
}

/**
 * Whether the header `Origin` names this server: the origin of `publicUrl`, and the host that was asked where that is a name of this
 * machine or there is no `publicUrl`. Undefined without the header.
 */
function namesThisServer(headers: IncomingHttpHeaders, publicUrl: string | undefined): boolean | undefined {
  const { origin, host } = headers;
  if (origin === undefined) return undefined;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true;
  const countsHost = publicUrl === undefined || isAskedLocally(headers);
  return countsHost && URL.canParse(origin) && new URL(origin).host === host;
}

/** Whether a page of another origin asks. Following a link that leads here does not count. */
export function isForeign(headers: IncomingHttpHeaders, publicUrl?: string): boolean {
  const isOwnPage = namesThisServer(headers, publicUrl);
  if (isOwnPage !== undefined) return !isOwnPage;
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  return !isOwn && headers['sec-fetch-mode'] !== 'navigate';
}

/** Refuses what pages of other origins ask for. */
export function ownOriginOnly(publicUrl: string | undefined): Middleware {
  return (ctx, next) => {
    if (isForeign(ctx.req.headers, publicUrl))
      throw new Refusal('bad-request', 'Only pages of this server may read this: the header Origin names another');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    return next();
  };
}

/** Lets through only what a page of this server posts as JSON. Cookies with `SameSite=Strict` protect the same routes. */
export function ownPagesOnly(publicUrl: string | undefined): Middleware {
  return (ctx, next) => {
    const site = ctx.get('sec-fetch-site');
    if (!namesThisServer(ctx.req.headers, publicUrl) || (site !== '' && site !== 'same-origin'))
      throw new Refusal('bad-request', 'Only pages of this server may ask for this: the header Origin names another');
    // Forms of other sites cannot send this type.
    if (!ctx.is('application/json')) throw new Refusal('unsupported-media-type');
    return next();
  };
}
