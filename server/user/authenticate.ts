// Authenticates users of the agent service: the DID behind an invocation or, if allowed, a delegation.

import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { TurnSecrets } from '../../lib/agent/responder.ts';
import type { Checked, TokenGuard } from '../../lib/delegation/guard.ts';
import type { TokenReason } from '../../lib/delegation/reason.ts';
import { AgentError, plainAgentError } from './errors.ts';

/** Fixed messages: clients compare them. */
export const MISSING =
  'Missing UCAN authentication: provide Authorization: Bearer <invocation> with X-Auth-Type: ucan, or an x-ucan-delegation header';
export const INVALID = 'Invalid UCAN invocation';

/** How long a token counts. */
export interface TokenLife {
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** A revocation of one of them ends it. */
  readonly keys: readonly string[];
}

/** An authenticated user, and the life of the token that was accepted. */
export interface AgentUser extends TokenLife {
  readonly did: string;
  /** A delegation that came along with an invocation, by the same issuer, where a delegation alone is sufficient. */
  readonly beside?: TokenLife;
  /** Tokens that may be needed downstream; never logged or stored. */
  readonly secrets: TurnSecrets;
}

/** The tokens of a request or handshake. */
export interface PresentedTokens {
  readonly invocation?: string | undefined;
  readonly delegation?: string | undefined;
}

export interface AuthOptions {
  readonly guard: TokenGuard;
  /** Whether a delegation alone is sufficient. */
  readonly delegationAuth: boolean;
  /** Called with the reason for a refusal, which clients do not see. */
  readonly onRefused?: (reason: TokenReason | 'missing') => void;
  /** Called with the kind of token that authenticated the user. */
  readonly onAccepted?: (token: 'invocation' | 'delegation') => void;
}

/**
 * The user behind the tokens; throws 401 with one of the two fixed messages, or 503 when the tokens cannot be checked now. A
 * delegation does not make up for an invalid invocation; an invalid delegation next to a valid invocation is ignored.
 */
export async function authenticateUser(options: AuthOptions, tokens: PresentedTokens): Promise<AgentUser> {
  const { guard, delegationAuth, onAccepted } = options;
  const { invocation, delegation } = tokens;
  if (invocation === undefined && (delegation === undefined || !delegationAuth)) throw tokenError(options, 'missing');
  const [token, verdict] =
    invocation === undefined
      ? (['delegation', await guard.checkDelegation(delegation!)] as const)
      : (['invocation', await guard.checkInvocation(invocation)] as const);
  if (!verdict.ok) throw tokenError(options, verdict.reason);
  onAccepted?.(token);
  const second =
    token === 'invocation' && delegation !== undefined ? await guard.checkDelegation(delegation) : undefined;
  const beside = second?.ok && second.issuer === verdict.issuer ? second : undefined;
  const ownDelegation = token === 'delegation' || beside;
  return {
    did: verdict.issuer,
    ...readLife(verdict),
    ...(beside && delegationAuth && { beside: readLife(beside) }),
    secrets: {
      ...(token === 'invocation' && { invocation: invocation! }),
      ...(ownDelegation && { delegation: delegation! }),
    },
  };
}

function readLife({ expiresAt, revocationKeys }: Checked): TokenLife {
  return { expiresAt: expiresAt * 1000, keys: revocationKeys };
}

function tokenError({ onRefused }: AuthOptions, reason: TokenReason | 'missing') {
  onRefused?.(reason);
  if (UNCERTAIN.has(reason))
    return new AgentError({ statusCode: 503, message: 'Try again in a moment', error: STATUS_CODES[503]! }, reason);
  return plainAgentError(401, reason === 'missing' ? MISSING : INVALID, reason);
}

const UNCERTAIN: ReadonlySet<string> = new Set(['busy', 'unavailable', 'issuer-unresolved']);

/** The tokens in the headers; a bearer token requires `X-Auth-Type: ucan`. */
export function readTokens(headers: IncomingHttpHeaders): PresentedTokens {
  const isUcan = String(headers['x-auth-type'] ?? '').toLowerCase() === 'ucan';
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const delegation = headers['x-ucan-delegation'];
  return {
    invocation: isUcan ? bearer : undefined,
    delegation: typeof delegation === 'string' && delegation !== '' ? delegation : undefined,
  };
}

/** Sets `ctx.state.user`; throws like {@link authenticateUser}. */
export function authenticateRequests(options: AuthOptions): Middleware {
  return async (ctx, next) => {
    ctx.state.user = await authenticateUser(options, readTokens(ctx.headers));
    return next();
  };
}

/** The authenticated user; throws 401 on a route that was made public, where tokens are not checked. */
export function agentUser(ctx: Pick<Context, 'state'>): AgentUser {
  const { user } = ctx.state as { user?: AgentUser };
  if (user) return user;
  throw plainAgentError(401, MISSING);
}

/** Refuses unauthenticated requests, like {@link agentUser}. */
export const requireUser: Middleware = (ctx, next) => {
  agentUser(ctx);
  return next();
};
