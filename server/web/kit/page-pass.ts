// Passes that let a browser see one page for a while: signed, so that nothing is kept of them.

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** What the holder of a pass may see of a proposal. */
export interface PageView {
  readonly rationales: boolean;
}

export type PassReading = ({ readonly kind: 'valid' } & PageView) | { readonly kind: 'expired' | 'wrong' };

export interface PagePasses {
  /** A pass for the page of one proposal; `expiresAt` in milliseconds since 1970. */
  issue(id: string, view: PageView): { readonly pass: string; readonly expiresAt: number };
  read(id: string, pass: string): PassReading;
}

const PASS = /^([1-9]\d{0,11})\.([rn])\.([\w-]{43})\.([\w.-]{1,32})$/;

/** Passes under the keys of this ring; those of an earlier key stay good until they expire. */
export function pagePasses({ keyring, clock }: { keyring: Keyring; clock: Pick<Clock, 'now'> }): PagePasses {
  const keys = new Map(keyring.ids.map((id) => [id, keyring.subkey('page-pass/v1', id)!]));
  const mac = (kid: string, parts: readonly (string | number)[]) => {
    const key = keys.get(kid);
    return key && hmacSha256(key, JSON.stringify(parts));
  };
  return {
    issue(id, { rationales }) {
      const until = Math.ceil((clock.now() + PAGE_LIMITS.pagePassMs) / 1_000);
      const flag = rationales ? 'r' : 'n';
      const kid = keyring.active;
      const pass = `${until}.${flag}.${mac(kid, [id, until, flag])}.${kid}`;
      return { pass, expiresAt: until * 1_000 };
    },
    read(id, pass) {
      const [, until, flag, given, kid] = PASS.exec(pass) ?? [];
      const expected = kid !== undefined && mac(kid, [id, Number(until), flag!]);
      if (!expected || !timingSafeEqual(Buffer.from(expected), Buffer.from(given!))) return { kind: 'wrong' };
      return clock.now() < Number(until) * 1_000 ? { kind: 'valid', rationales: flag === 'r' } : { kind: 'expired' };
    },
  };
}
