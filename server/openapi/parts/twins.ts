// Domains and entities, as OpenAPI describes them.

import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { CHANGED_TWIN, NEW_TWIN, TRANSFER } from '../../../lib/domain/schema/bodies.ts';
import {
  COMPOSED_DOMAIN,
  DOMAIN_ANSWER,
  GRAPH_ANSWER,
  HISTORY_ITEM,
  JSON_PATCH,
  page,
} from '../../../lib/domain/schema/twin-answers.ts';
import type { RouteDescription, RouteGroup } from '../../http/route-table.ts';
import {
  DID,
  domainPart,
  IDEMPOTENCY_KEY,
  IF_MATCH,
  IF_NONE_MATCH,
  JSON_TYPE,
  MADE,
  NOT_CHANGED,
  ONCE_PROBLEMS,
  PAGE,
  SHORT_PAGE,
} from './domain-part.ts';

const TEXT = { type: 'string' } as const;
const DOMAIN_PAGE = page(DOMAIN_ANSWER, 'A page of domains and entities');
const HISTORY = page(HISTORY_ITEM, 'A page of a history, the newest write first');
const SHOWN = { description: 'The record', types: { [JSON_TYPE]: DOMAIN_ANSWER }, headers: { ETag: 'Its revision' } };

const EXAMPLE = {
  type: 'Device',
  class: 'did:ixo:protocol/clean-cooking',
  metadata: { name: 'A stove' },
};

const FILTERS = {
  type: 'Type, with or without the suffix Entity',
  class: 'The protocol, by DID or other name',
  status: 'Such as Verified',
  controller: 'Who may change it',
  name: 'The name in its metadata',
  externalId: 'Its name in the system that it comes from',
  validAt: 'A moment (RFC 3339) at which it is valid',
  filter: 'Conditions such as `and(eq(status,"Verified"),gt(properties.size,3))`',
  sort: 'A field, with `-` in front for the greatest first',
} as const;

/** Both doors to the one registry. */
export const TWINS_PART: RouteGroup = domainPart({
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
  routes: [...routesOf('/v1/domains', 'Domain'), ...routesOf('/v1/entities', 'Entity')],
});

function routesOf(path: string, Noun: 'Domain' | 'Entity'): RouteDescription[] {
  const noun = Noun === 'Domain' ? 'a domain' : 'an entity';
  const one = `${path}/:did`;
  return [
    {
      method: 'POST',
      path,
      id: `create${Noun}`,
      summary: `Create ${noun}`,
      description: 'Role controller. The DID is made here.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_TWIN }, example: EXAMPLE },
      answers: { 201: { description: 'It was made', types: { [JSON_TYPE]: DOMAIN_ANSWER }, headers: MADE } },
      problems: ['role-missing', 'not-controller', 'already-exists', ...ONCE_PROBLEMS],
    },
    {
      method: 'GET',
      path,
      id: `list${Noun === 'Domain' ? 'Domains' : 'Entities'}`,
      summary: 'List domains and entities',
      query: {
        ...Object.fromEntries(
          Object.entries(FILTERS).map(([name, description]) => [name, { description, schema: TEXT }]),
        ),
        ...PAGE,
      },
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: DOMAIN_PAGE } } },
      problems: ['bad-request', 'bad-cursor', 'bad-filter', 'bad-limit'],
    },
    {
      method: 'GET',
      path: one,
      id: `get${Noun}`,
      summary: `Read ${noun}`,
      query: {
        view: {
          description: '`composed`: together with what it inherits from its protocol',
          schema: { enum: ['plain', 'composed'], default: 'plain' },
        },
        at: { description: 'A revision, or a moment (RFC 3339): as it was then', schema: TEXT },
      },
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The record; its ETag, but for the composed view',
          types: { [JSON_TYPE]: { anyOf: [DOMAIN_ANSWER, COMPOSED_DOMAIN] } },
        },
        304: NOT_CHANGED,
      },
      problems: ['bad-request', 'not-found', 'gone'],
    },
    {
      method: 'PATCH',
      path: one,
      id: `change${Noun}`,
      summary: `Change ${noun}`,
      description: 'Role controller, and its controller or an operator.',
      headers: { 'If-Match': { ...IF_MATCH, required: true } },
      body: {
        types: {
          'application/merge-patch+json': CHANGED_TWIN,
          'application/json-patch+json': JSON_PATCH,
          [JSON_TYPE]: CHANGED_TWIN,
        },
      },
      answers: { 200: SHOWN },
      problems: [
        ...([
          'role-missing',
          'not-controller',
          'not-found',
          'gone',
          'already-exists',
          'last-membership-group',
        ] as const),
        ...(['revision-changed', 'test-failed', 'precondition-required'] as const),
      ],
    },
    {
      method: 'POST',
      path: `${one}/transfer`,
      id: `transfer${Noun}`,
      summary: `Give ${noun} another controller`,
      headers: { 'If-Match': IF_MATCH },
      body: { types: { [JSON_TYPE]: TRANSFER } },
      answers: { 200: SHOWN },
      problems: ['role-missing', 'not-controller', 'not-found', 'gone', 'revision-changed'],
    },
    {
      method: 'DELETE',
      path: one,
      id: `deactivate${Noun}`,
      summary: `Deactivate ${noun}`,
      description: 'Its DID and its history stay.',
      headers: { 'If-Match': IF_MATCH },
      answers: { 200: SHOWN },
      problems: [
        ...(['role-missing', 'not-controller', 'not-found', 'gone', 'revision-changed'] as const),
        ...(['last-membership-group', 'still-referenced'] as const),
      ],
    },
    {
      method: 'GET',
      path: `${one}/history`,
      id: `list${Noun}History`,
      summary: 'Who changed what, and when',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: HISTORY } } },
      problems: ['bad-request', 'bad-cursor', 'not-found'],
    },
    {
      method: 'GET',
      path: `${one}/graph`,
      id: `get${Noun}Graph`,
      summary: 'The twins around it',
      query: {
        depth: {
          description: 'Steps from the twin',
          schema: { type: 'integer', minimum: 1, maximum: DOMAIN_LIMITS.graphDepth, default: 1 },
        },
        rel: { description: 'Only edges of this relation', schema: TEXT },
        direction: { description: 'Which way to walk', schema: { enum: ['out', 'in', 'both'], default: 'out' } },
      },
      answers: { 200: { description: 'The graph', types: { [JSON_TYPE]: GRAPH_ANSWER } } },
      problems: ['bad-request', 'not-found', 'gone'],
    },
  ];
}
