// The list of models, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { PLAIN_ANSWERS } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';

const TEXT: Schema = { type: 'string' };
const PRICE: Schema = { type: 'number', minimum: 0 };

const PRICING = record('What it costs', {
  inputPerMillion: PRICE,
  outputPerMillion: PRICE,
  currency: { const: 'USD' },
  unit: { const: 'per_million_tokens' },
});

const MODEL = record('A model', {
  id: { type: 'string', description: 'What a message names as its `model`' },
  label: TEXT,
  family: TEXT,
  tier: TEXT,
  costLabel: TEXT,
  badge: { type: ['string', 'null'] },
  blurb: TEXT,
  vision: { type: 'boolean', description: 'Whether images of a message are handed on to it' },
  pricing: { oneOf: [PRICING, { type: 'null' }], description: 'Null where the operator alone knows' },
  isDefault: { type: 'boolean' },
});

const MODELS = record('The models of this server', {
  models: { type: 'array', items: MODEL },
  default: { type: 'string', description: 'The one that answers a message which names no other' },
});

export const MODELS_PART: RouteGroup = {
  tag: 'Models',
  description: 'Which models an agent can be asked to answer with.',
  routes: [
    {
      method: 'GET',
      path: '/models',
      id: 'listModels',
      summary: 'The models that a message may name',
      answers: {
        200: { description: 'The models', types: { 'application/json': MODELS } },
        429: PLAIN_ANSWERS[429],
      },
    },
  ],
};
