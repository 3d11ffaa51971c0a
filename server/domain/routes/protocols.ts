// Routes of protocols: /v1/protocols. A change writes a new version; the versions before it stay.

import type { Clock } from '../../../lib/clock.ts';
import { requireRole } from '../../../lib/domain/caller.ts';
import { mintDid, pathSegment } from '../../../lib/domain/did/did.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import { CHANGED_PROTOCOL, NEW_PROTOCOL } from '../../../lib/domain/schema/bodies.ts';
import { COMPOSED_PROTOCOL, JSON_PATCH, PROTOCOL_ANSWER } from '../../../lib/domain/schema/twin-answers.ts';
import { revisionOrMoment } from '../../../lib/domain/twin/history.ts';
import { applyPatch } from '../../../lib/domain/twin/patch.ts';
import { type Protocol, type Protocols, protocolView } from '../../../lib/domain/twin/protocol.ts';
import { readLineage } from '../../../lib/domain/twin/rules.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { page } from '../../../lib/json/schema.ts';
import type { RouteGroup, RouteRequest } from '../../http/route-table.ts';
import { answerOnce, sendUnlessCached, showPage } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import {
  DID,
  domainGroup,
  IDEMPOTENCY_KEY,
  IF_MATCH,
  IF_NONE_MATCH,
  JSON_TYPE,
  MADE,
  NOT_CHANGED,
  ONCE_PROBLEMS,
  PAGE,
  PROTOCOL_EXAMPLE,
  readBody,
  readPatch,
  readQuery,
  requireIfMatch,
} from '../requests.ts';

export interface ProtocolDeps {
  readonly registry: Registry;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

const PATH = '/v1/protocols';
const PROTOCOL_PAGE = page(PROTOCOL_ANSWER, 'A page of protocols');
const VIEW = {
  view: { description: '`composed`: together with what it inherits', schema: { enum: ['plain', 'composed'] } },
  at: { description: 'A version: as it was then', schema: { type: 'string' } },
} as const;

/** Protocols and their versions. */
export const PROTOCOL_ROUTES: RouteGroup<ProtocolDeps> = domainGroup({
  tag: 'Protocols',
  description: 'Templates of twins. A change makes a new version; twins stay on the version that they name.',
  parameters: { did: { ...DID, schema: { type: 'string', examples: [PROTOCOL_EXAMPLE] } } },
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
          alsoKnownAs: PROTOCOL_EXAMPLE,
          properties: { burns: 'number' },
          relationships: { operator: 'OrganisationEntity' },
        },
      },
      answers: { 201: { description: 'It was made', types: { [JSON_TYPE]: PROTOCOL_ANSWER }, headers: MADE } },
      problems: ['role-missing', 'already-exists', ...ONCE_PROBLEMS],
      reply: async (request, { registry: { protocols }, idempotency }) => {
        const caller = readCaller(request);
        requireRole(caller, 'create twins');
        const body = await readBody(request);
        return answerOnce(request, { idempotency, body }, async (token) => {
          const protocol = await protocols.create(caller, body.value, mintDid(token));
          const view = makeLinkedView(protocol);
          return { status: 201, headers: { Location: view.links.self, ETag: `"${protocol.version}"` }, body: view };
        });
      },
    },
    {
      method: 'GET',
      path: PATH,
      id: 'listProtocols',
      summary: 'List protocols',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: PROTOCOL_PAGE } } },
      problems: ['bad-cursor', 'bad-limit'],
      reply: async (request, { registry: { protocols } }) => {
        const { items, next } = await protocols.list(readCaller(request), readQuery(request, PAGE));
        return showPage(request, { items: items.map(makeLinkedView), next });
      },
    },
    {
      method: 'GET',
      path: `${PATH}/:did`,
      id: 'getProtocol',
      summary: 'Read a protocol',
      query: VIEW,
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The protocol; its ETag, but for the composed view',
          types: { [JSON_TYPE]: { anyOf: [PROTOCOL_ANSWER, COMPOSED_PROTOCOL] } },
        },
        304: NOT_CHANGED,
      },
      problems: ['bad-request', 'not-found'],
      reply: async (request, { registry: { protocols }, clock }) => {
        const present = await protocols.get(readCaller(request), request.params.did!);
        const { at, view } = readQuery(request, VIEW);
        const protocol = at === undefined ? present : await findVersion(protocols, present, { at, now: clock.now() });
        if (view === 'composed') return { body: await composeView(protocols, protocol) };
        return sendUnlessCached(request, showProtocol(protocol));
      },
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
      reply: async (request, { registry: { protocols } }) => {
        const read = (present: Protocol) => readChange(request, present);
        return showProtocol(await protocols.change(readCaller(request), request.params.did!, { read }));
      },
    },
  ],
});

const CHANGEABLE = [
  ...['name', 'alsoKnownAs', 'parent', 'controller', 'metadata', 'properties', 'relationships'],
  ...['linkedResource', 'linkedClaim', 'linkedEntity', 'accordedRight'],
];

async function readChange(request: RouteRequest, present: Protocol) {
  const patch = await readPatch(request);
  const expected = requireIfMatch(request, present.version);
  if (expected !== present.version)
    throw refuse('revision-changed', `The protocol is at version ${present.version}, not ${expected}. Read it again.`);
  const view = protocolView(present);
  const base = Object.fromEntries(CHANGEABLE.map((field) => [field, view[field] ?? null]));
  const after = Object.entries(await applyPatch(base, patch)).filter(([, part]) => part !== null);
  return { expected, body: Object.fromEntries(after) };
}

function makeLinkedView(protocol: Protocol) {
  return { ...protocolView(protocol), links: { self: `${PATH}/${pathSegment(protocol.body.did)}` } };
}

function showProtocol(protocol: Protocol) {
  return { headers: { ETag: `"${protocol.version}"` }, body: makeLinkedView(protocol) };
}

async function findVersion(
  protocols: Protocols,
  { body }: Protocol,
  { at, now }: { at: string; now: number },
): Promise<Protocol> {
  const version = revisionOrMoment(at);
  const protocol =
    'revision' in version
      ? await protocols.at(body.did, version.revision)
      : version.moment <= now && (await protocols.readAtTime(body.did, version.moment));
  if (protocol) return protocol;
  throw refuse('not-found', `${body.did} has no version ${JSON.stringify(at)}.`);
}

async function composeView(protocols: Protocols, protocol: Protocol): Promise<JsonObject> {
  const { properties, relationships, protocols: chain } = await readLineage(protocols, protocol);
  const classChain = chain.map(({ body, version }) => ({ did: body.did, version, name: body.name }));
  return { ...makeLinkedView(protocol), properties, relationships, composed: true, classChain };
}
