// The plugin `claims`: users and agents submit claims; a cron job has them evaluated, by a service of the deployment.

import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { record } from '../../../lib/json/schema.ts';
import type { ClaimsSettings } from '../../config/agent-settings.ts';
import { readInput } from '../../http/check-input.ts';
import { agentError, BODY_ANSWERS, jsonAnswer, refusalAnswer } from '../../user/errors.ts';
import type { Plugin, PluginRoute } from '../plugin.ts';
import { CLAIM, type Claim, claims, processClaims } from './claim.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const EXAMPLE_ID = '0c7f8f3e-2b5d-4c53-9a55-5a4b3f6f2a10';
const TIME = { type: 'string', format: 'date-time' };

/** The request body. */
const NEW_CLAIM: JsonObject = {
  type: 'object',
  description: 'A claim',
  required: ['collection', 'data'],
  additionalProperties: false,
  properties: {
    collection: { type: 'string', minLength: 1, maxLength: 256, description: 'The kind of claim' },
    data: { type: 'object', description: 'The content of the claim' },
  },
};
type NewClaim = { readonly collection: string; readonly data: JsonObject };

const VIEW = record(
  'A claim',
  {
    id: TEXT,
    collection: TEXT,
    data: { type: 'object', additionalProperties: true },
    status: { enum: ['pending', 'approved', 'rejected', 'failed'] },
    reason: { type: ['string', 'null'], description: 'Why it was rejected or failed' },
    submittedAt: TIME,
    evaluatedAt: { anyOf: [TIME, { type: 'null' }] },
  },
  [],
);

function viewClaim({ id, body }: Claim): JsonObject {
  const { collection, data, status, reason, submitted, evaluated } = body;
  const evaluatedAt = evaluated === null ? null : new Date(evaluated).toISOString();
  return { id, collection, data, status, reason, submittedAt: new Date(submitted).toISOString(), evaluatedAt };
}

const USER_ROUTES: readonly PluginRoute[] = [
  {
    method: 'POST',
    path: '/claims',
    id: 'submitClaim',
    summary: 'Submit a claim',
    body: { types: { 'application/json': NEW_CLAIM }, example: { collection: 'stoves', data: { burners: 2 } } },
    answers: { 201: jsonAnswer('The claim', VIEW), ...BODY_ANSWERS },
    async handle(koa, ctx) {
      const { body } = readInput<{ body: NewClaim }>(koa);
      koa.status = 201;
      koa.body = viewClaim(await claims(ctx).submit(ctx.requireDid(), body));
    },
  },
  {
    method: 'GET',
    path: '/claims',
    id: 'listClaims',
    summary: 'Your claims, newest first',
    answers: { 200: jsonAnswer('Up to 100 claims', record('Claims', { claims: { type: 'array', items: VIEW } })) },
    async handle(koa, ctx) {
      koa.body = { claims: (await claims(ctx).list(ctx.requireDid())).map(viewClaim) };
    },
  },
  {
    method: 'GET',
    path: '/claims/:id',
    id: 'getClaim',
    summary: 'One of your claims',
    answers: { 200: jsonAnswer('The claim', VIEW), 404: refusalAnswer('You have no such claim') },
    async handle(koa, ctx) {
      const claim = await claims(ctx).get(ctx.requireDid(), koa.params.id!);
      if (!claim) throw agentError(404, 'Claim not found');
      koa.body = viewClaim(claim);
    },
  },
];

/** For a cron job. */
function processRoute(secret: string, service: string): PluginRoute {
  const counts = record('Counts', {
    processed: COUNT,
    approved: COUNT,
    rejected: COUNT,
    failed: { ...COUNT, description: 'Failed on the last attempt' },
    postponed: { ...COUNT, description: 'Will be retried' },
    remaining: { ...COUNT, description: 'Still due: call again' },
  });
  return {
    method: 'POST',
    path: '/claims/process',
    access: { bearer: secret, name: 'CLAIMS_SECRET' },
    id: 'processClaims',
    summary: 'Evaluate due claims, as a cron job',
    description: 'Up to 100 claims, with CLAIMS_SECRET as the bearer token. Concurrent calls share the work.',
    answers: { 200: jsonAnswer('The outcome counts', counts) },
    async handle(koa, ctx) {
      koa.set('Cache-Control', 'no-store');
      koa.body = await processClaims(ctx, ctx.services[service]!);
    },
  };
}

export function claimsPlugin({ secret, service }: ClaimsSettings): Plugin {
  if (secret === undefined || service === undefined) {
    const fixes = [
      secret === undefined &&
        'CLAIMS_SECRET: is not set, but the claims plugin requires it. Generate one with: openssl rand -hex 32',
      service === undefined &&
        'CLAIMS_SERVICE: is not set, but the claims plugin requires it. Name the function of SERVICES that evaluates a claim.',
    ];
    throw new TwinlineError('ERR_CONFIG', fixes.filter(Boolean).join('\n'));
  }
  return {
    name: 'claims',
    version: '1.0.0',
    kinds: [CLAIM],
    start({ services }) {
      if (!Object.hasOwn(services, service))
        throw new TwinlineError(
          'ERR_CONFIG',
          `CLAIMS_SERVICE=${JSON.stringify(service)} is not a service. Name a function that a module of SERVICES exports.`,
        );
    },
    documentation: {
      description: 'Claims of users, evaluated by a cron job.',
      parameters: { id: { description: 'The id of a claim', schema: { ...TEXT, examples: [EXAMPLE_ID] } } },
    },
    routes: [processRoute(secret, service), ...USER_ROUTES],
    tools: [
      {
        name: 'submit_claim',
        description: 'Submits a claim of the user for evaluation; returns its id and status.',
        schema: NEW_CLAIM,
        handler: async (args, ctx) => {
          const { collection, data } = args as NewClaim;
          const key = ctx.idempotencyKey;
          return viewClaim(await claims(ctx).submit(ctx.requireDid(), { collection, data, ...(key && { key }) }));
        },
      },
    ],
  };
}
