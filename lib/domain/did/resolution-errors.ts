// How the resolution of a DID can fail: the errors of W3C DID Resolution, their HTTP status and their titles.

import type { JsonObject } from '../../store/store.ts';

export const RESOLUTION_ERRORS = {
  INVALID_DID: { status: 400, title: 'This is no DID' },
  INVALID_DID_URL: { status: 400, title: 'This is no DID URL that can be followed' },
  INVALID_OPTIONS: { status: 400, title: 'An option has a value that it cannot have' },
  NOT_FOUND: { status: 404, title: 'Nothing is known under this DID' },
  REPRESENTATION_NOT_SUPPORTED: { status: 406, title: 'No form that the client accepts' },
  INTERNAL_ERROR: { status: 500, title: 'The resolution failed' },
  METHOD_NOT_SUPPORTED: { status: 501, title: 'DIDs of this method are not resolved here' },
  FEATURE_NOT_SUPPORTED: { status: 501, title: 'This option is not supported' },
} as const;

export type ResolutionCode = keyof typeof RESOLUTION_ERRORS;

/** A resolution that did not succeed; `detail` says why. */
export interface Failed {
  readonly kind: 'failed';
  readonly code: ResolutionCode;
  readonly detail: string;
}

export function failed(code: ResolutionCode, detail: string): Failed {
  return { kind: 'failed', code, detail };
}

/** The `error` of a result: a problem (RFC 9457) with the type that the standard gives it. */
export function resolutionError({ code, detail }: Failed): JsonObject {
  return { type: `https://www.w3.org/ns/did#${code}`, ...RESOLUTION_ERRORS[code], detail };
}
