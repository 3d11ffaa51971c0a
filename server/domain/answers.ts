// Replies of the domain service: problem documents, pages, records with links, and idempotent answers.

import type { Middleware } from 'koa';
import { pathSegment } from '../../lib/domain/did/did.ts';
import type { Idempotency } from '../../lib/domain/idempotency.ts';
import { type Domain, domainView, findValidity } from '../../lib/domain/twin/record.ts';
import { type Proposal, proposalView } from '../../lib/domain/voting/proposal.ts';
import type { Detail } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { describeError } from '../http/errors.ts';
import type { JsonBody } from '../http/json-body.ts';
import type { Reply, RouteRequest } from '../http/route-table.ts';
import { readCaller } from './api-keys.ts';
import { ACCEPT_PATCH, idempotencyKey } from './requests.ts';

/** A problem document (RFC 9457) with the ecosystem's extension members. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly success: false;
  readonly error: { readonly code: string; readonly message: string; readonly details: readonly Detail[] };
}

/** Answers refusals with problem documents. Internal errors are logged and answered without details. */
export function problems(onFault: (error: unknown, request: Pick<RouteRequest, 'state'>) => void): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, title, code, message, details } = describeError(error);
      if (status >= 500) onFault(error, ctx);
      if (status === 401) ctx.set('WWW-Authenticate', 'Bearer realm="twinline"');
      if (status === 503 || code === 'in-progress') ctx.set('Retry-After', '1');
      if (status === 406) ctx.vary('Accept');
      if (status === 415 && ctx.method === 'PATCH') ctx.set('Accept-Patch', ACCEPT_PATCH);
      ctx.status = status;
      ctx.type = 'application/problem+json';
      const problem: ProblemDocument = {
        type: `/docs/errors#${code}`,
        title,
        status,
        detail: message,
        instance: uriReference(ctx.path),
        success: false,
        error: { code, message, details },
      };
      ctx.body = JSON.stringify(problem);
    }
  };
}

/** The reply with a page; its Link header leads to the next one. */
export function showPage(
  request: Pick<RouteRequest, 'path' | 'querystring'>,
  { items, next }: { items: readonly object[]; next?: string | undefined },
): Reply {
  const body = { items, next: next ?? null };
  return next === undefined ? { body } : { headers: { Link: `<${nextAddress(request, next)}>; rel="next"` }, body };
}

// Keeps the query as sent. Colons are legal in paths and queries (RFC 3986), so DIDs are not escaped.
function nextAddress({ path, querystring }: Pick<RouteRequest, 'path' | 'querystring'>, cursor: string): string {
  const isCursor = (part: string) => new URLSearchParams(part).has('cursor');
  const rest = querystring.split('&').filter((part) => part !== '' && !isCursor(part));
  const query = [...rest, `cursor=${encodeURIComponent(cursor)}`].join('&');
  return uriReference(`${path}?${query}`).replaceAll(/%3A/gi, ':');
}

// Escapes what a URI reference (RFC 3986) cannot contain.
function uriReference(address: string): string {
  return address.replace(OUTSIDE, encodeURIComponent);
}

const OUTSIDE = /%(?![0-9A-Fa-f]{2})|[^\w!$%&'()*+,./:;=?@~-]/g;

const WEAK = /^W\//;
/** The suffix that compressing proxies such as Apache add to an ETag. */
const COMPRESSED = /[-;:]{1,2}(gzip|br|deflate|zstd)"$/;

/** The reply, or 304 when If-None-Match has its ETag. */
export function sendUnlessCached(request: Pick<RouteRequest, 'get'>, reply: Tagged): Reply {
  const tags = request
    .get('if-none-match')
    .split(',')
    .map((tag) => tag.trim().replace(WEAK, '').replace(COMPRESSED, '"'));
  const { headers } = reply;
  return tags.includes(headers.ETag) || tags.includes('*') ? { status: 304, headers } : reply;
}

type Tagged = Reply & { readonly headers: { readonly ETag: string } };

/** A reply that is stored for repeated requests. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

/**
 * Runs `work` once per Idempotency-Key and returns its answer. `work` gets a token reserved for the request, from which it
 * derives the id of what it creates; without a key there is no token.
 */
export async function answerOnce(
  request: RouteRequest,
  { idempotency, body }: { readonly idempotency: Idempotency; readonly body: Pick<JsonBody, 'text'> },
  work: (token?: string) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const key = idempotencyKey(request);
  if (key === undefined) return work();
  const { tenant, principal } = readCaller(request);
  const scope = [tenant, principal, request.method, request.path];
  return idempotency.runOnce({ scope, content: body.text, key }, async (token) => ({ ...(await work(token)) }));
}

/** The links of a twin. */
export function twinLinks(did: string) {
  const self = `/v1/domains/${pathSegment(did)}`;
  return {
    self,
    history: `${self}/history`,
    graph: `${self}/graph`,
    verification: `${self}/verification`,
    didDocument: `/1.0/identifiers/${pathSegment(did)}`,
  };
}

/** The reply with a twin and its ETag. */
export function showTwin(domain: Domain, now: number): Tagged {
  const headers = { ETag: makeEtag(domain, now), 'Cache-Control': 'private, no-cache' };
  return { headers, body: domainView(domain, now, twinLinks) };
}

/** The ETag of a twin: its revision, and its validity, which changes with time. */
export function makeEtag({ revision, body }: Domain, now: number): string {
  const validity = findValidity(body, now);
  return validity === 'valid' ? `"${revision}"` : `"${revision}-${validity}"`;
}

/** A proposal as clients read it, with links. */
export function showProposal(proposal: Proposal) {
  const self = `/v1/proposals/${proposal.id}`;
  const domain = twinLinks(proposal.body.subject).self;
  const links = { self, votes: `${self}/votes`, pageLink: `${self}/page-link`, domain };
  return { ...proposalView(proposal), links };
}

/** The Location and ETag of a proposal. */
export function proposalHeaders({ id, revision }: Proposal) {
  return { Location: `/v1/proposals/${id}`, ETag: `"${revision}"` } as const;
}
