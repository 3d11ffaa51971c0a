// The token for calling a protected tool: either the user sent one, which is verified and used once, or we mint one within
// the user's delegation.

import { type Clock, settledTime } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { Delegations } from '../../delegation/delegations.ts';
import { type TokenGuard, tokenGuard } from '../../delegation/guard.ts';
import { TOKEN_REASONS } from '../../delegation/reason.ts';
import type { Capability } from '../../delegation/ucan.ts';
import { TwinlineError } from '../../errors.ts';
import { isObject, requireGiven } from '../../given.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import type { DocumentStore } from '../../store/store.ts';
import { SPENT_TOKEN } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ToolContext } from '../responder.ts';

/** The resource any user's token may name, with the ability `*`, as in tokens for this service. */
const IDENTITY = 'ixo:oracle';

/** An MCP server and how to reach it. */
export interface McpServer {
  /** Lower-case letters, digits and dashes; prefixes tool names that are not unique. */
  readonly name: string;
  /** The URL of its streamable HTTP endpoint. */
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string };
  /** The DID that its tokens must name. @default looked up on its own host */
  readonly did?: string;
  /** Which tools need a token of the user: all, or those listed. @default false */
  readonly protected?: boolean | readonly string[];
}

/** A tool of a server, and the names under which a user may send a token for it. */
export interface Passing {
  readonly server: McpServer;
  readonly tool: string;
  readonly names: readonly string[];
}

/** Options of `passes`. */
export interface PassOptions {
  readonly clock: Clock;
  readonly spent: SpentTokens;
  readonly delegations: Pick<Delegations, 'invoke'>;
  /** Longest remaining lifetime of a token, in seconds. */
  readonly maxTtlSeconds: number;
  readonly revoked: (keys: readonly string[]) => Promise<boolean>;
  /** @default looks it up on the server's host */
  readonly audienceOf?: AudienceOf;
}

/** The headers for one call of a protected tool. Rejects with ERR_REFUSED, with a message for the user. */
export type Pass = (passing: Passing, context: ToolContext) => Promise<{ readonly [name: string]: string }>;

/**
 * Creates the authorization check for calls of protected MCP tools.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(AGENT_KINDS);
 * const spent = spentTokens({ documents, clock: systemClock });
 * const delegations = { invoke: async () => undefined };
 * const pass = passes({ clock: systemClock, spent, delegations, maxTtlSeconds: 900, revoked: async () => false });
 * typeof pass; // → 'function'
 */
export function passes(options: PassOptions): Pass {
  requireGiven('make tokens for tools', options, { clock: 'clock' });
  const { clock, audienceOf = audiences(clock), delegations } = options;
  const guards = new Map<string, TokenGuard>();

  function findGuard(audience: string): TokenGuard {
    const { maxTtlSeconds: invocation, revoked } = options;
    const accepted = { identity: IDENTITY, namespace: 'mcp' };
    const guard =
      guards.get(audience) ?? tokenGuard({ audience, clock, accepted, maxTtlSeconds: { invocation }, revoked });
    guards.set(audience, guard);
    return guard;
  }

  /** Verifies the token and marks it as used; false when it was already used. */
  async function spend(
    token: string,
    audience: string,
    { tool, owner }: { tool: string; owner: string },
  ): Promise<boolean> {
    const verdict = await findGuard(audience).checkInvocation(token);
    if (!verdict.ok) throw refuseToken(tool, TOKEN_REASONS[verdict.reason]);
    if (verdict.issuer !== owner) throw refuseToken(tool, `it was issued by ${verdict.issuer} but sent by ${owner}`);
    const { can } = verdict.capability;
    if (!listAbilities(tool).includes(can)) throw refuseToken(tool, `its capability ${can} is not for this tool`);
    return options.spent.spend(verdict.revocationKeys[0]!, verdict.expiresAt * 1000);
  }

  return async ({ server, tool, names }, { owner, secrets }) => {
    const audience = await audienceOf(server);
    const invocations = secrets.mcpInvocations ?? {};
    const name = names.find((one) => Object.hasOwn(invocations, one));
    const token = name === undefined ? undefined : invocations[name]!;
    if (token !== undefined && (await spend(token, audience, { tool, owner }))) return makeHeaders(token);
    const minted = await mint(delegations, owner, audience);
    if (minted !== undefined) return makeHeaders(minted);
    const why = token === undefined ? 'it needs one' : 'the one sent was already used';
    const what = `for the audience ${audience}, with the capability ${listAbilities(tool).slice(1).join(' or ')} on ${owner}`;
    const words = `Send one as mcpInvocations["${names[0]}"], ${what}, or store a delegation`;
    throw new TwinlineError('ERR_REFUSED', `Cannot call "${tool}" without an invocation: ${why}. ${words}.`, {
      reason: 'mcp-invocation',
    });
  };
}

// Abilities are lower case; tool names need not be.
function listAbilities(tool: string): string[] {
  return ['*', 'mcp/call', `mcp/${tool.toLowerCase()}`];
}

// The narrowest capability for each of the two kinds of delegation to this service.
const DOWNSTREAM: readonly ((owner: string) => Capability)[] = [
  () => ({ can: 'mcp/call', with: IDENTITY }),
  (owner) => ({ can: 'oracle/mcp', with: owner }),
];

async function mint(delegations: PassOptions['delegations'], owner: string, audience: string) {
  for (const capability of DOWNSTREAM) {
    try {
      return await delegations.invoke(owner, { audience, capability: capability(owner) });
    } catch (error) {
      // The stored delegation does not cover this capability.
      if (!(error instanceof TwinlineError && error.code === 'ERR_INPUT')) throw error;
    }
  }
  return undefined;
}

function makeHeaders(token: string) {
  return { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
}

function refuseToken(tool: string, why: string): TwinlineError {
  return new TwinlineError('ERR_REFUSED', `The invocation for "${tool}" was refused: ${why}.`, {
    reason: 'mcp-invocation',
  });
}

/**
 * Resolves the DID that tokens for a server must name. Rejects with ERR_SERVICE when it is not configured and cannot be
 * looked up; retried on the next call.
 */
export type AudienceOf = (server: McpServer) => Promise<string>;

const DOCUMENT_BYTES = 262_144;

export function audiences(clock: Clock): AudienceOf {
  const cache = new Map<string, { readonly did: Promise<string>; readonly until: number }>();
  const bounds = { headersMs: AGENT_LIMITS.mcpConnectMs, stallMs: AGENT_LIMITS.mcpConnectMs };
  const fetch = boundedFetch({ clock, ...bounds, bytes: DOCUMENT_BYTES, lineBytes: DOCUMENT_BYTES });
  return async (server) => {
    if (server.did !== undefined) return server.did;
    const cached = cache.get(server.name);
    if (cached && cached.until > clock.monotonic()) return cached.did;
    const did = findDid(server, fetch);
    cache.set(server.name, { did, until: clock.monotonic() + AGENT_LIMITS.mcpFreshMs });
    did.catch(() => cache.delete(server.name));
    return did;
  };
}

// A host that could claim any DID could collect tokens meant for others. So unless the operator configures the DID, only the
// did:web of the host itself is accepted.
async function findDid(server: McpServer, fetch: typeof globalThis.fetch): Promise<string> {
  const { origin, host } = new URL(server.url);
  const expected = `did:web:${encodeURIComponent(host)}`;
  const document = await readJson(`${origin}/.well-known/did.json`, fetch);
  if (isObject(document) && document.id === expected) return expected;
  const how = 'Set its "did" in the file of MCP servers';
  const words = `has no DID document of ${expected} at ${origin}/.well-known/did.json. ${how}.`;
  throw new TwinlineError('ERR_SERVICE', `The token audience is unknown: the MCP server "${server.name}" ${words}`);
}

async function readJson(url: string, fetch: typeof globalThis.fetch): Promise<unknown> {
  try {
    const answer = await fetch(url, { headers: { accept: 'application/did+json, application/json' } });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Single-use tokens that have been used; shared by all processes. */
export interface SpentTokens {
  /**
   * False when any process has spent it before. `key` is a hash of the signed content, so that re-encoding a token does not
   * make it a new one; `expiresAt` is in milliseconds since 1970.
   */
  spend(key: string, expiresAt: number): Promise<boolean>;
  /** Deletes expired entries; returns how many. */
  sweep(limit: number): Promise<number>;
}

/**
 * Opens the record of used tokens. Declare AGENT_KINDS first.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(AGENT_KINDS);
 * const spent = spentTokens({ documents, clock: systemClock });
 * await spent.spend('token-1', Date.now() + 60_000); // → true
 * await spent.spend('token-1', Date.now() + 60_000); // → false
 */
export function spentTokens(options: { documents: DocumentStore; clock: Clock }): SpentTokens {
  requireGiven('remember tokens', options, { documents: 'documents', clock: 'clock' });
  const { documents, clock } = options;
  settledTime(clock);
  return {
    async spend(key, expiresAt) {
      return (await documents.insert(SPENT_TOKEN, key, { expiresAt })).kind === 'inserted';
    },
    async sweep(limit) {
      const where = { expiresAt: { lte: settledTime(clock) - COMMON_LIMITS.keptBeyondExpiryMs } };
      const { items } = await documents.find(SPENT_TOKEN, { index: 'expiry', where, limit });
      await Promise.all(items.map(({ id, revision }) => documents.remove(SPENT_TOKEN, id, revision)));
      return items.length;
    },
  };
}
