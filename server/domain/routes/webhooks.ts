// Routes of webhooks: /v1/webhooks. A secret is only ever shown in the answer to the request that made it.

import { requireRole } from '../../../lib/domain/caller.ts';
import { type DeadLetter, deadLetterView, webhookView } from '../../../lib/domain/feed/webhook.ts';
import type { WebhookState, Webhooks } from '../../../lib/domain/feed/webhooks.ts';
import { CHANGED_WEBHOOK, NEW_WEBHOOK } from '../../../lib/domain/schema/bodies.ts';
import { LETTER_ANSWER, WEBHOOK_ANSWER } from '../../../lib/domain/schema/webhook-answers.ts';
import { page } from '../../../lib/json/schema.ts';
import { JSON_TYPES } from '../../http/json-body.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { showPage } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import {
  domainGroup,
  ID_EXAMPLE,
  IF_MATCH,
  JSON_TYPE,
  readBody,
  readIfMatch,
  readQuery,
  SHORT_PAGE,
} from '../requests.ts';

export interface WebhookDeps {
  readonly webhooks: Webhooks;
}

const PATH = '/v1/webhooks';
const ONE = `${PATH}/:id`;
const WEBHOOK_PAGE = page(WEBHOOK_ANSWER, 'A page of webhooks');
const LETTER_PAGE = page(LETTER_ANSWER, 'A page of events that could not be delivered');
const ETAG = { ETag: 'Its revision' };
const SHOWN = { description: 'The webhook', types: { [JSON_TYPE]: WEBHOOK_ANSWER }, headers: ETAG };

/** Webhooks and what could not be delivered to them. */
export const WEBHOOK_ROUTES: RouteGroup<WebhookDeps> = domainGroup({
  tag: 'Webhooks',
  description: `Events, sent to addresses on the public internet over https. Requests are signed as Standard Webhooks say,
come in order, and at least once: the header \`webhook-id\` is the same each time. Role controller or operator.`,
  problems: ['unauthorized', 'role-missing'],
  parameters: {
    id: {
      description: 'The id of a webhook',
      schema: { type: 'string', examples: [ID_EXAMPLE] },
    },
    seq: { description: 'The number of an event', schema: { type: 'string', examples: ['1'] } },
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
      reply: async (request, { webhooks }) => {
        const caller = readCaller(request);
        requireRole(caller, 'manage webhooks');
        const reply = showState(await webhooks.create(caller, (await readBody(request)).value));
        return { status: 201, ...reply, headers: { ...reply.headers, Location: reply.body.links.self } };
      },
    },
    {
      method: 'GET',
      path: PATH,
      id: 'listWebhooks',
      summary: 'List webhooks',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: WEBHOOK_PAGE } } },
      problems: ['bad-cursor', 'bad-limit'],
      reply: async (request, { webhooks }) => {
        const page = await webhooks.list(readCaller(request), readQuery(request, SHORT_PAGE));
        return showPage(request, { items: page.items.map(showWebhook), next: page.next });
      },
    },
    {
      method: 'GET',
      path: ONE,
      id: 'getWebhook',
      summary: 'Read a webhook',
      answers: { 200: SHOWN },
      problems: ['not-found'],
      reply: async (request, { webhooks }) => showState(await webhooks.get(readCaller(request), request.params.id!)),
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
      reply: async (request, { webhooks }) => {
        const read = async ({ revision }: { readonly revision: number }) => ({
          body: (await readBody(request, { types: CHANGE_TYPES })).value,
          expected: readIfMatch(request, revision),
        });
        return showState(await webhooks.change(readCaller(request), request.params.id!, { read }));
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      id: 'removeWebhook',
      summary: 'Remove a webhook',
      answers: { 200: { ...SHOWN, description: 'As it was' } },
      problems: ['not-found'],
      reply: async (request, { webhooks }) => showState(await webhooks.remove(readCaller(request), request.params.id!)),
    },
    {
      method: 'GET',
      path: `${ONE}/deliveries`,
      id: 'listLetters',
      summary: 'The events that could not be delivered',
      query: SHORT_PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: LETTER_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found'],
      reply: async (request, { webhooks }) => {
        const query = { id: request.params.id!, ...readQuery(request, SHORT_PAGE) };
        const page = await webhooks.letters(readCaller(request), query);
        return showPage(request, { items: page.items.map(showDeadLetter), next: page.next });
      },
    },
    {
      method: 'POST',
      path: `${ONE}/deliveries/:seq/retry`,
      id: 'retryLetter',
      summary: 'Send one of them again',
      answers: { 200: { description: 'What became of it', types: { [JSON_TYPE]: LETTER_ANSWER } } },
      problems: ['not-found'],
      reply: async (request, { webhooks }) => {
        const { id, seq } = request.params as { id: string; seq: string };
        return { body: showDeadLetter(await webhooks.retry(readCaller(request), { id, seq })) };
      },
    },
  ],
});

const CHANGE_TYPES = ['application/merge-patch+json', ...JSON_TYPES];

function showState(state: WebhookState) {
  const { webhook, secret } = state;
  const headers = { ETag: `"${webhook.revision}"`, 'Cache-Control': 'no-store' };
  return { headers, body: { ...showWebhook(state), ...(secret !== undefined && { secret }) } };
}

function showWebhook({ webhook, progress }: WebhookState) {
  const self = `${PATH}/${webhook.id}`;
  return { ...webhookView(webhook, progress?.body), links: { self, deliveries: `${self}/deliveries` } };
}

/** An event that was put aside, as clients read it. */
export function showDeadLetter(deadLetter: DeadLetter) {
  const { webhook, seq } = deadLetter.body;
  return { ...deadLetterView(deadLetter), links: { retry: `${PATH}/${webhook}/deliveries/${seq}/retry` } };
}
