// Protocols, as OpenAPI describes them.

import { CHANGED_PROTOCOL, NEW_PROTOCOL } from '../../../lib/domain/schema/bodies.ts';
import { COMPOSED_PROTOCOL, JSON_PATCH, PROTOCOL_ANSWER, page } from '../../../lib/domain/schema/twin-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';
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
} from './domain-part.ts';

const PATH = '/v1/protocols';
const PROTOCOL_PAGE = page(PROTOCOL_ANSWER, 'A page of protocols');

export const PROTOCOLS_PART: RouteGroup = domainPart({
  tag: 'Protocols',
  description: 'Templates of twins. A change makes a new version; twins stay on the version that they name.',
  parameters: { did: DID },
  schemas: {
    NewProtocol: NEW_PROTOCOL,
    ChangedProtocol: CHANGED_PROTOCOL,
    Protocol: PROTOCOL_ANSWER,
    ComposedProtocol: COMPOSED_PROTOCOL,
    ProtocolPage: PROTOCOL_PAGE,
  },
  routes: [
    {
      method: 'POST',
      path: PATH,
      id: 'createProtocol',
      summary: 'Create a protocol',
      description: 'Role controller.',
      headers: IDEMPOTENCY_KEY,
      body: {
        types: { [JSON_TYPE]: NEW_PROTOCOL },
        example: {
          type: 'Protocol',
          name: 'Clean cooking',
          alsoKnownAs: 'did:ixo:protocol/clean-cooking',
          properties: { burns: 'number' },
          relationships: { operator: 'OrganisationEntity' },
        },
      },
      answers: { 201: { description: 'It was made', types: { [JSON_TYPE]: PROTOCOL_ANSWER }, headers: MADE } },
      problems: ['role-missing', 'already-exists', ...ONCE_PROBLEMS],
    },
    {
      method: 'GET',
      path: PATH,
      id: 'listProtocols',
      summary: 'List protocols',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: PROTOCOL_PAGE } } },
      problems: ['bad-cursor', 'bad-limit'],
    },
    {
      method: 'GET',
      path: `${PATH}/:did`,
      id: 'getProtocol',
      summary: 'Read a protocol',
      query: {
        view: { description: '`composed`: together with what it inherits', schema: { enum: ['plain', 'composed'] } },
        at: { description: 'A version: as it was then', schema: { type: 'string' } },
      },
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The protocol; its ETag, but for the composed view',
          types: { [JSON_TYPE]: { anyOf: [PROTOCOL_ANSWER, COMPOSED_PROTOCOL] } },
        },
        304: NOT_CHANGED,
      },
      problems: ['bad-request', 'not-found'],
    },
    {
      method: 'PATCH',
      path: `${PATH}/:did`,
      id: 'changeProtocol',
      summary: 'Write a new version of a protocol',
      description: 'Role controller, and its controller or an operator.',
      headers: { 'If-Match': { ...IF_MATCH, required: true } },
      body: {
        types: {
          'application/merge-patch+json': CHANGED_PROTOCOL,
          'application/json-patch+json': JSON_PATCH,
          [JSON_TYPE]: CHANGED_PROTOCOL,
        },
      },
      answers: {
        200: {
          description: 'The new version',
          types: { [JSON_TYPE]: PROTOCOL_ANSWER },
          headers: { ETag: 'Its version' },
        },
      },
      problems: [
        ...(['role-missing', 'not-controller', 'not-found', 'already-exists'] as const),
        ...(['revision-changed', 'test-failed', 'precondition-required'] as const),
      ],
    },
  ],
});
