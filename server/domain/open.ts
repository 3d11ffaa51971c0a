// The domain service of this server: what it is made of, its door, and what goes on behind it.

import type { Middleware } from 'koa';
import { systemClock } from '../../lib/clock.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { registry } from '../../lib/domain/registry.ts';
import { resolver } from '../../lib/domain/resolution.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { Log } from '../log.ts';
import { type ApiKeys, apiKeys, DEFAULT_TENANT } from './api-keys.ts';
import { domainDoor } from './door.ts';

export interface DomainService {
  readonly door: Middleware;
  readonly keys: ApiKeys;
  /** One round of background work; true when there is more to do at once. */
  sweep(): Promise<boolean>;
  close(): void;
}

export interface DomainOptions {
  readonly documents: DocumentStore;
  readonly apiKeysFile: string | undefined;
  readonly production: boolean;
  readonly log: Log;
  readonly onProblem: () => void;
}

/** Opens the service; throws ERR_CONFIG when the file of keys cannot be used. */
export async function openDomain({
  documents,
  apiKeysFile,
  production,
  log,
  onProblem,
}: DomainOptions): Promise<DomainService> {
  const keys = apiKeys({ file: apiKeysFile, production, log });
  await documents.declare(DOMAIN_KINDS);
  const clock = systemClock;
  const twins = registry({ documents, clock });
  const repeated = idempotency({ documents, clock });
  const door = domainDoor({
    keys,
    registry: twins,
    idempotency: repeated,
    resolve: resolver({ documents, clock, publicTenant: DEFAULT_TENANT }),
    clock,
    onFault: (error, ctx) => {
      onProblem();
      log.error({ err: error, requestId: ctx.state.requestId }, 'a request to the domain service failed');
    },
  });
  return {
    door,
    keys,
    async sweep() {
      const now = clock.now();
      const limit = LIMITS.sweepBatch;
      const done = await Promise.all([twins.sweep(now - LIMITS.provisionalMs, limit), repeated.sweep(now, limit)]);
      return done.some((count) => count === limit);
    },
    close: () => {},
  };
}
