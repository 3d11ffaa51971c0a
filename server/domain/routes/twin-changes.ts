// Routes that change domains and entities: PATCH, transfer, deactivation. Bodies are read once the caller's rights are known.

import type { Clock } from '../../../lib/clock.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import { CHANGED_TWIN, TRANSFER } from '../../../lib/domain/schema/bodies.ts';
import { DOMAIN_ANSWER, JSON_PATCH } from '../../../lib/domain/schema/twin-answers.ts';
import type { Graph } from '../../../lib/domain/twin/graph.ts';
import type { ReplyRoute } from '../../http/route-table.ts';
import { showTwin } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import { IF_MATCH, JSON_TYPE, readBody, readIfMatch, readPatch, requireIfMatch } from '../requests.ts';

export interface TwinDeps {
  /** The twins around one as SVG. */
  readonly drawGraph: (graph: Graph) => Promise<string>;
  readonly registry: Registry;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

const SHOWN = { description: 'The record', types: { [JSON_TYPE]: DOMAIN_ANSWER }, headers: { ETag: 'Its revision' } };

/** The changes of a twin at this path. */
export function changeRoutes(
  path: string,
  { Noun, noun }: { readonly Noun: string; readonly noun: string },
): ReplyRoute<TwinDeps>[] {
  return [
    {
      method: 'PATCH',
      path,
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
        ...(['role-missing', 'not-controller', 'not-found', 'gone', 'already-exists'] as const),
        ...(['last-membership-group', 'revision-changed', 'test-failed', 'precondition-required'] as const),
      ],
      reply: async (request, { registry, clock }) => {
        const changed = await registry.patch(readCaller(request), {
          did: request.params.did!,
          read: async ({ revision }) => ({
            patch: await readPatch(request),
            expected: requireIfMatch(request, revision),
          }),
        });
        return showTwin(changed, clock.now());
      },
    },
    {
      method: 'POST',
      path: `${path}/transfer`,
      id: `transfer${Noun}`,
      summary: `Give ${noun} another controller`,
      headers: { 'If-Match': IF_MATCH },
      body: { types: { [JSON_TYPE]: TRANSFER } },
      answers: { 200: SHOWN },
      problems: ['role-missing', 'not-controller', 'not-found', 'gone', 'revision-changed'],
      reply: async (request, { registry, clock }) => {
        const transferred = await registry.transfer(readCaller(request), {
          did: request.params.did!,
          read: async ({ revision }) => ({
            body: (await readBody(request)).value,
            expected: readIfMatch(request, revision),
          }),
        });
        return showTwin(transferred, clock.now());
      },
    },
    {
      method: 'DELETE',
      path,
      id: `deactivate${Noun}`,
      summary: `Deactivate ${noun}`,
      description: 'Its DID and its history stay.',
      headers: { 'If-Match': IF_MATCH },
      answers: { 200: SHOWN },
      problems: [
        ...(['role-missing', 'not-controller', 'not-found', 'gone', 'revision-changed'] as const),
        ...(['last-membership-group', 'still-referenced'] as const),
      ],
      reply: async (request, { registry, clock }) => {
        const ended = await registry.deactivate(readCaller(request), {
          did: request.params.did!,
          read: async ({ revision }) => ({ expected: readIfMatch(request, revision) }),
        });
        return showTwin(ended, clock.now());
      },
    },
  ];
}
