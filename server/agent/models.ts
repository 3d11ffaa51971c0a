// GET /models: which models a message may ask for. Public, as people choose before they log in.

import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { JsonObject } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import { methodsAt, routesOf } from '../http/route-table.ts';
import { agentError, answerAgentErrors } from '../user/errors.ts';
import type { AgentDoor } from './door.ts';

/** A model as clients show it. */
export type ModelCard = JsonObject & {
  readonly id: string;
  readonly label: string;
  /** Whose it is, as far as its name tells. */
  readonly family: string;
  readonly tier: string;
  readonly costLabel: string;
  readonly badge: string | null;
  readonly blurb: string;
  /** Whether images of a message are handed on to it. */
  readonly vision: boolean;
  /** Null when the operator alone knows. */
  readonly pricing: Pricing | null;
  readonly isDefault: boolean;
};

type Pricing = {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly currency: 'USD';
  readonly unit: 'per_million_tokens';
};

export type ModelList = { readonly models: readonly ModelCard[]; readonly default: string };

/** The models of this server, the one that answers by itself first. */
export function modelList({ model, agent }: Pick<Config, 'model' | 'agent'>): ModelList {
  if (!model) return { models: [flowCard(agent.flow)], default: agent.flow };
  const models = [model.name, ...model.others].map((id) => modelCard(id, id === model.name));
  return { models, default: model.name };
}

const FREE: Pricing = { inputPerMillion: 0, outputPerMillion: 0, currency: 'USD', unit: 'per_million_tokens' };

function flowCard(flow: string): ModelCard {
  return {
    id: flow,
    label: flow,
    family: 'flow',
    tier: 'free',
    costLabel: 'free',
    badge: null,
    blurb: `The flow "${flow}" answers; no model is asked.`,
    vision: false,
    pricing: FREE,
    isDefault: true,
  };
}

function modelCard(id: string, isDefault: boolean): ModelCard {
  // `meta/llama-4:70b` is of the family meta, and is called llama-4:70b.
  const [owner, ...rest] = id.split('/');
  const label = rest.length ? rest.join('/') : id;
  const family = rest.length ? owner! : id.split(/[-:@\d]/)[0] || id;
  const about = { tier: 'standard', costLabel: '', badge: null, blurb: '' };
  return { id, label, family, ...about, vision: true, pricing: null, isDefault };
}

/** The agent's door with the list of models before it: that one asks for no token, and looks at none. */
export function withModels(door: AgentDoor, list: ModelList): AgentDoor {
  const router = new Router({ sensitive: true, strict: true });
  router.get('/models', (ctx) => {
    ctx.body = list;
  });
  const routes = router.routes() as Middleware;
  const told = answerAgentErrors(() => {});
  const both: Middleware = (ctx, next) => {
    if (ctx.path !== '/models') return door(ctx, next);
    return told(ctx, () =>
      routes(ctx, async () => {
        ctx.set('Allow', methodsAt([router], ctx).join(', '));
        throw agentError(405, '/models takes GET');
      }),
    );
  };
  return Object.assign(both, { ...door, routes: [...routesOf(router), ...door.routes] });
}
