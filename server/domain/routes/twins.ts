// Routes of domains and entities: making, listing and reading them. /v1/domains and /v1/entities lead to one registry.

import { requireRole } from '../../../lib/domain/caller.ts';
import { mintDid, pathSegment } from '../../../lib/domain/did/did.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { CHANGED_TWIN, NEW_TWIN } from '../../../lib/domain/schema/bodies.ts';
import {
  COMPOSED_DOMAIN,
  DOMAIN_ANSWER,
  GRAPH_ANSWER,
  HISTORY_ITEM,
  JSON_PATCH,
} from '../../../lib/domain/schema/twin-answers.ts';
import { domainView } from '../../../lib/domain/twin/record.ts';
import { page } from '../../../lib/json/schema.ts';
import type { ReplyRoute, RouteGroup } from '../../http/route-table.ts';
import { answerOnce, makeEtag, sendUnlessCached, showPage, showTwin, twinLinks } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import {
  DID,
  domainGroup,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  JSON_TYPE,
  MADE,
  NOT_CHANGED,
  ONCE_PROBLEMS,
  PAGE,
  PROTOCOL_EXAMPLE,
  readBody,
  readQuery,
  readRevisionCursor,
  SHORT_PAGE,
  TWIN_EXAMPLE,
} from '../requests.ts';
import { changeRoutes, type TwinDeps } from './twin-changes.ts';

const TEXT = { type: 'string' } as const;
const SVG_TYPE = 'image/svg+xml';
const DOMAIN_PAGE = page(DOMAIN_ANSWER, 'A page of domains and entities');
const HISTORY = page(HISTORY_ITEM, 'A page of a history, the newest write first');

const LIST = {
  type: { description: 'Type, with or without the suffix Entity', schema: TEXT },
  class: { description: 'The protocol, by DID or other name', schema: TEXT },
  status: { description: 'Such as Verified', schema: TEXT },
  controller: { description: 'Who may change it', schema: TEXT },
  name: { description: 'The name in its metadata', schema: TEXT },
  externalId: { description: 'Its name in the system that it comes from', schema: TEXT },
  text: {
    description: 'Words, each of which begins a word of its name or of its externalId, in any case',
    schema: { type: 'string', maxLength: 256, examples: ['stove'] },
  },
  validAt: { description: 'A moment (RFC 3339) at which it is valid', schema: TEXT },
  filter: { description: 'Conditions such as `and(eq(status,"Verified"),gt(properties.size,3))`', schema: TEXT },
  sort: { description: 'A field, with `-` in front for the greatest first', schema: TEXT },
  ...PAGE,
} as const;

const VIEW = {
  view: {
    description: '`composed`: together with what it inherits from its protocol',
    schema: { enum: ['plain', 'composed'], default: 'plain' },
  },
  at: { description: 'A revision, or a moment (RFC 3339): as it was then', schema: TEXT },
} as const;

const AROUND = {
  depth: {
    description: 'Steps from the twin',
    schema: { type: 'integer', minimum: 1, maximum: DOMAIN_LIMITS.graphDepth, default: 1 },
  },
  rel: { description: 'Only edges of this relation', schema: TEXT },
  direction: { description: 'Which way to walk', schema: { enum: ['out', 'in', 'both'], default: 'out' } },
} as const;

/** Both doors to the one registry. */
export const TWIN_ROUTES: RouteGroup<TwinDeps> = domainGroup({
  tag: 'Domains and entities',
  owns: ['/v1'],
  description:
    'Digital twins. Both addresses lead to the same registry; they differ in how a new twin names its protocol.',
  parameters: { did: DID },
  schemas: {
    NewTwin: NEW_TWIN,
    ChangedTwin: CHANGED_TWIN,
    JsonPatch: JSON_PATCH,
    Domain: DOMAIN_ANSWER,
    ComposedDomain: COMPOSED_DOMAIN,
    DomainPage: DOMAIN_PAGE,
    History: HISTORY,
    Graph: GRAPH_ANSWER,
  },
  routes: [...routesAt('/v1/domains', 'Domain'), ...routesAt('/v1/entities', 'Entity')],
});

type Noun = 'Domain' | 'Entity';

function routesAt(path: string, Noun: Noun): ReplyRoute<TwinDeps>[] {
  const noun = Noun === 'Domain' ? 'a domain' : 'an entity';
  const one = `${path}/:did`;
  return [
    createRoute(path, { Noun, noun }),
    {
      method: 'GET',
      path,
      id: `list${Noun === 'Domain' ? 'Domains' : 'Entities'}`,
      summary: 'List domains and entities',
      query: LIST,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: DOMAIN_PAGE } } },
      problems: ['bad-request', 'bad-cursor', 'bad-filter', 'bad-limit'],
      reply: async (request, { registry, clock }) => {
        const { items, next } = await registry.list(readCaller(request), readQuery(request, LIST));
        return showPage(request, { items: items.map((item) => domainView(item, clock.now(), twinLinks)), next });
      },
    },
    {
      method: 'GET',
      path: one,
      id: `get${Noun}`,
      summary: `Read ${noun}`,
      query: VIEW,
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The record; its ETag, but for the composed view',
          types: { [JSON_TYPE]: { anyOf: [DOMAIN_ANSWER, COMPOSED_DOMAIN] } },
        },
        304: NOT_CHANGED,
      },
      problems: ['bad-request', 'not-found', 'gone'],
      reply: async (request, { registry, clock }) => {
        const { at, view } = readQuery(request, VIEW);
        const did = request.params.did!;
        const caller = readCaller(request);
        const domain = at === undefined ? await registry.get(caller, did) : await registry.at(caller, did, at);
        if (view === 'composed') return { body: await registry.composeView(domain) };
        return sendUnlessCached(request, showTwin(domain, clock.now()));
      },
    },
    ...changeRoutes(one, { Noun, noun }),
    ...aroundRoutes(one, Noun),
  ];
}

function createRoute(path: string, { Noun, noun }: { Noun: Noun; noun: string }): ReplyRoute<TwinDeps> {
  const wanted = Noun === 'Domain' ? 'class' : 'protocol';
  return {
    method: 'POST',
    path,
    id: `create${Noun}`,
    summary: `Create ${noun}`,
    description: 'Role controller. The DID is made here.',
    headers: IDEMPOTENCY_KEY,
    body: {
      types: { [JSON_TYPE]: NEW_TWIN },
      example: {
        type: 'Device',
        [wanted]: PROTOCOL_EXAMPLE,
        // An entity of the same name would be refused.
        ...(Noun === 'Domain' && { alsoKnownAs: TWIN_EXAMPLE }),
        metadata: { name: 'A stove' },
      },
    },
    answers: { 201: { description: 'It was made', types: { [JSON_TYPE]: DOMAIN_ANSWER }, headers: MADE } },
    problems: ['role-missing', 'not-controller', 'not-found', 'gone', 'already-exists', ...ONCE_PROBLEMS],
    reply: async (request, { registry, idempotency, clock }) => {
      const caller = readCaller(request);
      requireRole(caller, 'create twins');
      const body = await readBody(request);
      return answerOnce(request, { idempotency, body }, async (token) => {
        const domain = await registry.create(caller, { body: body.value, wanted, did: mintDid(token) });
        const headers = { Location: `${path}/${pathSegment(domain.id)}`, ETag: makeEtag(domain, clock.now()) };
        return { status: 201, headers, body: domainView(domain, clock.now(), twinLinks) };
      });
    },
  };
}

/** What was, and what is around a twin. */
function aroundRoutes(one: string, Noun: Noun): ReplyRoute<TwinDeps>[] {
  return [
    {
      method: 'GET',
      path: `${one}/history`,
      id: `list${Noun}History`,
      summary: 'Who changed what, and when',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: HISTORY } } },
      problems: ['bad-request', 'bad-cursor', 'not-found'],
      reply: async (request, { registry }) => {
        const { limit, cursor } = readQuery(request, SHORT_PAGE);
        const page = { did: request.params.did!, limit, ...readRevisionCursor(cursor) };
        return showPage(request, await registry.history(readCaller(request), page));
      },
    },
    {
      method: 'GET',
      path: `${one}/graph`,
      id: `get${Noun}Graph`,
      summary: 'The twins around it',
      query: AROUND,
      answers: { 200: { description: 'The graph', types: { [JSON_TYPE]: GRAPH_ANSWER, [SVG_TYPE]: TEXT } } },
      problems: ['bad-request', 'not-found', 'gone'],
      reply: async (request, { registry, drawGraph }) => {
        const { rel: relation, ...around } = readQuery(request, AROUND);
        const query = { did: request.params.did!, ...around, ...(relation !== undefined && { relation }) };
        const graph = await registry.graph(readCaller(request), query);
        const headers = { Vary: 'Accept' };
        if (request.accepts(JSON_TYPE, SVG_TYPE) !== SVG_TYPE) return { headers, body: graph };
        return { headers: { ...headers, 'Content-Type': SVG_TYPE }, body: await drawGraph(graph) };
      },
    },
  ];
}
