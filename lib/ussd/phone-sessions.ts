// How many sessions a phone has at a time: when it begins one more than it may, its oldest one ends.
//
// Each process counts the sessions that began in it. To ask the store for those of other processes would cost each dial a read.

import { LRUCache } from 'lru-cache';
import { USSD_LIMITS } from './limits.ts';

export interface PhoneSessions {
  /** Notes a session that has begun, by its key; ends the oldest ones of the phone beyond USSD_LIMITS.sessionsPerPhone. */
  begin(phone: string, key: string): Promise<void>;
  /** Notes that a session is over. */
  end(phone: string, key: string): void;
}

export interface PhoneSessionsOptions {
  /** Whether a session still lives. */
  readonly isLive: (key: string) => Promise<boolean>;
  /** Ends a session; true when it was alive. */
  readonly endSession: (key: string) => Promise<boolean>;
  /** Called for each session that ended in this way. */
  readonly onEnded?: (() => void) | undefined;
}

export function phoneSessions({ isLive, endSession, onEnded }: PhoneSessionsOptions): PhoneSessions {
  // Keys of a phone, the oldest first.
  const phones = new LRUCache<string, Set<string>>({ max: USSD_LIMITS.phonesCounted });
  return {
    async begin(phone, key) {
      const keys = phones.get(phone) ?? new Set();
      phones.set(phone, keys);
      // The same id again is a new dial.
      keys.delete(key);
      keys.add(key);
      if (keys.size <= USSD_LIMITS.sessionsPerPhone) return;
      // Sessions also end by silence, without a call of `end`.
      for (const known of [...keys]) if (known !== key && !(await isLive(known))) keys.delete(known);
      for (const oldest of [...keys].slice(0, -USSD_LIMITS.sessionsPerPhone)) {
        keys.delete(oldest);
        if (await endSession(oldest)) onEnded?.();
      }
    },
    end: (phone, key) => void phones.get(phone)?.delete(key),
  };
}
