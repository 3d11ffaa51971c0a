// Limits of lib/ussd: a name, a number, its unit.

export const USSD_LIMITS = {
  /** Characters of the id that a telecom gives a session. */
  ussdSessionIdChars: 100,
  /** Sessions that one phone may have at a time. */
  sessionsPerPhone: 3,
  /** Phones whose sessions a process counts; the one that dialled longest ago is forgotten. */
  phonesCounted: 100_000,
  /** Sessions of a phone that instances note together, and milliseconds after its last dial until they forget them. */
  keysPerPhone: 64,
  phoneNoteMs: 600_000,
  /** Bytes of a request body at the USSD door. */
  ussdBodyBytes: 8_192,
} as const;
