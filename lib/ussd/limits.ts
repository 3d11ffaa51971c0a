// Limits of lib/ussd: a name, a number, its unit.

export const USSD_LIMITS = {
  ussdSessionIdChars: 100,
  /** Bytes of a request body at the USSD door. */
  ussdBodyBytes: 8_192,
} as const;
