// The files and modules that settings name, looked at before anything is opened, so that all that is wrong with them is told at once.

import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Conversation } from '../../lib/engine/conversation.ts';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import type { Adapter } from '../../lib/ussd/adapter.ts';
import { listDialled } from '../../lib/ussd/codes.ts';
import { readMcpServers } from '../agent/mcp.ts';
import { loadModel } from '../agent/responders.ts';
import type { NamedSettings } from '../config/config.ts';
import { readApiKeys } from '../domain/api-keys.ts';
import { readGovernance } from '../domain/open.ts';
import { isConfigError } from '../http/errors.ts';
import { loadLintRules } from '../menus/lint-rules.ts';
import { loadMachines } from '../menus/machines.ts';
import { loadMenus, readMenus } from '../menus/menus.ts';
import { offeredServices } from '../menus/services.ts';
import { loadPlugins } from '../plugins/load.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { loadAdapters } from '../ussd/adapters.ts';

/** What a program gives beside them. */
export interface NamedParts {
  readonly adapters?: readonly Adapter[];
  readonly plugins?: readonly Plugin[];
  readonly services?: Services;
  readonly lintRules?: readonly LintRule[];
  readonly conversations?: readonly Conversation[];
  /** Answers chats, so that no model is loaded. */
  readonly responder?: unknown;
}

export interface NamedOptions {
  readonly parts?: NamedParts;
  readonly clock?: Clock;
}

/**
 * What is wrong with the files and modules of these settings, one line each. Menus are checked only beside other problems: a start
 * refuses them by itself, and to check them twice takes time.
 */
export async function findNamedProblems(
  settings: NamedSettings,
  { parts = {}, clock = systemClock, alsoMenus = false }: NamedOptions & { readonly alsoMenus?: boolean } = {},
): Promise<string[]> {
  const problems: string[] = [];
  const attempt = async <T>(look: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof TwinlineError) || !isConfigError(error)) throw error;
      // Lines that are indented belong to the one before.
      problems.push(...error.message.split(/\n(?! )/));
      return undefined;
    }
  };
  const folder = process.cwd();
  const { apiKeysFile, governanceFile, gatewayFile, mcpServersFile, model, plugins, ussd } = settings;
  if (apiKeysFile !== undefined) await attempt(() => readApiKeys(apiKeysFile));
  await attempt(() => readGovernance(governanceFile));
  if (gatewayFile !== undefined)
    await attempt(async () => (await import('../gateway/file.ts')).readGatewayFile(gatewayFile));
  if (mcpServersFile !== undefined) await attempt(() => readMcpServers(mcpServersFile));
  await attempt(() => loadAdapters(ussd, { folder, given: parts.adapters }));
  const audit = { append: () => Promise.reject(new Error('Nothing is noted before a start.')) };
  await attempt(() =>
    loadPlugins(plugins.modules, { folder, settings: plugins.settings, audit, clock, given: parts.plugins }),
  );
  if (model && 'module' in model.from && !parts.responder) {
    const { module } = model.from;
    await attempt(() => loadModel(module));
  }
  const given = parts.services;
  const known = await attempt(() => offeredServices(settings.services, { given, folder, clock }));
  const rules = await attempt(() => loadLintRules(settings.lintRules, { folder, given: parts.lintRules }));
  const { machines: modules, menusDir, studio, production } = settings;
  const called = known?.services ?? ALL_NAMES;
  const machines = await attempt(() =>
    loadMachines(modules, { folder, given: parts.conversations, services: called, clock }),
  );
  if (!(alsoMenus || problems.length)) return problems;
  const menus = { folder: menusDir, ...known, rules, mayBeEmpty: studio && !production };
  const ids = new Set(machines?.map(({ id }) => id));
  // The flow of USSD_FLOW may be a machine.
  await attempt(() => (machines ? loadMenus({ ...menus, machines: ids }, listDialled(ussd)) : readMenus(menus)));
  return problems;
}

/** Stands for services that are not known: what cannot be told must not be refused. */
const ALL_NAMES: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

/** Throws ERR_CONFIG with all of them. */
export async function checkNamed(settings: NamedSettings, options: NamedOptions): Promise<void> {
  const problems = await findNamedProblems(settings, options);
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
}
