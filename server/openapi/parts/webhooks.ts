// Webhooks, as OpenAPI describes them.

import { page } from '../../../lib/domain/schema/twin-answers.ts';
import { LETTER_ANSWER, WEBHOOK_ANSWER } from '../../../lib/domain/schema/webhook-answers.ts';
import { CHANGED_WEBHOOK, NEW_WEBHOOK } from '../../../lib/domain/schema/webhooks.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { domainPart, IF_MATCH, JSON_TYPE, SHORT_PAGE } from './domain-part.ts';

const PATH = '/v1/webhooks';
const ONE = `${PATH}/:id`;
const WEBHOOK_PAGE = page(WEBHOOK_ANSWER, 'A page of webhooks');
const LETTER_PAGE = page(LETTER_ANSWER, 'A page of events that could not be delivered');
const ETAG = { ETag: 'Its revision' };
const SHOWN = { description: 'The webhook', types: { [JSON_TYPE]: WEBHOOK_ANSWER }, headers: ETAG };

export const WEBHOOKS_PART: RouteGroup = domainPart({
  tag: 'Webhooks',
  description: `Events, sent to addresses on the public internet over https. Requests are signed as Standard Webhooks say,
come in order, and at least once: the header \`webhook-id\` is the same each time. Role controller or operator.`,
  problems: ['unauthorized', 'role-missing'],
  parameters: {
    id: { description: 'The id of a webhook', schema: { type: 'string' } },
    seq: { description: 'The number of an event', schema: { type: 'string' } },
  },
  schemas: {
    NewWebhook: NEW_WEBHOOK,
    ChangedWebhook: CHANGED_WEBHOOK,
    Webhook: WEBHOOK_ANSWER,
    WebhookPage: WEBHOOK_PAGE,
    Letter: LETTER_ANSWER,
    LetterPage: LETTER_PAGE,
  },
  routes: [
    {
      method: 'POST',
      path: PATH,
      id: 'createWebhook',
      summary: 'Ask to be told of events',
      body: {
        types: { [JSON_TYPE]: NEW_WEBHOOK },
        example: { url: 'https://example.com/events', events: ['domain.*'] },
      },
      answers: {
        201: {
          description: 'The webhook, with the secret that its requests are signed with',
          types: { [JSON_TYPE]: WEBHOOK_ANSWER },
          headers: { Location: 'Where it is', ...ETAG },
        },
      },
      problems: [],
    },
    {
      method: 'GET',
      path: PATH,
      id: 'listWebhooks',
      summary: 'List webhooks',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: WEBHOOK_PAGE } } },
      problems: ['bad-cursor', 'bad-limit'],
    },
    {
      method: 'GET',
      path: ONE,
      id: 'getWebhook',
      summary: 'Read a webhook',
      answers: { 200: SHOWN },
      problems: ['not-found'],
    },
    {
      method: 'PATCH',
      path: ONE,
      id: 'changeWebhook',
      summary: 'Change, pause or go on with a webhook',
      headers: { 'If-Match': IF_MATCH },
      body: { types: { 'application/merge-patch+json': CHANGED_WEBHOOK, [JSON_TYPE]: CHANGED_WEBHOOK } },
      answers: { 200: SHOWN },
      problems: ['not-found', 'revision-changed'],
    },
    {
      method: 'DELETE',
      path: ONE,
      id: 'removeWebhook',
      summary: 'Remove a webhook',
      answers: { 200: { ...SHOWN, description: 'As it was' } },
      problems: ['not-found'],
    },
    {
      method: 'GET',
      path: `${ONE}/deliveries`,
      id: 'listLetters',
      summary: 'The events that could not be delivered',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: LETTER_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found'],
    },
    {
      method: 'POST',
      path: `${ONE}/deliveries/:seq/retry`,
      id: 'retryLetter',
      summary: 'Send one of them again',
      answers: { 200: { description: 'What became of it', types: { [JSON_TYPE]: LETTER_ANSWER } } },
      problems: ['not-found'],
    },
  ],
});
