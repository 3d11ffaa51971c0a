// All checks of `twinline doctor`, and their run: every one that applies, in order, whatever the others find.

import { TwinlineError } from '../../lib/errors.ts';
import type { Config, ConfigReading } from '../config/config.ts';
import { type Asked, broken, type Check, type Finding, type Patient } from './check.ts';
import { FOLDER_CHECKS } from './folder.ts';
import { GATEWAY_CHECKS } from './gateway.ts';
import { KEY_CHECKS } from './keys.ts';
import { CLOCK_CHECKS, MACHINE_CHECKS } from './machine.ts';
import { MCP_CHECKS } from './mcp.ts';
import { MENU_CHECKS } from './menus.ts';
import { MODEL_CHECKS } from './model.ts';
import { MONGO_CHECKS } from './mongo.ts';
import { NETWORK_CHECKS } from './network.ts';
import { REDIS_CHECKS } from './redis.ts';

export const CHECKS: readonly Check[] = [
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
export interface Told extends Finding {
  readonly check: string;
}

/** Looks at all there is, and changes nothing. */
export async function examine(reading: ConfigReading, env: NodeJS.ProcessEnv): Promise<Told[]> {
  const { config, entries, problems } = reading;
  if (!config) return problems.map((words) => ({ check: 'settings', level: 'broken', words }));
  const [redis, mongo] = await Promise.all([redisOf(config), mongoOf(config)]);
  const patient: Patient = { config, entries, env, now: Date.now(), redis, mongo };
  try {
    const told: Told[] = [];
    const errors = new Set<unknown>();
    for (const check of CHECKS) told.push(...(await carryOut(check, { patient, errors })));
    return told;
  } finally {
    await Promise.all([redis?.connection.close(), mongo?.connection.close()]);
  }
}

// Drivers are loaded only where they are used.
async function redisOf({ redisUrl: url }: Config): Promise<Patient['redis']> {
  if (url === undefined) return undefined;
  const { connectRedis } = await import('../../lib/store/redis/connection.ts');
  const { redisFacts } = await import('../stores/facts.ts');
  return asked(connectRedis({ url }), redisFacts);
}

async function mongoOf({ mongodbUrl: url }: Config): Promise<Patient['mongo']> {
  if (url === undefined) return undefined;
  const { connectMongo } = await import('../../lib/store/mongo/index.ts');
  const { mongoFacts } = await import('../stores/facts.ts');
  return asked(connectMongo({ url }), mongoFacts);
}

// Asked at once, so that stores that do not answer are waited for together.
function asked<C, F>(connection: C, ask: (connection: C) => Promise<F>): Asked<C, F> {
  const facts = ask(connection);
  facts.catch(() => {});
  return { connection, facts: () => facts };
}

interface Round {
  readonly patient: Patient;
  /** What was thrown so far: a store that is away is told once, not by every check of it. */
  readonly errors: Set<unknown>;
}

async function carryOut({ name, when, run }: Check, { patient, errors }: Round): Promise<Told[]> {
  if (when && !when(patient)) return [];
  try {
    return [await run(patient)].flat().map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    if (errors.has(error)) return [];
    errors.add(error);
    return [{ check: name, ...trouble(error) }];
  }
}

// Our own words hold no secret; those of others might.
function trouble(error: unknown): Finding {
  if (error instanceof TwinlineError) return { level: 'broken', words: error.message };
  const { code, name } = error as NodeJS.ErrnoException;
  return broken(`it cannot be looked at (${code ?? name})`, 'Start the server to see more in its log.');
}
