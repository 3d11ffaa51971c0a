// Delegations that users have stored: verified on arrival, sealed at rest, removed when they expire or are revoked.

import { LRUCache } from 'lru-cache';
import {
  type DelegationContext,
  type DelegationEvent,
  delegationMachine,
  type Grant,
} from '../../machines/delegation.ts';
import { type Clock, settledTime } from '../clock.ts';
import { COMMON_LIMITS, growing } from '../common-limits.ts';
import type { Inspector } from '../engine/conversation.ts';
import { type Instance, lifecycle } from '../engine/lifecycle/lifecycle.ts';
import { compileMachine } from '../engine/machine/transition.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import type { Keyring } from '../keyring.ts';
import { openText, type Seal, sealText } from '../sealing.ts';
import type { DocumentStore, Kind } from '../store/store.ts';
import type { TokenGuard } from './guard.ts';
import type { OracleKey } from './issuer/oracle-key.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import { TOKEN_REASONS } from './reason.ts';
import type { Capability } from './token/ucan.ts';
import { inspectToken, mintInvocation } from './tokens.ts';

/** Options of `delegations`. */
export interface DelegationsOptions {
  /** With DELEGATION_KINDS declared. */
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly keyring: Keyring;
  /** Of this service: what it does not accept is not stored. */
  readonly guard: TokenGuard;
  readonly revocations: Revocations;
  /** Signs invocations of other services. */
  readonly key: OracleKey;
  /** The DID that issues them, when it is not that of the key. */
  readonly issuer?: string;
  /** Keys before it: with them delegations to their DIDs are used. */
  readonly olderKeys?: readonly OracleKey[];
  /** Receives the inspection events of delegations. */
  readonly inspector?: Inspector | undefined;
  /** Called after a token was revoked: connections opened with it must be closed. */
  readonly onRevoked?: (revoked: { readonly user: string; readonly keys: readonly string[] }) => void;
}

/** Whether a user has a delegation that counts; `expiration` is in seconds since 1970. */
export type DelegationStatus =
  | { readonly authorized: false }
  | { readonly authorized: true; readonly expiration: number };

/** The delegations that users have given: kept, looked at, revoked, used. */
export interface Delegations {
  /**
   * Stores the user's delegation, and revokes the one before it, at once and for good. Throws ERR_INPUT with the reason, and
   * changes nothing. When it throws what the store throws, the one before may be revoked already: try again.
   */
  store(user: string, raw: string): Promise<{ readonly expiration: number }>;
  status(user: string): Promise<DelegationStatus>;
  /** Revokes what is stored, at once and for good; what was stored before is revoked already. False when nothing was stored. */
  revoke(user: string): Promise<boolean>;
  /**
   * A token that asks another service for one thing on the user's behalf, within what the user has delegated; the same
   * one again until it is about to expire. Undefined without a delegation. Throws ERR_INPUT when it does not cover that.
   */
  invoke(
    user: string,
    wanted: { readonly audience: string; readonly capability: Capability },
  ): Promise<string | undefined>;
  /** Ends what has expired and forgets old revocations; how many. */
  sweep(limit?: number): Promise<number>;
}

type Current = Instance<DelegationContext>;

/** Why a command was not taken; never leaves this file. */
const NOT_NOW = new TwinlineError('ERR_CONFLICT', 'The delegation cannot be changed yet, or has ended.');

/**
 * Opens the delegations over a store of documents.
 * @example
 * import { randomBytes } from 'node:crypto';
 *
 * const documents = memoryDocuments();
 * await documents.declare(DELEGATION_KINDS);
 * const key = parseOracleKey(process.env.ORACLE_KEY!);
 * const kept = delegations({
 *   documents,
 *   clock: systemClock,
 *   keyring: parseKeyring(randomBytes(32).toString('hex')),
 *   guard: tokenGuard({ audience: key.did }),
 *   revocations: revocations({ documents }),
 *   key,
 * });
 * await kept.revoke('did:ex:ann'); // → false
 */
export function delegations(options: DelegationsOptions): Delegations {
  requireGiven('keep delegations', options, {
    documents: 'documents',
    clock: 'clock',
    keyring: 'keyring',
    guard: 'guard',
    revocations: 'object',
    key: 'key',
  });
  const { documents, clock, keyring, guard, revocations, onRevoked = () => {} } = options;
  settledTime(clock);
  const granted = lifecycle<DelegationContext>({
    documents,
    kind: DELEGATION,
    machine: compileMachine(delegationMachine),
    // The token is forgotten when it expires; that it counts until then is looked at by the time of day.
    clock: {
      now: () => settledTime(clock),
      monotonic: () => clock.monotonic(),
      wait: (...given) => clock.wait(...given),
    },
    inspector: options.inspector,
  });
  // What was minted, by user; forgotten with the delegation that it rests on.
  const minted = new LRUCache<string, ReadonlyMap<string, { token: string; until: number }>>(
    growing(DELEGATION_LIMITS.tokensKept),
  );

  // A tombstone first: by it every instance refuses the token from then on, whatever becomes of this process.
  async function endToken(user: string, { context: { keys, expiresAt } }: Current): Promise<void> {
    await revocations.add(keys, expiresAt);
    minted.delete(user);
    onRevoked({ user, keys });
  }

  // The machine remembers one token only, so whatever it is about to forget is ended first: another store may have put
  // one there a moment ago. `over` are keys that need no tombstone.
  async function move(user: string, event: DelegationEvent, over: readonly string[]): Promise<void> {
    for (const ended = new Set(over); ; ) {
      let counting: Current | undefined;
      const decide = (found: Current) => {
        const counts = found.state === 'authorized';
        counting = counts && !found.context.keys.every((key) => ended.has(key)) ? found : undefined;
        return !counting && (counts || event.type === 'STORE') ? event : NOT_NOW;
      };
      try {
        return void (await granted.take(user, { decide, by: user }));
      } catch (error) {
        if (error !== NOT_NOW) throw error;
      }
      if (!counting) return;
      if (event.type === 'STORE') await refuseRevoked(event.grant);
      await endToken(user, counting);
      for (const key of counting.context.keys) ended.add(key);
    }
  }

  async function refuseRevoked({ keys }: Grant): Promise<void> {
    if (await revocations.has(keys)) throw cannotStore(TOKEN_REASONS.revoked);
  }

  // A crash between the tombstone and the machine leaves a grant that does not count any more: it ends here.
  async function current(user: string): Promise<Current | undefined> {
    const found = await granted.read(user);
    if (found?.state !== 'authorized' || !(await revocations.has(found.context.keys))) return found;
    await move(user, { type: 'REVOKE' }, found.context.keys);
    return granted.read(user);
  }

  async function readRaw(user: string): Promise<string | undefined> {
    const found = await current(user);
    if (found?.state !== 'authorized' || found.context.sealed === null) return undefined;
    if (found.context.expiresAt <= clock.now()) return undefined;
    return openText(keyring, makeSeal(user), found.context.sealed);
  }

  function findSigner(proof: string): { readonly key: OracleKey; readonly issuer?: string } {
    const { key, issuer, olderKeys = [] } = options;
    const read = olderKeys.length ? inspectToken(proof) : undefined;
    const older = read?.ok ? olderKeys.find(({ did }) => did === read.chain[0].audience) : undefined;
    return older ? { key: older } : { key, ...(issuer && { issuer }) };
  }

  return {
    async store(user, raw) {
      const checked = await guard.checkDelegation(raw);
      if (!checked.ok) throw cannotStore(TOKEN_REASONS[checked.reason]);
      if (checked.issuer !== user) throw cannotStore(`it was issued by ${checked.issuer}, and ${user} sends it`);
      const grant = {
        sealed: sealText(keyring, makeSeal(user), raw),
        expiresAt: checked.expiresAt * 1000,
        keys: checked.revocationKeys.slice(0, 1),
      };
      const begun = await granted.begin(user, { input: grant, by: user });
      if (begun.repeated) await move(user, { type: 'STORE', grant }, grant.keys);
      minted.delete(user);
      // It may have been replaced or revoked by another request meanwhile.
      await refuseRevoked(grant);
      return { expiration: checked.expiresAt };
    },

    async status(user) {
      const found = await current(user);
      if (found?.state !== 'authorized' || found.context.expiresAt <= clock.now()) return { authorized: false };
      return { authorized: true, expiration: Math.floor(found.context.expiresAt / 1000) };
    },

    async revoke(user) {
      const found = await current(user);
      if (found?.state !== 'authorized') return false;
      await move(user, { type: 'REVOKE' }, []);
      return true;
    },

    async invoke(user, { audience, capability }) {
      const raw = await readRaw(user);
      if (raw === undefined) return undefined;
      const now = clock.now();
      const name = JSON.stringify([raw, audience, capability]);
      const known = minted.get(user)?.get(name);
      if (known && known.until > now) return known.token;
      const signer = findSigner(raw);
      const expiresIn = DELEGATION_LIMITS.mintedSeconds;
      const token = await mintInvocation({
        ...signer,
        audience,
        capability,
        expiresIn,
        proofs: [raw],
        clock,
      });
      const until = now + (expiresIn * 1000) / 2;
      minted.set(
        user,
        new Map(
          [...(minted.get(user) ?? []), [name, { token, until }] as const].slice(-DELEGATION_LIMITS.mintedPerUser),
        ),
      );
      return token;
    },

    async sweep(limit = COMMON_LIMITS.sweepBatch) {
      const before = settledTime(clock) - COMMON_LIMITS.keptBeyondExpiryMs;
      const [ended, forgotten] = await Promise.all([granted.sweep(limit), revocations.sweep(before, limit)]);
      return Math.max(ended, forgotten);
    },
  };
}

function makeSeal(user: string): Seal {
  return { purpose: 'delegation-at-rest/v1', label: [user] };
}

function cannotStore(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `This delegation cannot be stored: ${why}.`);
}

/** Which tokens have been revoked. */
export interface Revocations {
  /** Whether any of these keys was revoked, by whichever instance. */
  has(keys: readonly string[]): Promise<boolean>;
  /** Revokes the keys; `expiresAt` (milliseconds since 1970) is when they would have expired. Idempotent. */
  add(keys: readonly string[], expiresAt: number): Promise<void>;
  /** Forgets what has expired on its own by `before` (milliseconds since 1970), up to `limit`; how many. */
  sweep(before: number, limit: number): Promise<number>;
}

/**
 * Opens the revocations over a store of documents.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DELEGATION_KINDS);
 * const revoked = revocations({ documents });
 * await revoked.add(['token-1'], Date.now() + 60_000);
 * await revoked.has(['token-1']); // → true
 */
export function revocations(options: { documents: DocumentStore }): Revocations {
  requireGiven('keep revocations', options, { documents: 'documents' });
  const { documents } = options;
  return {
    has: async (keys) => (await Promise.all(keys.map((key) => documents.get(REVOCATION, key)))).some(Boolean),
    add: async (keys, expiresAt) =>
      void (await Promise.all(keys.map((key) => documents.insert(REVOCATION, key, { expiresAt })))),
    async sweep(before, limit) {
      const where = { expiresAt: { lte: before } };
      const { items } = await documents.find(REVOCATION, { index: 'expiry', where, limit });
      await Promise.all(items.map(({ id, revision }) => documents.remove(REVOCATION, id, revision)));
      return items.length;
    },
  };
}

/** What each user has granted, by the user's DID. */
export const DELEGATION: Kind = { name: 'delegation', indexes: { due: { fields: ['dueAt'] } } };

/** What was revoked, by the key of the signed content. Kept until the token would have expired. */
const REVOCATION: Kind = { name: 'revocation', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Declare these before the first use. */
export const DELEGATION_KINDS: readonly Kind[] = [DELEGATION, REVOCATION];
