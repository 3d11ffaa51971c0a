// Requests of gateways that may not speak for callers: each is counted, and an address is named in the log once a minute.

import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../health/log.ts';
import type { Metrics } from '../health/metrics.ts';
import type { ForbiddenRequest } from './routes.ts';

const WINDOW_MS = 60_000;

export interface ForbiddenGatewaysOptions {
  readonly metrics: Pick<Metrics, 'forbidden'>;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds, from any beginning. @default of this process */
  readonly now?: () => number;
}

/** Notes a refused request. What is kept is bounded, however many addresses ask. */
export function forbiddenGateways(options: ForbiddenGatewaysOptions): (refused: ForbiddenRequest) => void {
  const { metrics, log, now = () => performance.now() } = options;
  const named = new Set<string>();
  let until = 0;
  return ({ dialect, address, reason }) => {
    metrics.forbidden(dialect, reason);
    if (now() >= until) {
      named.clear();
      until = now() + WINDOW_MS;
    }
    if (named.has(address) || named.size >= SERVER_LIMITS.ussdRefusalsLogged) return;
    named.add(address);
    log.warn({ dialect, address, reason }, 'a USSD request was refused: USSD_GATEWAYS does not list who sent it');
  };
}
