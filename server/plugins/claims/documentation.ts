// Claims as users send and read them, and what /openapi.json says of them.

import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { AGENT_ERROR } from '../../user/errors.ts';
import type { PluginDocumentation } from '../plugin.ts';
import type { Claim } from './claim.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const TIME = { type: 'string', format: 'date-time' };

/** What is submitted. */
export const NEW_CLAIM: JsonObject = {
  type: 'object',
  description: 'A claim',
  required: ['collection', 'data'],
  additionalProperties: false,
  properties: {
    collection: { type: 'string', minLength: 1, maxLength: 256, description: 'What it is a claim of' },
    data: { type: 'object', description: 'What is claimed' },
  },
};

const VIEW = record(
  'A claim',
  {
    id: TEXT,
    collection: TEXT,
    data: { type: 'object', additionalProperties: true },
    status: { enum: ['pending', 'approved', 'rejected', 'failed'] },
    reason: { type: ['string', 'null'], description: 'Why it was rejected, or failed' },
    submittedAt: TIME,
    evaluatedAt: { anyOf: [TIME, { type: 'null' }] },
  },
  [],
) as JsonObject;

export function viewOf({ id, body }: Claim): JsonObject {
  const { collection, data, status, reason, submitted, evaluated } = body;
  const evaluatedAt = evaluated === null ? null : new Date(evaluated).toISOString();
  return { id, collection, data, status, reason, submittedAt: new Date(submitted).toISOString(), evaluatedAt };
}

const json = (schema: JsonObject) => ({ 'application/json': schema });
const refused = (description: string) => ({ description, types: { 'application/json': AGENT_ERROR } });

export const documentation: PluginDocumentation = {
  description: 'Claims of users, which a cron job has evaluated.',
  parameters: { id: { description: 'The id of a claim', schema: TEXT } },
  routes: [
    {
      method: 'POST',
      path: '/claims',
      id: 'submitClaim',
      summary: 'Submit a claim',
      body: { types: json(NEW_CLAIM), example: { collection: 'stoves', data: { burners: 2 } } },
      answers: {
        201: { description: 'The claim', types: json(VIEW) },
        400: refused('Something is wrong; `message` lists everything'),
        413: refused('The body is too large'),
        415: refused('The encoding of the body is not read'),
      },
    },
    {
      method: 'GET',
      path: '/claims',
      id: 'listClaims',
      summary: 'Your claims, the newest first',
      answers: {
        200: {
          description: 'Up to 100 claims',
          types: json(record('Claims', { claims: { type: 'array', items: VIEW } }) as JsonObject),
        },
      },
    },
    {
      method: 'GET',
      path: '/claims/:id',
      id: 'getClaim',
      summary: 'One of your claims',
      answers: { 200: { description: 'The claim', types: json(VIEW) }, 404: refused('You have no such claim') },
    },
    {
      method: 'POST',
      path: '/claims/process',
      id: 'processClaims',
      summary: 'Have claims evaluated that are due, as a cron job',
      description:
        'Up to 100 of them, with the CLAIMS_SECRET as a bearer token. Calls at the same time share the work.',
      answers: {
        200: {
          description: 'What became of them',
          types: json(
            record('Counts', {
              processed: COUNT,
              approved: COUNT,
              rejected: COUNT,
              failed: { ...COUNT, description: 'Tried for the last time' },
              postponed: { ...COUNT, description: 'To be tried again' },
              remaining: { ...COUNT, description: 'Still due: call again' },
            }) as JsonObject,
          ),
        },
      },
    },
  ],
};
