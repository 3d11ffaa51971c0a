// The token with which a protected tool is called: one that the user sent for it, verified and used once, or one that this
// service makes from what the user has delegated to it.

import { type Clock, settledTime } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { Delegations } from '../../delegation/delegations.ts';
import { type TokenGuard, tokenGuard } from '../../delegation/guard.ts';
import { TOKEN_REASONS } from '../../delegation/reason.ts';
import type { Capability } from '../../delegation/token/ucan.ts';
import { TwinlineError } from '../../errors.ts';
import { isObject, requireGiven } from '../../given.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import type { DocumentStore } from '../../store/store.ts';
import { SPENT_TOKEN } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ToolContext } from '../responder.ts';

/** The resource that tokens of every user may name, with the ability `*`, as in tokens for this service. */
const IDENTITY = 'ixo:oracle';

/** A server of MCP tools, and how it is reached. */
export interface McpServer {
  /** Lower-case letters, digits and dashes; goes before the names of tools that others have, too. */
  readonly name: string;
  /** Of its streamable HTTP endpoint. */
  readonly url: string;
  /** Go along with every request to it. */
  readonly headers?: { readonly [name: string]: string };
  /** The DID that tokens for it must name; without one, it is asked for at its own host. */
  readonly did?: string;
  /** Whose tools need a token of the user: all, or these. @default false */
  readonly protected?: boolean | readonly string[];
}

/** A tool of a server, and the names by which a user may mean it. */
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
  /** Seconds that a token may be valid from now on. */
  readonly maxTtlSeconds: number;
  readonly revoked: (keys: readonly string[]) => Promise<boolean>;
  /** @default asks the hosts of servers */
  readonly audienceOf?: AudienceOf;
}

/** The headers that go along with one call of a protected tool. Rejects with ERR_REFUSED, in words for the user. */
export type Pass = (passing: Passing, context: ToolContext) => Promise<{ readonly [name: string]: string }>;

/**
 * Makes the check of invocations that MCP tools ask for.
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

  /** Verifies the token and marks it as used; false when it was used before. */
  async function spend(
    token: string,
    audience: string,
    { tool, owner }: { tool: string; owner: string },
  ): Promise<boolean> {
    const checked = await findGuard(audience).checkInvocation(token);
    if (!checked.ok) throw refuseToken(tool, TOKEN_REASONS[checked.reason]);
    if (checked.issuer !== owner) throw refuseToken(tool, `it was issued by ${checked.issuer}, and ${owner} sent it`);
    const { can } = checked.capability;
    if (!listAbilities(tool).includes(can)) throw refuseToken(tool, `its capability ${can} is not for this tool`);
    return options.spent.spend(checked.revocationKeys[0]!, checked.expiresAt * 1000);
  }

  return async ({ server, tool, names }, { owner, secrets }) => {
    const audience = await audienceOf(server);
    const given = secrets.mcpInvocations ?? {};
    const name = names.find((one) => Object.hasOwn(given, one));
    const token = name === undefined ? undefined : given[name]!;
    if (token !== undefined && (await spend(token, audience, { tool, owner }))) return makeHeaders(token);
    const minted = await mint(delegations, owner, audience);
    if (minted !== undefined) return makeHeaders(minted);
    const why = token === undefined ? 'it needs one' : 'the one that was sent was used already, and it needs another';
    const what = `for the audience ${audience}, with the capability ${listAbilities(tool).slice(1).join(' or ')} on ${owner}`;
    const words = `Send one as mcpInvocations["${names[0]}"], ${what}, or store a delegation`;
    throw new TwinlineError('ERR_REFUSED', `Cannot call "${tool}" without an invocation: ${why}. ${words}.`, {
      reason: 'mcp-invocation',
    });
  };
}

// Abilities are in lower case; names of tools need not be.
function listAbilities(tool: string): string[] {
  return ['*', 'mcp/call', `mcp/${tool.toLowerCase()}`];
}

// The narrowest capabilities that a delegation to this service can cover, one for each of its two kinds.
const DOWNSTREAM: readonly ((owner: string) => Capability)[] = [
  () => ({ can: 'mcp/call', with: IDENTITY }),
  (owner) => ({ can: 'oracle/mcp', with: owner }),
];

async function mint(delegations: PassOptions['delegations'], owner: string, audience: string) {
  for (const capability of DOWNSTREAM) {
    try {
      return await delegations.invoke(owner, { audience, capability: capability(owner) });
    } catch (error) {
      // What is stored does not cover this one.
      if (!(error instanceof TwinlineError && error.code === 'ERR_INPUT')) throw error;
    }
  }
  return undefined;
}

function makeHeaders(token: string) {
  return { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
}

function refuseToken(tool: string, why: string): TwinlineError {
  return new TwinlineError('ERR_REFUSED', `The invocation for "${tool}" does not count: ${why}.`, {
    reason: 'mcp-invocation',
  });
}

/** Rejects with ERR_SERVICE when it is not configured and cannot be found; asks again the next time. */
export type AudienceOf = (server: McpServer) => Promise<string>;

const DOCUMENT_BYTES = 262_144;

export function audiences(clock: Clock): AudienceOf {
  const known = new Map<string, { readonly did: Promise<string>; readonly until: number }>();
  const bounds = { headersMs: AGENT_LIMITS.mcpConnectMs, stallMs: AGENT_LIMITS.mcpConnectMs };
  const fetch = boundedFetch({ clock, ...bounds, bytes: DOCUMENT_BYTES, lineBytes: DOCUMENT_BYTES });
  return async (server) => {
    if (server.did !== undefined) return server.did;
    const before = known.get(server.name);
    if (before && before.until > clock.monotonic()) return before.did;
    const did = findDid(server, fetch);
    known.set(server.name, { did, until: clock.monotonic() + AGENT_LIMITS.mcpFreshMs });
    did.catch(() => known.delete(server.name));
    return did;
  };
}

// A host that could name any DID could collect tokens for others: unless the operator configures one, only the DID of the
// host's own name is accepted.
async function findDid(server: McpServer, fetch: typeof globalThis.fetch): Promise<string> {
  const { origin, host } = new URL(server.url);
  const expected = `did:web:${encodeURIComponent(host)}`;
  const document = await readJson(`${origin}/.well-known/did.json`, fetch);
  if (isObject(document) && document.id === expected) return expected;
  const how = 'Set its "did" in the file of MCP servers';
  const words = `has no document of ${expected} at ${origin}/.well-known/did.json. ${how}.`;
  throw new TwinlineError(
    'ERR_SERVICE',
    `The audience of tokens is not known: the MCP server "${server.name}" ${words}`,
  );
}

async function readJson(url: string, fetch: typeof globalThis.fetch): Promise<unknown> {
  try {
    const answer = await fetch(url, { headers: { accept: 'application/did+json, application/json' } });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Which tokens have been used; shared by all processes. */
export interface SpentTokens {
  /**
   * False when it was spent before, by whichever process. `key` is that of its signed content, so that no other encoding
   * of a token is another token; `expiresAt` is in milliseconds since 1970.
   */
  spend(key: string, expiresAt: number): Promise<boolean>;
  /** Forgets what has expired; how many. */
  sweep(limit: number): Promise<number>;
}

/**
 * With AGENT_KINDS declared.
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
