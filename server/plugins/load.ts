// Loads the plugins that PLUGINS names: shipped ones by name, others as modules; reports everything wrong at once.

import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { importDefault } from '../config/modules.ts';
import { claimsPlugin } from './claims/plugin.ts';
import { creditsPlugin } from './credits/plugin.ts';
import { clashesOf, flawsOf } from './examine.ts';
import type { Plugin } from './plugin.ts';
import type { ShippedSettings } from './settings.ts';
import { teamChatPlugin } from './team-chat/plugin.ts';
import { userPreferencesPlugin } from './user-preferences/plugin.ts';

export interface LoadOptions {
  /** Where relative paths start, and packages are looked for. */
  readonly folder: string;
  readonly settings: ShippedSettings;
}

/** Loads them, in the order in which they are named. Throws ERR_CONFIG with every problem, one per line. */
export async function loadPlugins(modules: readonly string[], options: LoadOptions): Promise<readonly Plugin[]> {
  const problems: string[] = [];
  const plugins: Plugin[] = [];
  for (const module of modules) {
    const found = await find(module, options);
    if (found.plugin) plugins.push(found.plugin);
    else problems.push(...found.flaws);
  }
  problems.push(...clashesOf(plugins));
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return plugins;
}

type Found = { readonly plugin: Plugin } | { readonly plugin?: undefined; readonly flaws: readonly string[] };

async function find(module: string, { folder, settings }: LoadOptions): Promise<Found> {
  const shipped = Object.hasOwn(SHIPPED, module) ? SHIPPED[module as keyof typeof SHIPPED] : undefined;
  if (shipped) return made(() => shipped(settings));
  const imported = await importDefault(module, folder);
  const flaws =
    imported.kind === 'broken' ? [imported.why + suggest(module, Object.keys(SHIPPED))] : flawsOf(imported.value);
  if (imported.kind === 'loaded' && !flaws.length) return { plugin: imported.value as Plugin };
  return { flaws: flaws.map((flaw) => `PLUGINS: "${module}" ${flaw}${/[.?]$/.test(flaw) ? '' : '.'}`) };
}

// What a shipped plugin needs is a setting, which its own words name.
function made(make: () => Plugin): Found {
  try {
    return { plugin: make() };
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_CONFIG') return { flaws: error.message.split('\n') };
    throw error;
  }
}

/** Each makes a plugin; throws ERR_CONFIG when a setting is missing that it needs. */
const SHIPPED = {
  credits: ({ credits }) => creditsPlugin(credits),
  'user-preferences': () => userPreferencesPlugin(),
  'team-chat': ({ teamChat }) => teamChatPlugin(teamChat),
  claims: ({ claims }) => claimsPlugin(claims),
} as const satisfies { readonly [name: string]: (settings: ShippedSettings) => Plugin };
