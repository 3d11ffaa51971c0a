// A server that runs, as programs see it that start one. Published types come from here: nothing in them may need koa's.

import type { ServedRoute } from '../http/route-description.ts';
import type { StorePlace } from '../stores/stores.ts';
import type { Log } from '../telemetry/log.ts';

/** A server that listens. */
export interface RunningServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Where metrics have a port of their own. */
  readonly metricsUrl: string | undefined;
  /** Where sessions and documents are kept, and logs whose store the program gives. */
  readonly places: readonly StorePlace[];
  /** The API key for /v1 that was made for this run, in development without API_KEYS_FILE. */
  readonly developmentKey: string | undefined;
  readonly log: Log;
  /** Everything that it answers. */
  readonly routes: readonly ServedRoute[];
  /** Those of the agent service and its plugins for which no token is needed. */
  readonly publicRoutes: readonly ServedRoute[];
  /** Looks for edited menus now. */
  refresh(): Promise<void>;
  /**
   * Stops: `/readyz` says 503 for `drainDelayMs` (default: the configuration's), then no new connections, then what is
   * in flight ends or is cut off after 20 s, then the stores are closed. Once, however often it is called.
   */
  close(options?: { readonly drainDelayMs?: number }): Promise<void>;
}
