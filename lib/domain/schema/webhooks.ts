// The bodies of requests about webhooks, as JSON Schemas.

import { DOMAIN_LIMITS } from '../limits.ts';
import { type Schema, text } from './parts.ts';

const URL_TEXT = text(2_048, 'Where events are sent to: https, and on the public internet');
const EVENTS: Schema = {
  type: 'array',
  description: 'Types of events such as domain.verified, or families such as proposal.*; empty or left out: all',
  items: text(64, 'A type of event'),
  maxItems: DOMAIN_LIMITS.eventTypes,
};
const SECRET = text(256, 'What requests are signed with; whsec_ and base64, or any text', {
  minLength: 16,
  pattern: '^(whsec_[A-Za-z0-9+/]{16,248}={0,2}|(?!whsec_)[\\x21-\\x7e]+)$',
});

export const NEW_WEBHOOK: Schema = {
  type: 'object',
  required: ['url'],
  properties: { url: URL_TEXT, events: EVENTS, secret: SECRET },
  additionalProperties: false,
};

export const CHANGED_WEBHOOK: Schema = {
  type: 'object',
  properties: {
    url: URL_TEXT,
    events: EVENTS,
    secret: { description: 'null: a new one is made, and shown once', anyOf: [SECRET, { type: 'null' }] },
    status: { enum: ['active', 'paused'] },
  },
  additionalProperties: false,
};
