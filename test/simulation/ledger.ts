// The services outside of the system: they act once per idempotency key, and answer the same to the same key.

import type { Service, Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/json.ts';
import { CALL, SERVICES } from './machine.ts';
import type { Faulty } from './store.ts';
import type { Owner } from './world.ts';

/** Those who run the services, shared by all processes. */
export interface Ledger {
  /** True when the key acted before. */
  act(key: string): boolean;
}

export function createLedger(): Ledger {
  const done = new Set<string>();
  return {
    act: (key) => {
      const before = done.has(key);
      done.add(key);
      return before;
    },
  };
}

/** The services as one process reaches them: every call takes time, and its answer may be lost. */
export function reachServices(
  ledger: Ledger,
  { world, tally, watch, faults }: Faulty,
  self: Owner & { name: string },
): Services {
  const { random } = world;
  const service =
    (name: string): Service =>
    ({ id, token }, { idempotencyKey }) =>
      new Promise<Json>((resolve, reject) => {
        const session = String(id);
        const latency = random.chance(faults().slowService) ? random.below(2 * CALL.timeoutMs) : 5 + random.below(60);
        tally.calls++;
        world.note(session, `${self.name}: asks "${name}" for ${token} under ${idempotencyKey}`);
        world.after(latency, () => {
          const isRefused = refuses(String(token));
          if (!isRefused && ledger.act(idempotencyKey)) tally.repeatedCalls++;
          watch.acted({ session, service: name, token: String(token), key: idempotencyKey, isRefused });
          const isLost = random.chance(faults().lostService);
          world.note(
            session,
            `${name} ${isRefused ? 'refuses' : 'does'} ${token}${isLost ? '; the answer is lost' : ''}`,
          );
          if (isLost) tally.lostServices++;
          const answer = () => {
            if (isLost) reject(new Error('connection reset'));
            else if (isRefused) reject(new TwinlineError('ERR_NOT_FOUND', 'No.'));
            else resolve(token!);
          };
          world.after(1, answer, self);
        });
      });
  return Object.fromEntries(SERVICES.map((name) => [name, service(name)]));
}

// Always the same to the same request, whoever makes it.
const refuses = (token: string) => Number(token.slice(1)) % 5 === 4;
