// GET /models: which models a message may ask for. Public, as people choose before they log in.

import { record, type Schema } from '../../lib/json/schema.ts';
import type { Config } from '../config/config.ts';
import { PLAIN_ANSWERS } from '../http/common-answers.ts';
import type { RouteGroup } from '../http/route-table.ts';
import { jsonAnswer } from '../user/errors.ts';

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
  family: { type: 'string', description: 'Whose it is, as far as its name tells' },
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

export type ModelSettings = Pick<Config, 'model' | 'agent'>;

export const MODEL_ROUTES: RouteGroup<ModelSettings> = {
  tag: 'Models',
  access: 'public',
  description: 'Which models an agent can be asked to answer with.',
  routes: [
    {
      method: 'GET',
      path: '/models',
      id: 'listModels',
      summary: 'The models that a message may name',
      answers: { 200: jsonAnswer('The models', MODELS), 429: PLAIN_ANSWERS[429] },
      handle(ctx, settings) {
        ctx.body = modelList(settings);
      },
    },
  ],
};

/** The models of this server, the one that answers by itself first. */
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
    blurb: `The flow "${flow}" answers; no model is asked.`,
    vision: false,
    pricing: { inputPerMillion: 0, outputPerMillion: 0, currency: 'USD', unit: 'per_million_tokens' },
    isDefault: true,
  };
}

function modelCard(id: string, isDefault: boolean) {
  // `meta/llama-4:70b` is of the family meta, and is called llama-4:70b.
  const [owner, ...rest] = id.split('/');
  const label = rest.length ? rest.join('/') : id;
  const family = rest.length ? owner! : id.split(/[-:@\d]/)[0] || id;
  const about = { tier: 'standard', costLabel: '', badge: null, blurb: '' };
  return { id, label, family, ...about, vision: true, pricing: null, isDefault };
}
