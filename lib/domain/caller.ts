// Callers: the principal, roles and tenant of an API key, and the roles that each action requires.

import { refuse } from './problems.ts';

/** The roles of callers; a caller may have several. */
export const ROLES = ['controller', 'representative', 'voter', 'issuer', 'operator'] as const;
/** One of `ROLES`. */
export type Role = (typeof ROLES)[number];

/** An authenticated principal with its roles in a tenant. */
export interface Caller {
  /** The DID that acts: controller of what it creates, the voter, the proposer. */
  readonly principal: string;
  readonly roles: ReadonlySet<Role>;
  /** Callers see only their own tenant. */
  readonly tenant: string;
}

/** Action → the roles that permit it, any of which suffices. Reading requires a valid key but no role. */
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

/** A request whose body is read only after the caller was authorised; `read` gets the current state of its subject. */
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
