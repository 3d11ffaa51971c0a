// The part of PluginContext that is the same for all plugins and requests.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { publicExchange, type SenderOptions } from '../../../lib/http/client.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../health/log.ts';
import { clientReader } from '../../http/middleware/client.ts';
import { jsonBody } from '../../http/middleware/json-body.ts';
import { operatorsOnly } from '../../http/middleware/operator.ts';
import type { DeclaredRoute } from '../../http/route-table.ts';
import { AgentError } from '../../user/errors.ts';
import type { Late } from '../open.ts';
import type { PluginHost, RequestInfo } from '../plugin.ts';

export interface PluginDeps {
  /** Routes of the server, which plugins may not take. */
  readonly ownRoutes: readonly DeclaredRoute[];
  readonly config: Config;
  readonly documents: DocumentStore;
  readonly services: Services;
  readonly clock: Clock;
  readonly log: Log;
  /** For tests: how plugins reach other servers. */
  readonly sender?: SenderOptions | undefined;
}

interface ServerHooks {
  /** Throws as long as the agent service is not open. */
  readonly late: () => Late;
  readonly gate: (request: RequestInfo) => Promise<void>;
  readonly closing: AbortSignal;
}

export function pluginHost(
  { config, services, clock, sender }: PluginDeps,
  { late, gate, closing }: ServerHooks,
): Omit<PluginHost, 'documents' | 'env' | 'log'> {
  const clientOf = clientReader({ proxies: config.trustedProxies, exempt: config.rateLimit.exempt });
  return {
    clock,
    services,
    closing,
    delegations: { invoke: (user, wanted) => late().delegations.invoke(user, wanted) },
    agent: {
      get sessions() {
        return late().agent.sessions;
      },
      get transcript() {
        return late().agent.transcript;
      },
      outcome: (asked) => late().agent.outcome(asked),
      follow: (asked) => late().agent.follow(asked),
      abort: (asked) => late().agent.abort(asked),
    },
    async send({ did, sessionId, message, runId, timezone }) {
      const requestId = randomUUID();
      await gate({ did, sessionId, requestId, timezone });
      return late().agent.send({
        owner: did,
        session: sessionId,
        requestId,
        request: { message, ...(timezone && { timezone }) },
        multitask: 'enqueue',
        ...(runId !== undefined && { runId }),
      });
    },
    post: publicExchange(sender),
    operatorsOnly: operatorsOnly({ token: config.operatorToken, production: config.production, clientOf }),
    jsonBody: jsonBody(),
    refuse: (status, message, more = {}) => new AgentError({ statusCode: status, message, ...more }),
  };
}
