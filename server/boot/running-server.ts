// What a program gives a server besides its configuration, and the server that it gets. Published types come from here: nothing in them
// may need koa's.

import type { Responder } from '../../lib/agent/responder.ts';
import type { Conversation } from '../../lib/engine/conversation.ts';
import type { Services } from '../../lib/engine/service.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import type { Adapter } from '../../lib/ussd/adapter.ts';
import type { ServedRoute } from '../http/route-description.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { GivenStores } from '../stores/given.ts';
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

/**
 * Parts of your own. They are checked as the modules of the settings are: a start with a wrong one rejects with ERR_CONFIG and every
 * problem. Nothing that is given is closed by the server: close stores after it.
 */
export interface ServerParts {
  /** Telecom dialects, after the modules of ADAPTERS. */
  readonly adapters?: readonly Adapter[];
  /** What flows may call, besides the modules of SERVICES; names that are taken are refused. */
  readonly services?: Services;
  /** Machines of your own, after those of MACHINES, as `machineConversation` makes them; names of flows are refused. */
  readonly conversations?: readonly Conversation[];
  /** In the place of the stores that the configuration names. */
  readonly stores?: GivenStores;
  /** Answers chats in the place of the model or the flow of the configuration. */
  readonly responder?: Responder;
  /** After those of PLUGINS. */
  readonly plugins?: readonly Plugin[];
  /** Rules for menus, after the modules of LINT_RULES: an error keeps a menu from being served. */
  readonly lintRules?: readonly LintRule[];
}
