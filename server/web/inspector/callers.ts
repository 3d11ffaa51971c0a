// Sessions of a caller, looked for by number: the page has only shortened numbers, so the server compares them.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Engine } from '../../../lib/engine/engine.ts';
import { sessionKeys, showSession } from '../../../lib/engine/sessions.ts';
import { maskSession, type OpenSession } from '../../../lib/inspection/trace.ts';
import { KEY_PREFIX } from '../../../lib/ussd/keys.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface CallerSearchOptions {
  readonly engine: Engine;
  /** Makes the names of sessions. */
  readonly secret: Buffer;
}

export interface FoundCallers {
  /** Masked as all sessions are; the first {@link PAGE_LIMITS.callersFound} that fit. */
  readonly sessions: readonly OpenSession[];
  /** Living sessions that were looked at. */
  readonly searched: number;
  /** Whether there are more that were not looked at. */
  readonly isCut: boolean;
}

/** The fewest digits that are looked for: fewer fit callers by the hundred. */
export const CALLER_DIGITS = 4;
const AT_ONCE = 64;

/** Living sessions of phones whose number is, or ends with, these digits. Their masked forms tell no more than before. */
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
