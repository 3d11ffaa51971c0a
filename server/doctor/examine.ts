// All checks of `twinline doctor`, and their run: every one that applies, in order, also after others have failed.

import { TwinlineError } from '../../lib/errors.ts';
import { type Config, type ConfigReading, readNamed } from '../config/config.ts';
import { brokenFinding, type CheckContext, type DoctorCheck, type Finding, fine, type StoreProbe } from './check.ts';
import { GATEWAY_CHECKS, MCP_CHECKS, MENU_CHECKS, MODEL_CHECKS } from './doors.ts';
import { KEY_CHECKS } from './keys.ts';
import { CLOCK_CHECKS, MACHINE_CHECKS, NETWORK_CHECKS, SETTING_CHECKS } from './machine.ts';
import { findNamedProblems } from './named.ts';
import { FOLDER_CHECKS, MONGO_CHECKS, REDIS_CHECKS } from './stores.ts';

export const CHECKS: readonly DoctorCheck[] = [
  {
    name: 'files and modules',
    run: async ({ config }) => {
      const broken = await findNamedProblems(config);
      if (!broken.length) return fine('the files and modules that settings name can be read');
      return broken.map((words): Finding => ({ level: 'broken', words }));
    },
  },
  ...SETTING_CHECKS,
  ...MACHINE_CHECKS,
  ...FOLDER_CHECKS,
  ...REDIS_CHECKS,
  ...MONGO_CHECKS,
  ...CLOCK_CHECKS,
  ...KEY_CHECKS,
  ...NETWORK_CHECKS,
  ...MENU_CHECKS,
  ...MODEL_CHECKS,
  ...MCP_CHECKS,
  ...GATEWAY_CHECKS,
];

/** A finding and the check that found it. */
export interface CheckResult extends Finding {
  readonly check: string;
}

/** Looks at all there is, and changes nothing. */
export async function examine(reading: ConfigReading, env: NodeJS.ProcessEnv): Promise<CheckResult[]> {
  const { config, entries, problems } = reading;
  if (!config) {
    const broken = [...problems, ...(await findNamedProblems(readNamed(env), { alsoMenus: true }))];
    return broken.map((words) => ({ check: 'settings', level: 'broken', words }));
  }
  const [redis, mongo] = await Promise.all([probeRedis(config), probeMongo(config)]);
  const context: CheckContext = { config, entries, env, now: Date.now(), redis, mongo };
  try {
    const results: CheckResult[] = [];
    const errors = new Set<unknown>();
    for (const check of CHECKS) results.push(...(await runCheck(check, { context, errors })));
    // What several checks need is found by each of them.
    return results.filter(({ words }, at) => results.findIndex((other) => other.words === words) === at);
  } finally {
    await Promise.all([redis?.connection.close(), mongo?.connection.close()]);
  }
}

// Drivers are loaded only where they are used.
async function probeRedis({ redisUrl: url }: Config): Promise<CheckContext['redis']> {
  if (url === undefined) return undefined;
  const { connectRedis } = await import('../../lib/store/redis/connection.ts');
  const { redisFacts } = await import('../stores/facts.ts');
  return startProbe(connectRedis({ url }), redisFacts);
}

async function probeMongo({ mongodbUrl: url }: Config): Promise<CheckContext['mongo']> {
  if (url === undefined) return undefined;
  const { connectMongo } = await import('../../lib/store/mongo/index.ts');
  const { mongoFacts } = await import('../stores/facts.ts');
  return startProbe(connectMongo({ url }), mongoFacts);
}

// Asked at once, so that stores that do not answer are waited for together.
function startProbe<C, F>(connection: C, readFacts: (connection: C) => Promise<F>): StoreProbe<C, F> {
  const facts = readFacts(connection);
  facts.catch(() => {});
  return { connection, facts: () => facts };
}

interface Round {
  readonly context: CheckContext;
  /** What was thrown so far: a store that is away is reported once, not by every check of it. */
  readonly errors: Set<unknown>;
}

async function runCheck({ name, when, run }: DoctorCheck, { context, errors }: Round): Promise<CheckResult[]> {
  if (when && !when(context)) return [];
  try {
    return [await run(context)].flat().map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    if (errors.has(error)) return [];
    errors.add(error);
    return [{ check: name, ...describeError(error) }];
  }
}

// Our own words hold no secret; those of others might.
function describeError(error: unknown): Finding {
  if (error instanceof TwinlineError) return { level: 'broken', words: error.message };
  const { code, name } = error as NodeJS.ErrnoException;
  return brokenFinding(`it cannot be looked at (${code ?? name})`, 'Start the server to see more in its log.');
}
