// Route sets that earlier versions of the ixo protocol had, as rewrites to the routes of today.

import type { Rewrite } from './rewrite.ts';

export interface LegacyProfile {
  /** The versions of the protocol that had these routes. */
  readonly versions: string;
  readonly rewrites: readonly Rewrite[];
  /** Routes of those versions that nothing of today answers: their modules are gone, or they need to know more. */
  readonly gone: readonly string[];
}

const DIDS: readonly Rewrite[] = [
  { from: '/ixo/did', to: '/ixo/did/dids' },
  { from: '/ixo/allDidDocs', to: '/ixo/did/dids' },
  { from: '/ixo/did/{did}', to: '/ixo/did/dids/{did}' },
  // Today's own routes under the same beginning.
  { from: '/ixo/did/dids', to: '/ixo/did/dids' },
];

const BONDS: readonly Rewrite[] = [
  { from: '/ixo/bonds', to: '/ixo/bonds/bonds' },
  { from: '/ixo/bonds_detailed', to: '/ixo/bonds/bonds_detailed' },
];

const PROJECTS: readonly string[] = [
  '/ixo/didToAddr/{did=**}',
  '/ixo/pubKeyToAddr/{pubKey}',
  '/ixo/project/{project_did}',
  '/ixo/projectAccounts/{project_did}',
  '/ixo/projectTxs/{project_did}',
  '/ixo/projectParams',
  '/ixo/payments/templates/{payment_template_id}',
  '/ixo/payments/contracts/{payment_contract_id}',
  '/ixo/payments/subscriptions/{subscription_id}',
];

/** By the name that GATEWAY_FILE uses. */
export const LEGACY_PROFILES = {
  'ixo-v0.18': { versions: 'v0.18', rewrites: [...DIDS, ...BONDS], gone: PROJECTS },
  'ixo-v0.19': {
    versions: 'v0.19',
    rewrites: [...DIDS, ...BONDS, { from: '/ixo/entity/config', to: '/ixo/entity/params' }],
    gone: PROJECTS,
  },
  'ixo-v0.20': {
    versions: 'v0.20 to v3',
    rewrites: [
      { from: '/ixo/claim', to: '/ixo/claims/claims' },
      { from: '/ixo/claim/{id}', to: '/ixo/claims/claim/{id}' },
      { from: '/ixo/collection', to: '/ixo/claims/collections' },
      { from: '/ixo/collection/{id}', to: '/ixo/claims/collection/{id}' },
      { from: '/ixo/dispute', to: '/ixo/claims/disputes' },
      { from: '/ixo/dispute/{proof}', to: '/ixo/claims/dispute/{proof}' },
    ],
    gone: [],
  },
  'ixo-v4': {
    versions: 'v4 to v6',
    rewrites: [{ from: '/ixo/liquidstake/v1beta1/params', to: '/ixo/liquidstake/v1beta1/module_params' }],
    // Since v7 there are several pools, and these do not say which.
    gone: ['/ixo/liquidstake/v1beta1/states', '/ixo/liquidstake/v1beta1/validators'],
  },
} as const satisfies Readonly<Record<string, LegacyProfile>>;

export type LegacyName = keyof typeof LEGACY_PROFILES;

export const LEGACY_NAMES = Object.keys(LEGACY_PROFILES) as readonly LegacyName[];

/** The rewrites of these profiles; the first that names a path counts. */
export function legacyRewrites(names: readonly LegacyName[]): Rewrite[] {
  return names.flatMap((name): readonly Rewrite[] => LEGACY_PROFILES[name].rewrites);
}
