// Who asks: an API key's principal, roles and tenant; and which role each action needs.

import { refuse } from './problems.ts';

/** What a caller may be; one may be several. */
export const ROLES = ['controller', 'representative', 'voter', 'issuer', 'operator'] as const;
/** One of `ROLES`. */
export type Role = (typeof ROLES)[number];

/** Who asks: a DID with its roles, in a tenant. */
export interface Caller {
  /** The DID that acts: controller of what it creates, the voter, the proposer. */
  readonly principal: string;
  readonly roles: ReadonlySet<Role>;
  /** Nothing of another tenant exists for this caller. */
  readonly tenant: string;
}

/** Action → the roles that may do it; one is enough. Reading needs a known key and no role. */
export const PERMITTED = {
  'create twins': ['controller', 'operator'],
  'change twins': ['controller', 'operator'],
  'import in bulk': ['controller', 'operator'],
  'import records': ['operator'],
  'manage webhooks': ['controller', 'operator'],
  propose: ['representative', 'operator'],
  withdraw: ['representative', 'operator'],
  vote: ['voter'],
  veto: ['operator'],
  execute: ['operator'],
  export: ['operator'],
  'issue credits': ['issuer', 'operator'],
} as const satisfies Record<string, readonly Role[]>;

export type Action = keyof typeof PERMITTED;

/** A request that is read only once its caller's rights are known; it is given what the request is about, as it is now. */
export interface LazyRequest<Subject, Request> {
  readonly read: (present: Subject) => Promise<Request>;
}

/** Throws `role-missing` unless one of the caller's roles permits the action. */
export function requireRole(caller: Caller, action: Action): void {
  const roles: readonly Role[] = PERMITTED[action];
  if (roles.some((role) => caller.roles.has(role))) return;
  throw refuse(
    'role-missing',
    `To ${action} needs the role ${roles.join(' or ')}; this API key has ${[...caller.roles].join(', ') || 'none'}.`,
  );
}
