// Delegations that users store here: verified on arrival, sealed at rest, removed when they expire or are revoked.

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
import { DELEGATION_LIMITS } from './limits.ts';
import type { OracleKey } from './oracle-key.ts';
import { TOKEN_REASONS } from './reason.ts';
import { inspectToken, mintInvocation } from './tokens.ts';
import type { Capability } from './ucan.ts';

/** Options of `delegations`. */
export interface DelegationsOptions {
  /** With DELEGATION_KINDS declared. */
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly keyring: Keyring;
  /** The guard of this service: a delegation it refuses is not stored. */
  readonly guard: TokenGuard;
  readonly revocations: Revocations;
  /** Signs the invocations we send to other services. */
  readonly key: OracleKey;
  /** The DID that issues those invocations, when it is not the key's own. */
  readonly issuer?: string;
  /** Previous keys: delegations made to their DIDs remain usable. */
  readonly olderKeys?: readonly OracleKey[];
  /** Receives the inspection events of delegations. */
  readonly inspector?: Inspector | undefined;
  /** Called after a revocation: close connections opened with the token. */
  readonly onRevoked?: (token: { readonly user: string; readonly keys: readonly string[] }) => void;
}

/** Whether a user has an active delegation; `expiration` is in seconds since 1970. */
export type DelegationStatus =
  | { readonly authorized: false }
  | { readonly authorized: true; readonly expiration: number };

/** Stores, reports, revokes and uses the delegations of users. */
export interface Delegations {
  /**
   * Verifies and stores the user's delegation, replacing and permanently revoking the previous one. Throws ERR_INPUT
   * with the reason, in which case nothing changes. If the store fails, the previous delegation may already be revoked:
   * try again.
   */
  store(user: string, raw: string): Promise<{ readonly expiration: number }>;
  status(user: string): Promise<DelegationStatus>;
  /** Permanently revokes the stored delegation; earlier ones are revoked already. False when nothing is stored. */
  revoke(user: string): Promise<boolean>;
  /**
   * Mints a token that asks another service for one capability on the user's behalf, within the user's delegation.
   * Returns the same token until half its lifetime has passed; undefined without a delegation. Throws ERR_INPUT when
   * the delegation does not cover the capability.
   */
  invoke(
    user: string,
    request: { readonly audience: string; readonly capability: Capability },
  ): Promise<string | undefined>;
  /** Ends expired delegations and deletes old revocations; returns how many. */
  sweep(limit?: number): Promise<number>;
}

type Current = Instance<DelegationContext>;

/** Aborts a command in `decide`; never leaves this file. */
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
  const grants = lifecycle<DelegationContext>({
    documents,
    kind: DELEGATION,
    machine: compileMachine(delegationMachine),
    // The timer clears the sealed token; whether it is still valid is checked against the wall clock on each read.
    clock: {
      now: () => settledTime(clock),
      monotonic: () => clock.monotonic(),
      wait: (...args) => clock.wait(...args),
    },
    inspector: options.inspector,
  });
  // Minted tokens by user; dropped together with the delegation they rest on.
  const minted = new LRUCache<string, ReadonlyMap<string, { token: string; until: number }>>(
    growing(DELEGATION_LIMITS.tokensKept),
  );

  // Write the tombstone first: from then on every instance refuses the token, even if this process dies.
  async function endToken(user: string, { context: { keys, expiresAt } }: Current): Promise<void> {
    await revocations.add(keys, expiresAt);
    minted.delete(user);
    onRevoked({ user, keys });
  }

  // The machine holds one token, so end the token it is about to drop: another request may have just stored one. `over`
  // lists keys that need no tombstone.
  async function move(user: string, event: DelegationEvent, over: readonly string[]): Promise<void> {
    for (const ended = new Set(over); ; ) {
      let counting: Current | undefined;
      const decide = (delegation: Current) => {
        const counts = delegation.state === 'authorized';
        counting = counts && !delegation.context.keys.every((key) => ended.has(key)) ? delegation : undefined;
        return !counting && (counts || event.type === 'STORE') ? event : NOT_NOW;
      };
      try {
        return void (await grants.take(user, { decide, by: user }));
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

  // A crash between the tombstone and the transition leaves a grant that no longer counts: end it here.
  async function current(user: string): Promise<Current | undefined> {
    const delegation = await grants.read(user);
    if (delegation?.state !== 'authorized' || !(await revocations.has(delegation.context.keys))) return delegation;
    await move(user, { type: 'REVOKE' }, delegation.context.keys);
    return grants.read(user);
  }

  async function readRaw(user: string): Promise<string | undefined> {
    const delegation = await current(user);
    if (delegation?.state !== 'authorized' || delegation.context.sealed === null) return undefined;
    if (delegation.context.expiresAt <= clock.now()) return undefined;
    return openText(keyring, delegationSeal(user), delegation.context.sealed);
  }

  function findSigner(proof: string): { readonly key: OracleKey; readonly issuer?: string } {
    const { key, issuer, olderKeys = [] } = options;
    const read = olderKeys.length ? inspectToken(proof) : undefined;
    const older = read?.ok ? olderKeys.find(({ did }) => did === read.chain[0].audience) : undefined;
    return older ? { key: older } : { key, ...(issuer && { issuer }) };
  }

  return {
    async store(user, raw) {
      const verdict = await guard.checkDelegation(raw);
      if (!verdict.ok) throw cannotStore(TOKEN_REASONS[verdict.reason]);
      if (verdict.issuer !== user) throw cannotStore(`it was issued by ${verdict.issuer} but sent by ${user}`);
      const grant = {
        sealed: sealText(keyring, delegationSeal(user), raw),
        expiresAt: verdict.expiresAt * 1000,
        keys: verdict.revocationKeys.slice(0, 1),
      };
      const start = await grants.begin(user, { input: grant, by: user });
      if (start.repeated) await move(user, { type: 'STORE', grant }, grant.keys);
      minted.delete(user);
      // Another request may have replaced or revoked it in the meantime.
      await refuseRevoked(grant);
      return { expiration: verdict.expiresAt };
    },

    async status(user) {
      const delegation = await current(user);
      if (delegation?.state !== 'authorized' || delegation.context.expiresAt <= clock.now())
        return { authorized: false };
      return { authorized: true, expiration: Math.floor(delegation.context.expiresAt / 1000) };
    },

    async revoke(user) {
      const delegation = await current(user);
      if (delegation?.state !== 'authorized') return false;
      await move(user, { type: 'REVOKE' }, []);
      return true;
    },

    async invoke(user, { audience, capability }) {
      const raw = await readRaw(user);
      if (raw === undefined) return undefined;
      const now = clock.now();
      const name = JSON.stringify([raw, audience, capability]);
      const cached = minted.get(user)?.get(name);
      if (cached && cached.until > now) return cached.token;
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
      const [ended, forgotten] = await Promise.all([grants.sweep(limit), revocations.sweep(before, limit)]);
      return Math.max(ended, forgotten);
    },
  };
}

/** What seals the delegation that a user has stored. */
export const delegationSeal = (user: string): Seal => ({ purpose: 'delegation-at-rest/v1', label: [user] });

function cannotStore(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `This delegation cannot be stored: ${why}.`);
}

/** The list of revoked tokens. */
export interface Revocations {
  /** Whether any of these keys was revoked, on any instance. */
  has(keys: readonly string[]): Promise<boolean>;
  /** Revokes the keys. `expiresAt` (milliseconds since 1970) is the token's own expiry. Idempotent. */
  add(keys: readonly string[], expiresAt: number): Promise<void>;
  /** Deletes up to `limit` entries that expired by `before` (milliseconds since 1970); returns how many. */
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

/** One delegation per user, keyed by the user's DID. */
export const DELEGATION: Kind = { name: 'delegation', indexes: { due: { fields: ['dueAt'] } } };

/** Revocations, keyed by a hash of the signed content; kept until the token would have expired. */
const REVOCATION: Kind = { name: 'revocation', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Declare these kinds before the first use. */
export const DELEGATION_KINDS: readonly Kind[] = [DELEGATION, REVOCATION];
