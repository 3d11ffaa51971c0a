// The pages of operators: phones that dial, chats with the agent, and the inspector.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { systemClock } from '../../../lib/clock.ts';
import { didOfKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { Config } from '../../config/config.ts';
import { PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../../http/common-answers.ts';
import type { OperatorRule } from '../../http/middleware/operator.ts';
import { ownOriginOnly, ownPagesOnly } from '../../http/middleware/own-origin.ts';
import { addRoutes, type RouteGroup } from '../../http/route-table.ts';
import { CHAT_ROUTES, type ChatDeps } from '../chat/routes.ts';
import { INSPECTOR_ROUTES, type InspectorDoor } from '../inspector/routes.ts';
import { SIMULATOR_ROUTES, type SimulatorDeps } from '../simulator/routes.ts';
import { NO_STUDIO } from '../studio/open.ts';
import { STUDIO_ROUTES, type StudioDeps } from '../studio/routes.ts';
import { browserOperators, operatorPasses, SIGN_IN_ROUTE, type SignInDeps } from './operators.ts';

export const OPERATOR_PAGES: RouteGroup<SimulatorDeps & ChatDeps & SignInDeps> = {
  tag: 'Pages of operators',
  description:
    'Phones and chats in a browser, for operators. With OPERATOR_TOKEN set, a browser shows it once and stays signed in.',
  access: 'operator',
  parameters: { sessionId: { description: 'The id of the session of a simulated phone', schema: { type: 'string' } } },
  answers: { ...PLAIN_ANSWERS, 401: SIGN_IN_ANSWER, 404: UNKNOWN },
  routes: [...SIMULATOR_ROUTES, ...CHAT_ROUTES, SIGN_IN_ROUTE],
};

export interface ToolPagesDeps extends Pick<SimulatorDeps, 'gateway' | 'flows' | 'recorder'> {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly inspector: InspectorDoor;
  /** Undefined where it is off. */
  readonly studio: StudioDeps | undefined;
  readonly operators: OperatorRule;
}

/** Adds the routes of the pages; `dial` answers their phones. */
export type ToolPages = (router: Router, dial: Middleware) => void;

export function toolPages({ config, keyring, inspector, studio, operators, ...deps }: ToolPagesDeps): ToolPages {
  const { ussd, agent } = config;
  const { maxTtlSeconds } = agent;
  const audience = agent.did ?? didOfKey(config.oracleKey);
  return (router, dial) => {
    const { tokens } = operators;
    const passes = tokens && operatorPasses({ tokens, keyring, clock: systemClock });
    const operator = browserOperators({ passes }, operators);
    const ownOrigin = ownOriginOnly();
    addRoutes(router, INSPECTOR_ROUTES, {
      deps: inspector,
      guards: { operator: (ctx, next) => ownOrigin(ctx, () => operator(ctx, next)) },
    });
    const guards = { operator, ownPages: ownPagesOnly() };
    if (studio) addRoutes(router, STUDIO_ROUTES, { deps: studio, guards });
    else addRoutes(router, NO_STUDIO, { deps: undefined, guards });
    addRoutes(router, OPERATOR_PAGES, {
      deps: { ...deps, files: studio?.files, dial, ussd, keyring, audience, maxTtlSeconds, passes },
      guards,
    });
  };
}
