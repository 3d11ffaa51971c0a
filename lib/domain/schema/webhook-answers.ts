// What the domain service answers about webhooks, as JSON Schemas.

import { record, type Schema } from '../../json/schema.ts';
import { TIME } from './parts.ts';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const MAYBE_TIME: Schema = { type: ['string', 'null'], format: 'date-time' };
const LINKS: Schema = { type: 'object', additionalProperties: { type: 'string', format: 'uri-reference' } };

const FAILURE: Schema = {
  description: 'Why the last try failed; null when it did not',
  oneOf: [
    record('A failed try', {
      at: TIME,
      status: { type: ['integer', 'null'], description: 'Of the answer; null without one' },
      error: TEXT,
    }),
    { type: 'null' },
  ],
};

/** Something that happened, as it is streamed and sent. */
export const EVENT = record(
  'Something that happened',
  {
    seq: { type: 'integer', minimum: 0, description: 'Its number; later ones are greater' },
    type: { type: 'string', examples: ['domain.created', 'vote.cast', 'domain.verified'] },
    did: { type: 'string', description: 'The twin or protocol that it is about' },
    revision: { type: 'integer', minimum: 1 },
    at: TIME,
    data: { type: 'object', additionalProperties: true },
  },
  ['revision'],
);

export const WEBHOOK_ANSWER = record(
  'Where events are sent, and how far that has come',
  {
    id: TEXT,
    url: { type: 'string', format: 'uri' },
    events: { type: 'array', items: TEXT, description: 'Types of events or families; empty: all' },
    status: { enum: ['active', 'paused'] },
    created: TIME,
    updated: TIME,
    revision: { type: 'integer', minimum: 1 },
    delivery: {
      oneOf: [
        record('How far it has come', {
          upTo: { ...COUNT, description: 'All events up to this number are dealt with' },
          delivered: COUNT,
          dead: { ...COUNT, description: 'Events that were put aside after all tries' },
          lastDeliveredAt: MAYBE_TIME,
          failedAttempts: COUNT,
          nextAttemptAt: MAYBE_TIME,
          lastFailure: FAILURE,
        }),
        { type: 'null' },
      ],
    },
    secret: { type: 'string', description: 'Shown once: in the answer to the request that made it' },
    links: LINKS,
  },
  ['secret'],
);

export const LETTER_ANSWER = record('An event that could not be delivered', {
  id: TEXT,
  webhook: TEXT,
  status: { enum: ['dead', 'delivered'] },
  attempts: COUNT,
  event: EVENT,
  created: TIME,
  expires: MAYBE_TIME,
  lastFailure: FAILURE,
  links: LINKS,
});
