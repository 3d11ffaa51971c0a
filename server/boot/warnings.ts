// Warnings of `twinline doctor` about settings that callers would notice soon, logged at start.

import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { Finding } from '../doctor/check.ts';
import { limitFinding } from '../doctor/machine.ts';
import { spaceFinding } from '../doctor/stores.ts';
import type { Log } from '../health/log.ts';

/** Warns of a disk that is almost full, and in production of limits that a telecom gateway will soon reach. */
export function warnAtStart(config: Config, log: Log): void {
  const findings: Finding[] = [];
  const isDiskUsed = config.redisUrl === undefined || config.mongodbUrl === undefined;
  if (isDiskUsed && config.dataDir !== IN_MEMORY) findings.push(spaceFinding(config.dataDir));
  if (config.production) findings.push(limitFinding(config));
  for (const { level, words, fix } of findings) if (level !== 'fine') log.warn(`${words}. ${fix}`);
}
