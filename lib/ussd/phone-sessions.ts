// Limits concurrent sessions per phone: starting one too many ends the oldest.
//
// Each process tracks the sessions started in it. Instances that share a store also record them there, without delaying
// the answer to the dial.

import { LRUCache } from 'lru-cache';
import { growing } from '../common-limits.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import { USSD_LIMITS } from './limits.ts';

export interface PhoneSessions {
  /** Records a new session by its key; ends the phone's oldest ones beyond USSD_LIMITS.sessionsPerPhone. */
  begin(phone: string, key: string): Promise<void>;
  /** Records that a session has ended. */
  end(phone: string, key: string): void;
}

export interface PhoneSessionsOptions {
  /** Whether a session is still alive. */
  readonly isLive: (key: string) => Promise<boolean>;
  /** Ends a session; true when it was alive. */
  readonly endSession: (key: string) => Promise<boolean>;
  /** Called for each session ended because of the limit. */
  readonly onEnded?: (() => void) | undefined;
  /** Shared tracking across instances. @default each process tracks its own */
  readonly shared?: SharedPhones | undefined;
}

export interface SharedPhones {
  readonly notes: Pick<SharedNotes, 'change'>;
  /** The note's key for a phone; must not reveal the number. */
  readonly name: (phone: string) => string;
  /** Called when the store fails; this process goes on tracking by itself. */
  readonly onProblem: (error: unknown) => void;
}

export function phoneSessions({
  isLive,
  endSession,
  onEnded,
  shared: sharedStore,
}: PhoneSessionsOptions): PhoneSessions {
  // Session keys by phone, oldest first.
  const phones = new LRUCache<string, Set<string>>(growing(USSD_LIMITS.phonesCounted));

  async function beginHere(phone: string, key: string): Promise<void> {
    const keys = phones.get(phone) ?? new Set();
    phones.set(phone, keys);
    // Reusing an id is a new dial.
    keys.delete(key);
    keys.add(key);
    if (keys.size <= USSD_LIMITS.sessionsPerPhone) return;
    // Sessions also expire, without a call of `end`.
    for (const other of [...keys]) if (other !== key && !(await isLive(other))) keys.delete(other);
    for (const oldest of [...keys].slice(0, -USSD_LIMITS.sessionsPerPhone)) {
      keys.delete(oldest);
      if (await endSession(oldest)) onEnded?.();
    }
  }

  async function beginTogether({ notes, name }: SharedPhones, phone: string, key: string): Promise<void> {
    const own = name(phone);
    const sessionKeys = await notes.change<string[]>(own, (keys = []) =>
      [...keys.filter((other) => other !== key), key].slice(-USSD_LIMITS.keysPerPhone),
    );
    if (sessionKeys.length <= USSD_LIMITS.sessionsPerPhone) return;
    const lives = await Promise.all(sessionKeys.map(async (other) => other === key || (await isLive(other))));
    const live = sessionKeys.filter((_, at) => lives[at]);
    for (const oldest of live.slice(0, -USSD_LIMITS.sessionsPerPhone)) if (await endSession(oldest)) onEnded?.();
    const newest = new Set(live.slice(-USSD_LIMITS.sessionsPerPhone));
    const before = new Set(sessionKeys);
    // Keep sessions that other instances have started in the meantime.
    await notes.change<string[]>(own, (keys = []) => keys.filter((other) => newest.has(other) || !before.has(other)));
  }

  return {
    async begin(phone, key) {
      await beginHere(phone, key);
      if (sharedStore) beginTogether(sharedStore, phone, key).catch(sharedStore.onProblem);
    },
    end: (phone, key) => void phones.get(phone)?.delete(key),
  };
}
