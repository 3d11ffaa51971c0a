// Routes that change domains and entities: PATCH, transfer, deactivation. Bodies are read once the caller's rights are known.

import type { Clock } from '../../../lib/clock.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import { CHANGED_TWIN, TRANSFER } from '../../../lib/domain/schema/bodies.ts';
import { DOMAIN_ANSWER, JSON_PATCH } from '../../../lib/domain/schema/twin-answers.ts';
import type { Graph } from '../../../lib/domain/twin/graph.ts';
import type { Route } from '../../http/route-table.ts';
import { answerTwin } from '../answers.ts';
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
): Route<TwinDeps>[] {
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
      handle: async (ctx, { registry, clock }) => {
        const changed = await registry.patch(readCaller(ctx), {
          did: ctx.params.did!,
          read: async ({ revision }) => ({
            patch: await readPatch(ctx),
            expected: requireIfMatch(ctx, revision),
          }),
        });
        answerTwin(ctx, changed, clock.now());
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
      handle: async (ctx, { registry, clock }) => {
        const given = await registry.transfer(readCaller(ctx), {
          did: ctx.params.did!,
          read: async ({ revision }) => ({
            body: (await readBody(ctx)).value,
            expected: readIfMatch(ctx, revision),
          }),
        });
        answerTwin(ctx, given, clock.now());
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
      handle: async (ctx, { registry, clock }) => {
        const ended = await registry.deactivate(readCaller(ctx), {
          did: ctx.params.did!,
          read: async ({ revision }) => ({ expected: readIfMatch(ctx, revision) }),
        });
        answerTwin(ctx, ended, clock.now());
      },
    },
  ];
}
