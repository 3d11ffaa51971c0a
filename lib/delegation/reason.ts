// Why a token is refused: a closed list, each with the words that a person may read.

/** Every reason, in the order in which a token meets the checks. No words hold anything of the token. */
export const TOKEN_REASONS = {
  'too-long': 'it is longer than tokens may be',
  jwt: 'it is a UCAN in JWT form (ucv 0.8.1); this service takes CARs of UCAN 0.9.1 (ucanto)',
  'ucan-1': 'it is an envelope of UCAN 1.0; this service takes CARs of UCAN 0.9.1 (ucanto)',
  'not-base64': 'it is not base64 (padded) or base64url (without padding) in its one strict form',
  'not-a-car': 'it is not a CAR version 1 with one root',
  'too-many-blocks': 'its CAR has more blocks than tokens may have',
  'duplicate-block': 'its CAR has one block twice',
  'wrong-cid': 'a block or a proof is not named by a CIDv1 of DAG-CBOR and SHA-256',
  'cid-mismatch': 'the bytes of a block do not hash to its CID',
  'missing-block': 'the block of its root or of its UCAN is missing',
  'missing-proof': 'the block of a proof is missing',
  'unreferenced-block': 'it has a block that nothing refers to',
  'not-canonical': 'a block is not DAG-CBOR in its one canonical form, or has too many values',
  'not-a-ucan': 'a block is not a UCAN 0.9.1 with known fields in their one canonical form',
  'too-many-capabilities': 'a UCAN has more capabilities than tokens may have',
  'too-many-proofs': 'a UCAN has more than one proof',
  'too-deep': 'its chain of proofs is too long',
  'wrong-audience': 'its audience is not this service',
  endless: 'it, or one of its proofs, has no expiration',
  expired: 'it, or one of its proofs, has expired',
  'too-early': 'it, or one of its proofs, is not valid yet',
  'lives-too-long': 'it expires later than tokens of its kind may',
  'wrong-capability': 'its capability is not one that this service accepts',
  'issuer-unsupported': 'an issuer is named by a kind of DID or key that is not accepted',
  'issuer-unresolved': 'the keys of an issuer could not be found',
  'wrong-signature': 'a signature is not that of its issuer',
  'wrong-chain': 'its proofs do not grant its capability',
  'unneeded-proof': 'it has a proof that its capability does not need',
  revoked: 'it, or one of its proofs, was revoked',
  busy: 'too many tokens are being checked; try again',
  unavailable: 'whether it was revoked could not be found out; try again',
} as const;

/** A word for why a token is refused; one of `TOKEN_REASONS`. */
export type TokenReason = keyof typeof TOKEN_REASONS;

/** A refusal. */
export interface Refused {
  readonly ok: false;
  readonly reason: TokenReason;
}

const REFUSALS = new Map<TokenReason, Refused>();

export function refuse(reason: TokenReason): Refused {
  const known = REFUSALS.get(reason) ?? Object.freeze({ ok: false, reason });
  REFUSALS.set(reason, known);
  return known;
}
