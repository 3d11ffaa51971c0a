// How many sessions a phone has at a time: when it begins one more than it may, its oldest one ends.
//
// Each process knows the sessions that began in it. Instances that share a store also note them there, by a write beside the
// answer of a dial, which does not wait for it.

import { LRUCache } from 'lru-cache';
import { growing } from '../common-limits.ts';
import type { SharedNotes } from '../store/shared-note.ts';
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
  /** Where instances count together. @default each counts for itself */
  readonly shared?: SharedPhones | undefined;
}

export interface SharedPhones {
  readonly notes: SharedNotes;
  /** Under which the sessions of a phone are noted: nothing that tells its number. */
  readonly name: (phone: string) => string;
  /** Told when the store does not count; this process does. */
  readonly onProblem: (error: unknown) => void;
}

export function phoneSessions({ isLive, endSession, onEnded, shared }: PhoneSessionsOptions): PhoneSessions {
  // Keys of a phone, the oldest first.
  const phones = new LRUCache<string, Set<string>>(growing(USSD_LIMITS.phonesCounted));

  async function beginHere(phone: string, key: string): Promise<void> {
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
  }

  async function beginTogether({ notes, name }: SharedPhones, phone: string, key: string): Promise<void> {
    const own = name(phone);
    const noted = await notes.change<string[]>(own, (keys = []) =>
      [...keys.filter((known) => known !== key), key].slice(-USSD_LIMITS.keysPerPhone),
    );
    if (noted.length <= USSD_LIMITS.sessionsPerPhone) return;
    const lives = await Promise.all(noted.map(async (known) => known === key || (await isLive(known))));
    const live = noted.filter((_, at) => lives[at]);
    for (const oldest of live.slice(0, -USSD_LIMITS.sessionsPerPhone)) if (await endSession(oldest)) onEnded?.();
    const kept = new Set(live.slice(-USSD_LIMITS.sessionsPerPhone));
    const seen = new Set(noted);
    // Others may have begun some meanwhile.
    await notes.change<string[]>(own, (keys = []) => keys.filter((known) => kept.has(known) || !seen.has(known)));
  }

  return {
    async begin(phone, key) {
      await beginHere(phone, key);
      if (shared) beginTogether(shared, phone, key).catch(shared.onProblem);
    },
    end: (phone, key) => void phones.get(phone)?.delete(key),
  };
}
