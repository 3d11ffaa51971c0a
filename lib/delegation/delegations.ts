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
import { REVOCATION, type Revocations } from './revocations.ts';
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

/** What is asked of another service. */
export interface InvocationRequest {
  readonly audience: string;
  readonly capability: Capability;
}

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
  invoke(user: string, request: InvocationRequest): Promise<string | undefined>;
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
  const { clock, keyring, guard, revocations } = options;
  settledTime(clock);
  const mint = tokenMint(options);
  const { grants, change, readCurrent, refuseRevoked } = openGrants(options, mint);

  async function readRaw(user: string): Promise<string | undefined> {
    const delegation = await readCurrent(user);
    if (delegation?.state !== 'authorized' || delegation.context.sealed === null) return undefined;
    if (delegation.context.expiresAt <= clock.now()) return undefined;
    return openText(keyring, delegationSeal(user), delegation.context.sealed);
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
      if (start.repeated) await change(user, { type: 'STORE', grant }, grant.keys);
      mint.forget(user);
      // Another request may have replaced or revoked it in the meantime.
      await refuseRevoked(grant);
      return { expiration: verdict.expiresAt };
    },

    async status(user) {
      const delegation = await readCurrent(user);
      if (delegation?.state !== 'authorized' || delegation.context.expiresAt <= clock.now())
        return { authorized: false };
      return { authorized: true, expiration: Math.floor(delegation.context.expiresAt / 1000) };
    },

    async revoke(user) {
      const delegation = await readCurrent(user);
      if (delegation?.state !== 'authorized') return false;
      await change(user, { type: 'REVOKE' }, []);
      return true;
    },

    async invoke(user, request) {
      const raw = await readRaw(user);
      return raw === undefined ? undefined : mint.issue(user, raw, request);
    },

    async sweep(limit = COMMON_LIMITS.sweepBatch) {
      const before = settledTime(clock) - COMMON_LIMITS.keptBeyondExpiryMs;
      const [ended, forgotten] = await Promise.all([grants.sweep(limit), revocations.sweep(before, limit)]);
      return Math.max(ended, forgotten);
    },
  };
}

type GrantOptions = Pick<DelegationsOptions, 'documents' | 'clock' | 'inspector' | 'revocations' | 'onRevoked'>;

/** The stored grants, and how they are replaced and ended. */
function openGrants(
  { documents, clock, inspector, revocations, onRevoked }: GrantOptions,
  mint: Pick<TokenMint, 'forget'>,
) {
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
    inspector,
  });

  // Write the tombstone first: from then on every instance refuses the token, even if this process dies.
  async function endToken(user: string, { context: { keys, expiresAt } }: Current): Promise<void> {
    await revocations.add(keys, expiresAt);
    mint.forget(user);
    onRevoked?.({ user, keys });
  }

  // The machine holds one token, so end the token it is about to drop: another request may have just stored one. `over`
  // lists keys that need no tombstone.
  async function change(user: string, event: DelegationEvent, over: readonly string[]): Promise<void> {
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
  async function readCurrent(user: string): Promise<Current | undefined> {
    const delegation = await grants.read(user);
    if (delegation?.state !== 'authorized' || !(await revocations.has(delegation.context.keys))) return delegation;
    await change(user, { type: 'REVOKE' }, delegation.context.keys);
    return grants.read(user);
  }

  return { grants, change, readCurrent, refuseRevoked };
}

type TokenMint = ReturnType<typeof tokenMint>;

/** Mints invocations within a delegation, and gives out the same one for half its lifetime. */
function tokenMint({ clock, key, issuer, olderKeys = [] }: DelegationsOptions) {
  // By user; dropped together with the delegation they rest on.
  const tokens = new LRUCache<string, ReadonlyMap<string, { token: string; until: number }>>(
    growing(DELEGATION_LIMITS.tokensKept),
  );

  function findSigner(proof: string): { readonly key: OracleKey; readonly issuer?: string } {
    const reading = olderKeys.length ? inspectToken(proof) : undefined;
    const older = reading?.ok ? olderKeys.find(({ did }) => did === reading.chain[0].audience) : undefined;
    return older ? { key: older } : { key, ...(issuer && { issuer }) };
  }

  return {
    async issue(user: string, proof: string, request: InvocationRequest): Promise<string> {
      const { audience, capability } = request;
      const now = clock.now();
      const name = JSON.stringify([proof, audience, capability]);
      const cached = tokens.get(user)?.get(name);
      if (cached && cached.until > now) return cached.token;
      const expiresIn = DELEGATION_LIMITS.mintedSeconds;
      const signer = findSigner(proof);
      const token = await mintInvocation({ ...signer, audience, capability, expiresIn, proofs: [proof], clock });
      const fresh = [name, { token, until: now + (expiresIn * 1000) / 2 }] as const;
      tokens.set(user, new Map([...(tokens.get(user) ?? []), fresh].slice(-DELEGATION_LIMITS.mintedPerUser)));
      return token;
    },
    forget: (user: string) => void tokens.delete(user),
  };
}

/** What seals the delegation that a user has stored. */
export const delegationSeal = (user: string): Seal => ({ purpose: 'delegation-at-rest/v1', label: [user] });

function cannotStore(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `This delegation cannot be stored: ${why}.`);
}

/** One delegation per user, keyed by the user's DID. */
export const DELEGATION: Kind = { name: 'delegation', indexes: { due: { fields: ['dueAt'] } } };

/** Declare these kinds before the first use. */
export const DELEGATION_KINDS: readonly Kind[] = [DELEGATION, REVOCATION];
