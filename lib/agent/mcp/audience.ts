// The DID of an MCP server, which tokens for it must name: configured, or that of its own host.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { isObject } from '../../shape.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { McpServer } from './server.ts';

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
    if (before && before.until > clock.now()) return before.did;
    const did = find(server, fetch);
    known.set(server.name, { did, until: clock.now() + AGENT_LIMITS.mcpFreshMs });
    did.catch(() => known.delete(server.name));
    return did;
  };
}

// A host that could name any DID could take tokens for others: without the operator's word only its own name counts.
async function find(server: McpServer, fetch: typeof globalThis.fetch): Promise<string> {
  const { origin, host } = new URL(server.url);
  const expected = `did:web:${encodeURIComponent(host)}`;
  const document = await read(`${origin}/.well-known/did.json`, fetch);
  if (isObject(document) && document.id === expected) return expected;
  const how = 'Set its "did" in the file of MCP servers';
  const words = `has no document of ${expected} at ${origin}/.well-known/did.json. ${how}.`;
  throw new TwinlineError(
    'ERR_SERVICE',
    `It is not known for whom tokens are: the MCP server "${server.name}" ${words}`,
  );
}

async function read(url: string, fetch: typeof globalThis.fetch): Promise<unknown> {
  try {
    const answer = await fetch(url, { headers: { accept: 'application/did+json, application/json' } });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}
