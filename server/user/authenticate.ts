// Who asks the agent service: the DID behind an invocation, or behind a delegation where that is let in.

import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { TurnSecrets } from '../../lib/agent/responder.ts';
import type { TokenGuard } from '../../lib/delegation/guard.ts';
import type { TokenReason } from '../../lib/delegation/reason.ts';
import { AgentError, plainAgentError } from './errors.ts';

/** The words that clients compare. */
export const MISSING =
  'Missing UCAN authentication: provide Authorization: Bearer <invocation> with X-Auth-Type: ucan, or an x-ucan-delegation header';
export const INVALID = 'Invalid UCAN invocation';

/** A user whose token was checked. */
export interface AgentUser {
  readonly did: string;
  /** Milliseconds since 1970: the token counts until then. */
  readonly expiresAt: number;
  /** By which the token is revoked. */
  readonly keys: readonly string[];
  /** What came along and may be needed downstream; never logged or stored. */
  readonly secrets: TurnSecrets;
}

/** The tokens of a request or of a handshake, as they were sent. */
export interface PresentedTokens {
  readonly invocation?: string | undefined;
  readonly delegation?: string | undefined;
}

export interface AuthOptions {
  readonly guard: TokenGuard;
  /** Whether a delegation alone says who asks. */
  readonly delegationAuth: boolean;
  /** Called with the reason why a token is refused; clients do not get it. */
  readonly onRefused?: (reason: TokenReason | 'missing') => void;
  /** Called with the kind of token that says who asks. */
  readonly onAccepted?: (token: 'invocation' | 'delegation') => void;
}

/**
 * The user behind the tokens; throws 401 with one of the two known messages, or 503 when it cannot be found out now. A bad
 * invocation is not made good by a delegation; a bad delegation beside a good invocation is left out.
 */
export async function authenticateUser(options: AuthOptions, presented: PresentedTokens): Promise<AgentUser> {
  const { guard, delegationAuth, onAccepted } = options;
  const { invocation, delegation } = presented;
  if (invocation === undefined && (delegation === undefined || !delegationAuth)) throw tokenError(options, 'missing');
  const [token, checked] =
    invocation === undefined
      ? (['delegation', await guard.checkDelegation(delegation!)] as const)
      : (['invocation', await guard.checkInvocation(invocation)] as const);
  if (!checked.ok) throw tokenError(options, checked.reason);
  onAccepted?.(token);
  const beside =
    token === 'invocation' && delegation !== undefined ? await guard.checkDelegation(delegation) : undefined;
  const ownDelegation = token === 'delegation' || (beside?.ok && beside.issuer === checked.issuer);
  return {
    did: checked.issuer,
    expiresAt: checked.expiresAt * 1000,
    keys: checked.revocationKeys,
    secrets: {
      ...(token === 'invocation' && { invocation: invocation! }),
      ...(ownDelegation && { delegation: delegation! }),
    },
  };
}

function tokenError({ onRefused }: AuthOptions, reason: TokenReason | 'missing') {
  onRefused?.(reason);
  if (UNCERTAIN.has(reason))
    return new AgentError({ statusCode: 503, message: 'Try again in a moment', error: STATUS_CODES[503]! }, reason);
  return plainAgentError(401, reason === 'missing' ? MISSING : INVALID, reason);
}

const UNCERTAIN: ReadonlySet<string> = new Set(['busy', 'unavailable', 'issuer-unresolved']);

/** The tokens in the headers; a bearer counts only with `X-Auth-Type: ucan`. */
export function readTokens(headers: IncomingHttpHeaders): PresentedTokens {
  const isUcan = String(headers['x-auth-type'] ?? '').toLowerCase() === 'ucan';
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const delegation = headers['x-ucan-delegation'];
  return {
    invocation: isUcan ? bearer : undefined,
    delegation: typeof delegation === 'string' && delegation !== '' ? delegation : undefined,
  };
}

/** Puts the user into `ctx.state.user`; throws as {@link authenticateUser} does. */
export function authenticateRequests(options: AuthOptions): Middleware {
  return async (ctx, next) => {
    ctx.state.user = await authenticateUser(options, readTokens(ctx.headers));
    return next();
  };
}

/** The user of an authenticated request; throws 401 on a route that was made public, where no token is checked. */
export function agentUser(ctx: Pick<Context, 'state'>): AgentUser {
  const { user } = ctx.state as { user?: AgentUser };
  if (user) return user;
  throw plainAgentError(401, MISSING);
}

/** Refuses requests whose token was not checked, as {@link agentUser} does. */
export const requireUser: Middleware = (ctx, next) => {
  agentUser(ctx);
  return next();
};
