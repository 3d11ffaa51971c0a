// GET /models: the models that a message may choose. Public, because people choose before they log in.

import { record, type Schema } from '../../lib/json/schema.ts';
import type { Config } from '../config/config.ts';
import { PLAIN_ANSWERS } from '../http/common-answers.ts';
import type { RouteGroup } from '../http/route-table.ts';
import { jsonAnswer } from '../user/errors.ts';

const TEXT: Schema = { type: 'string' };
const PRICE: Schema = { type: 'number', minimum: 0 };

const PRICING = record('The price', {
  inputPerMillion: PRICE,
  outputPerMillion: PRICE,
  currency: { const: 'USD' },
  unit: { const: 'per_million_tokens' },
});

const MODEL = record('A model', {
  id: { type: 'string', description: 'The value of `model` in a message' },
  label: TEXT,
  family: { type: 'string', description: 'The vendor, derived from the name' },
  tier: TEXT,
  costLabel: TEXT,
  badge: { type: ['string', 'null'] },
  blurb: TEXT,
  vision: { type: 'boolean', description: 'Whether it receives images of a message' },
  pricing: { oneOf: [PRICING, { type: 'null' }], description: 'Null when known only to the operator' },
  isDefault: { type: 'boolean' },
});

const MODELS = record('The models of this server', {
  models: { type: 'array', items: MODEL },
  default: { type: 'string', description: 'The model for messages that name none' },
});

export type ModelSettings = Pick<Config, 'model' | 'agent'>;

export const MODEL_ROUTES: RouteGroup<ModelSettings> = {
  tag: 'Models',
  access: 'public',
  description: 'The models that an agent can answer with.',
  routes: [
    {
      method: 'GET',
      path: '/models',
      id: 'listModels',
      summary: 'The models that a message may name',
      answers: { 200: jsonAnswer('The models', MODELS), 429: PLAIN_ANSWERS[429] },
      reply: (_request, settings) => ({ body: modelList(settings) }),
    },
  ],
};

/** The models of this server, the default one first. */
export function modelList({ model, agent }: ModelSettings) {
  if (!model) return { models: [flowCard(agent.flow)], default: agent.flow };
  const models = [model.name, ...model.others].map((id) => modelCard(id, id === model.name));
  return { models, default: model.name };
}

function flowCard(flow: string) {
  return {
    id: flow,
    label: flow,
    family: 'flow',
    tier: 'free',
    costLabel: 'free',
    badge: null,
    blurb: `The flow "${flow}" answers, without a model.`,
    vision: false,
    pricing: { inputPerMillion: 0, outputPerMillion: 0, currency: 'USD', unit: 'per_million_tokens' },
    isDefault: true,
  };
}

function modelCard(id: string, isDefault: boolean) {
  // `meta/llama-4:70b`: family meta, label llama-4:70b.
  const [owner, ...rest] = id.split('/');
  const label = rest.length ? rest.join('/') : id;
  const family = rest.length ? owner! : id.split(/[-:@\d]/)[0] || id;
  const about = { tier: 'standard', costLabel: '', badge: null, blurb: '' };
  return { id, label, family, ...about, vision: true, pricing: null, isDefault };
}
