// The type of a check of `twinline doctor`: what it reads, and what it finds.

import type { MongoConnection } from '../../lib/store/mongo/connection.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config, ConfigReading } from '../config/config.ts';
import type { MongoFacts, RedisFacts } from '../stores/facts.ts';

export type Level = 'fine' | 'advice' | 'broken';

/** What was found. No secret, and of URLs no password. */
export interface Finding {
  readonly level: Level;
  readonly words: string;
  /** What to do about it; missing where nothing is to be done. */
  readonly fix?: string;
}

/** What checks read. Each store is asked once, however many checks use its answer. */
export interface CheckContext {
  readonly config: Config;
  readonly entries: ConfigReading['entries'];
  readonly env: NodeJS.ProcessEnv;
  readonly now: number;
  readonly redis: StoreProbe<RedisConnection, RedisFacts[]> | undefined;
  readonly mongo: StoreProbe<MongoConnection, MongoFacts> | undefined;
}

export interface StoreProbe<C, F> {
  readonly connection: C;
  /** Rejects when it does not answer. */
  facts(): Promise<F>;
}

/** One row of a table of checks. What it throws counts as broken. */
export interface DoctorCheck {
  /** Its subject, as findings name it. */
  readonly name: string;
  /** Whether it applies to this configuration. @default always */
  readonly when?: (context: CheckContext) => boolean;
  readonly run: (context: CheckContext) => Promise<Finding | readonly Finding[]> | Finding | readonly Finding[];
}

export const fine = (words: string): Finding => ({ level: 'fine', words });
export const advice = (words: string, fix: string): Finding => ({ level: 'advice', words, fix });
export const brokenFinding = (words: string, fix: string): Finding => ({ level: 'broken', words, fix });
