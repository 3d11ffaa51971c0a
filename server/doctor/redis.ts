// Checks of Redis: whether it answers, what it keeps, and whether it has room.

import type { RedisFacts } from '../stores/facts.ts';
import { advice, broken, type Check, type Finding, fine, type Patient } from './check.ts';

const OLDEST = [6, 2] as const;
const MEMORY_SHARE = 0.8;
const MIB = 1_048_576;

const isUsed = ({ redis }: Patient) => redis !== undefined;

/** A check of what each server says; of several masters the worst finding is told. */
function each(name: string, judge: (facts: RedisFacts, patient: Patient) => Finding): Check {
  return {
    name,
    when: isUsed,
    run: async (patient) => {
      const findings = (await patient.redis!.facts()).map((facts) => judge(facts, patient));
      const worst = (level: Finding['level']) => findings.find((finding) => finding.level === level);
      return worst('broken') ?? worst('advice') ?? findings[0]!;
    },
  };
}

export const REDIS_CHECKS: readonly Check[] = [
  {
    name: 'Redis answers',
    when: isUsed,
    run: async ({ redis }) => {
      await redis!.facts();
      return fine(`Redis at ${redis!.connection.name} answers`);
    },
  },
  each('Redis version', ({ version = 'unknown' }) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
    if (!isOld) return fine(`Redis ${version}`);
    return broken(`Redis ${version} is too old`, `Use Redis ${OLDEST.join('.')} or newer, better 7.`);
  }),
  each('Redis keeps sessions', ({ settings }, { config }) => {
    const { appendonly, appendfsync } = settings;
    if (appendonly === undefined)
      return advice('Redis does not tell whether it keeps sessions', 'Make sure that it does: appendonly yes.');
    if (appendonly !== 'yes') {
      const words = 'Redis forgets all sessions when it restarts (appendonly no)';
      const fix = 'Set appendonly yes in redis.conf, or REDIS_ACCEPT_LOSS=true to live with it.';
      return config.production && !config.redisAcceptLoss ? broken(words, fix) : advice(words, fix);
    }
    if (appendfsync === 'always') return fine('Redis keeps sessions: on disk before they are answered (always)');
    return fine(`Redis keeps sessions: its crash or a power cut can cost the last second (appendfsync ${appendfsync})`);
  }),
  each('Redis evicts nothing', ({ settings }) => {
    const { maxmemory, 'maxmemory-policy': policy } = settings;
    if (policy === undefined)
      return advice('Redis does not tell its maxmemory-policy', 'Make sure that it is noeviction.');
    if (policy === 'noeviction') return fine('Redis evicts nothing (noeviction)');
    const words = `Redis may throw sessions away when its memory is full (maxmemory-policy ${policy})`;
    const fix = 'Set maxmemory-policy noeviction.';
    return maxmemory === '0' ? advice(`${words}; no maxmemory is set, so it does not yet`, fix) : broken(words, fix);
  }),
  each('Redis memory', ({ settings, usedMemory = 0 }) => {
    const max = Number(settings.maxmemory ?? 0);
    const used = `${Math.round(usedMemory / MIB)} MiB in use`;
    if (!max) return fine(`Redis has no maxmemory, ${used}`);
    const words = `${used} of ${Math.round(max / MIB)} MiB in Redis`;
    return usedMemory < max * MEMORY_SHARE ? fine(words) : advice(words, 'Raise maxmemory or add nodes.');
  }),
];
