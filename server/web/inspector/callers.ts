// Finds what is known of a caller by phone number: living sessions, what the log calls the number, and sessions that failed here. The
// page has only masked numbers, so the server compares.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { PinVault } from '../../../lib/account/pin.ts';
import { readPhone } from '../../../lib/account/services.ts';
import type { Engine } from '../../../lib/engine/engine.ts';
import { sessionKeys, showSession } from '../../../lib/engine/sessions.ts';
import { maskSession, type OpenSession } from '../../../lib/inspection/trace.ts';
import { KEY_PREFIX } from '../../../lib/ussd/keys.ts';
import type { TroubledSession } from '../../telemetry/trouble.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface CallerSearchOptions {
  readonly engine: Engine;
  /** Makes session names. */
  readonly secret: Buffer;
  /** What the log calls a phone number, under each key, the active one first. */
  readonly aliases: PinVault['aliases'];
  /** Sessions of this process in which something failed. */
  readonly trouble: () => readonly TroubledSession[];
}

export interface FoundCallers {
  /** The first {@link PAGE_LIMITS.callersFound} matches, masked like all sessions. */
  readonly sessions: readonly OpenSession[];
  /** Number of live sessions scanned. */
  readonly searched: number;
  /** Whether live sessions were left unscanned. */
  readonly isCut: boolean;
  /** What the log calls this number, under each key of PIN_ENCRYPTION_KEY; none for the end of a number. */
  readonly callers: readonly { readonly key: string; readonly caller: string }[];
  /** Sessions of this number in which something failed, if this process took their turns. */
  readonly trouble: readonly TroubledSession[];
}

/** Minimum digits of a search; fewer would match hundreds of callers. */
export const CALLER_DIGITS = 4;
const AT_ONCE = 64;

/** Finds live sessions of phones whose number equals or ends with these digits. Results are masked as usual. */
export async function findCallers(options: CallerSearchOptions, digits: string): Promise<FoundCallers> {
  const { engine, secret, aliases, trouble } = options;
  const limit = PAGE_LIMITS.inspectorSearched;
  const keys = await sessionKeys(engine, { prefix: KEY_PREFIX, limit: limit + 1 });
  const wanted = digest(digits);
  const sessions: OpenSession[] = [];
  for (
    let from = 0;
    from < Math.min(keys.length, limit) && sessions.length < PAGE_LIMITS.callersFound;
    from += AT_ONCE
  ) {
    const some = keys.slice(from, Math.min(from + AT_ONCE, limit));
    const views = await Promise.all(some.map((key) => showSession(engine, key)));
    for (const [at, view] of views.entries()) {
      const number = view?.door.phoneNumber;
      if (view && typeof number === 'string' && timingSafeEqual(digest(number.slice(-digits.length)), wanted))
        sessions.push(maskSession(some[at]!, view, secret));
    }
  }
  const phone = readPhone(digits);
  const callers = phone === undefined ? [] : aliases(phone).map(([key, caller]) => ({ key, caller }));
  const names = new Set(callers.map(({ caller }) => caller));
  return {
    callers,
    trouble: trouble().filter(({ turns }) => turns.some(({ caller }) => names.has(caller))),
    sessions: sessions.slice(0, PAGE_LIMITS.callersFound),
    searched: Math.min(keys.length, limit),
    isCut: keys.length > limit,
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest();
