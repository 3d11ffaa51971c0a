// Why a token is refused: a closed list of reasons, each with a text for people.

/** Every reason, in the order of the checks. The texts never quote the token. */
export const TOKEN_REASONS = {
  'too-long': 'it exceeds the size limit',
  jwt: 'it is a UCAN in JWT form (ucv 0.8.1); this service accepts UCAN 0.9.1 CARs (ucanto)',
  'ucan-1': 'it is an envelope of UCAN 1.0; this service accepts UCAN 0.9.1 CARs (ucanto)',
  'car-in-cid': 'it is a CID that holds a CAR, as other ucanto tools print it; send the CAR itself as base64',
  'line-breaks': 'it has line breaks or spaces; send it as one line',
  'not-base64': 'it is not strict base64 (padded) or base64url (unpadded)',
  'not-a-car': 'it is not a CARv1 with a single root',
  'too-many-blocks': 'its CAR has too many blocks',
  'duplicate-block': 'its CAR contains a duplicate block',
  'wrong-cid': 'the CID of a block or proof is not a CIDv1 with DAG-CBOR and SHA-256',
  'cid-mismatch': 'the bytes of a block do not hash to its CID',
  'missing-block': 'its root block or UCAN block is missing',
  'missing-proof': 'a proof block is missing',
  'unreferenced-block': 'it contains an unreferenced block',
  'not-canonical': 'a block is not canonical DAG-CBOR, or has too many values',
  'not-a-ucan': 'a block is not a canonical UCAN 0.9.1, or has unknown fields',
  'too-many-capabilities': 'a UCAN has too many capabilities',
  'too-many-proofs': 'a UCAN has more than one proof',
  'too-deep': 'its proof chain is too long',
  'wrong-audience': 'its audience is not this service',
  endless: 'it, or one of its proofs, has no expiration',
  expired: 'it, or one of its proofs, has expired',
  'too-early': 'it, or one of its proofs, is not valid yet',
  'lives-too-long': 'its lifetime exceeds the limit for its kind',
  'wrong-capability': 'this service does not accept its capability',
  'issuer-unsupported': 'the DID method or key type of an issuer is not supported',
  'issuer-unresolved': 'the keys of an issuer could not be resolved',
  'wrong-signature': 'a signature does not match its issuer',
  'wrong-chain': 'its proofs do not grant its capability',
  'unneeded-proof': 'it contains a proof that its capability does not need',
  revoked: 'it, or one of its proofs, was revoked',
  busy: 'too many tokens are being verified; try again',
  unavailable: 'its revocation status could not be checked; try again',
} as const;

/** Why a token is refused; a key of `TOKEN_REASONS`. */
export type TokenReason = keyof typeof TOKEN_REASONS;

/** A refused token, with the reason. */
export interface Refused {
  readonly ok: false;
  readonly reason: TokenReason;
}

const REFUSALS = new Map<TokenReason, Refused>();

export function refuse(reason: TokenReason): Refused {
  const refusal = REFUSALS.get(reason) ?? Object.freeze({ ok: false, reason });
  REFUSALS.set(reason, refusal);
  return refusal;
}
