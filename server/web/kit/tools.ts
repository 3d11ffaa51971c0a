// The pages of operators: phones that dial, chats with the agent, and the inspector.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { didOfKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { Config } from '../../config/config.ts';
import type { ClientOf } from '../../http/middleware/client.ts';
import { chatRoutes } from '../chat/routes.ts';
import { type InspectorDoor, inspectorRoutes } from '../inspector/routes.ts';
import { type SimulatorDeps, simulatorRoutes } from '../simulator/routes.ts';
import { browserOperators } from './operators.ts';

export interface ToolPagesDeps extends Pick<SimulatorDeps, 'gateway' | 'flows' | 'recorder'> {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly inspector: InspectorDoor;
}

/** Adds the routes of the pages. */
export type ToolPages = (router: Router, premises: { readonly clientOf: ClientOf; readonly dial: Middleware }) => void;

export function toolPages({ config, keyring, inspector, ...deps }: ToolPagesDeps): ToolPages {
  const { ussd, agent, production, operatorToken: token } = config;
  const audience = agent.did ?? didOfKey(config.oracleKey);
  return (router, { clientOf, dial }) => {
    const operators = browserOperators(router, { token, production, clientOf, keyring });
    inspectorRoutes(router, inspector, operators);
    simulatorRoutes(router, { ...deps, operators, dial, ussd });
    chatRoutes(router, { operators, keyring, audience, maxTtlSeconds: agent.maxTtlSeconds });
  };
}
