// What a program gives a server besides its configuration. Published types come from here: nothing in them may need Koa's.

import type { Responder } from '../../lib/agent/responder.ts';
import type { Conversation } from '../../lib/engine/conversation.ts';
import type { Services } from '../../lib/engine/service.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import type { Adapter } from '../../lib/ussd/adapter.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { GivenStores } from '../stores/given.ts';

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
