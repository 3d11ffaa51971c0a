// Finds sessions by phone number. The page has only masked numbers, so the server compares.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Engine } from '../../../lib/engine/engine.ts';
import { sessionKeys, showSession } from '../../../lib/engine/sessions.ts';
import { maskSession, type OpenSession } from '../../../lib/inspection/trace.ts';
import { KEY_PREFIX } from '../../../lib/ussd/keys.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface CallerSearchOptions {
  readonly engine: Engine;
  /** Makes session names. */
  readonly secret: Buffer;
}

export interface FoundCallers {
  /** The first {@link PAGE_LIMITS.callersFound} matches, masked like all sessions. */
  readonly sessions: readonly OpenSession[];
  /** Number of live sessions scanned. */
  readonly searched: number;
  /** Whether live sessions were left unscanned. */
  readonly isCut: boolean;
}

/** Minimum digits of a search; fewer would match hundreds of callers. */
export const CALLER_DIGITS = 4;
const AT_ONCE = 64;

/** Finds live sessions of phones whose number equals or ends with these digits. Results are masked as usual. */
export async function findCallers({ engine, secret }: CallerSearchOptions, digits: string): Promise<FoundCallers> {
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
  return {
    sessions: sessions.slice(0, PAGE_LIMITS.callersFound),
    searched: Math.min(keys.length, limit),
    isCut: keys.length > limit,
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest();
