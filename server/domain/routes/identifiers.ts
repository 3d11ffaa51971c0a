// GET and POST /1.0/identifiers/{did}: DIDs for everybody, by the HTTP binding of W3C DID Resolution.

import type { Context, Middleware, ParameterizedContext } from 'koa';
import type { Asked, Resolution, Resolver } from '../../../lib/domain/did/resolution.ts';
import { failed, type GivenOptions } from '../../../lib/domain/did/resolution-options.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { ApiKeys } from '../api-keys.ts';
import { authenticate, callerOf } from '../authenticate.ts';
import { readBody } from '../body.ts';
import { problems } from '../problem.ts';
import { answerTo } from '../resolution-answer.ts';

export interface IdentifierDeps {
  readonly keys: ApiKeys;
  readonly resolve: Resolver;
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
}

const PREFIX = '/1.0/identifiers/';
const METHODS = ['GET', 'HEAD', 'POST'];

/** What a router would list. */
export const IDENTIFIER_ROUTES = [
  { method: 'GET', path: `${PREFIX}:did` },
  { method: 'POST', path: `${PREFIX}:did` },
];

/** Everything below /1.0/identifiers, as one middleware. Other paths pass. */
export function identifierDoor({ keys, resolve, onFault }: IdentifierDeps): Middleware {
  const told = problems(onFault);
  const known = authenticate(keys);

  const attempt = async (ctx: Context, asked: Asked): Promise<Resolution> => {
    try {
      return await resolve(asked);
    } catch (error) {
      onFault(error, ctx);
      return failed('INTERNAL_ERROR', 'Something went wrong here. Try again in a moment.');
    }
  };

  const answer = async (ctx: Context): Promise<void> => {
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw refuse('method-not-allowed', `${ctx.path} takes ${METHODS.join(', ')}, not ${ctx.method}.`);
    }
    const options = await optionsOf(ctx);
    const tenant = ctx.state.caller ? callerOf(ctx).tenant : undefined;
    const outcome = await attempt(ctx, { identifier: identifierIn(ctx), options, tenant });
    const { status, type, body, location } = answerTo(outcome, (types) => ctx.accepts(...types));
    ctx.status = status;
    ctx.vary(['Accept', 'Authorization']);
    ctx.set({ 'Content-Type': type, 'Cache-Control': 'no-cache' });
    if (location !== undefined) ctx.set('Location', location);
    ctx.body = body && JSON.stringify(body);
  };

  return (ctx, next) => {
    if (!ctx.path.startsWith(PREFIX)) return next();
    // Nobody needs a key; but whoever sends one is told only of its own tenant.
    const asked = () => answer(ctx);
    return told(ctx, () => (ctx.get('authorization') === '' ? asked() : known(ctx, asked)));
  };
}

// What cannot be decoded is no DID either way.
function identifierIn({ path }: Context): string {
  const text = path.slice(PREFIX.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function optionsOf(ctx: Context): Promise<GivenOptions> {
  const inQuery = [...new URLSearchParams(ctx.querystring)];
  return ctx.method === 'POST' ? [...inQuery, ...(await optionsInBody(ctx))] : inQuery;
}

async function optionsInBody(ctx: Context): Promise<GivenOptions> {
  const { value, text } = await readBody(ctx, { optional: true });
  if (text.trim() === '') return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('bad-request', 'The options are no JSON object.');
  return Object.entries(value).map(([name, option]) => [name, String(option)] as const);
}
