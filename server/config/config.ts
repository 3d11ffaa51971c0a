// The configuration of a server: what the rest of it is built from. Nothing else reads the environment.

import { TwinlineError } from '../../lib/errors.ts';
import { requireGiven } from '../../lib/given.ts';
import { buildConfig, findDialled, readPlugins } from './build.ts';
import type { Config, NamedSettings } from './fields.ts';
import { findMisspelt, type ReadOptions, readSettings, type SettingsReading } from './read.ts';
import { environmentRedactor, showSetting } from './secrets.ts';

export type { Config, NamedSettings };

/** A reading of the environment, and the configuration when nothing is wrong with it: then there are no problems. */
export interface ConfigReading extends SettingsReading {
  readonly config?: Config;
}

/**
 * The configuration of an environment such as `process.env`, for a program that cannot go on without it; keys that are missing in
 * development are made and kept in DATA_DIR. Throws ERR_CONFIG with everything that is wrong, one problem per line.
 * @example
 * requireConfig({ PORT: '0', DATA_DIR: ':memory:' }).port; // → 0
 * requireConfig({ PORT: 'none' }); // throws ERR_CONFIG
 */
export function requireConfig(env: NodeJS.ProcessEnv): Config {
  const { config, problems } = readConfig(env, { makeKeys: true });
  if (config) return config;
  throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
}

/**
 * Reads the configuration from an environment such as `process.env`; relative paths start from the working folder.
 * @example
 * const { config, problems } = readConfig({ PORT: 'none', DATA_DIR: ':memory:' });
 * config; // → undefined
 * problems.length; // → 1
 */
export function readConfig(env: NodeJS.ProcessEnv, options: ReadOptions = {}): ConfigReading {
  requireGiven('read the configuration', { env }, { env: 'environment' });
  const reading = readSettings(env, options);
  const isSet = (setting: string) =>
    reading.entries.some(({ name, source }) => name === setting && source === 'environment');
  if (!reading.values) return reading;
  const dialled = findDialled(reading.values, isSet);
  if (dialled && 'fault' in dialled)
    return {
      entries: reading.entries,
      usable: reading.usable,
      problems: [`USSD_FLOW is not set, and ${dialled.fault}`],
    };
  const plugins = readPlugins(reading.values, env);
  const redact = environmentRedactor(env, reading.entries);
  const settings = reading.entries.map(showSetting);
  return {
    ...reading,
    config: { ...buildConfig(reading.values, isSet, dialled), plugins, redact, misspelt: findMisspelt(env), settings },
  };
}

/** What an environment names also where some of it is wrong: there are the defaults in its place. */
export function readNamed(env: NodeJS.ProcessEnv): NamedSettings {
  const { usable, entries } = readSettings(env);
  const isSet = (setting: string) => entries.some(({ name, source }) => name === setting && source === 'environment');
  return { ...buildConfig(usable, isSet), plugins: readPlugins(usable, env) };
}
