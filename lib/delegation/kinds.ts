// The kinds of documents of delegations, declared once: they serve every backend.

import type { Kind } from '../store/store.ts';

/** What each user has granted, by the user's DID. */
export const DELEGATION: Kind = { name: 'delegation', indexes: { due: { fields: ['dueAt'] } } };

/** What was revoked, by the key of the signed content. Kept until the token would have expired. */
export const REVOCATION: Kind = { name: 'revocation', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Declare these before the first use. */
export const DELEGATION_KINDS: readonly Kind[] = [DELEGATION, REVOCATION];
