// Limits of lib/ussd: a name, a number, its unit.

export const USSD_LIMITS = {
  /** Characters of a session id. */
  ussdSessionIdChars: 100,
  /** Concurrent sessions per phone. */
  sessionsPerPhone: 3,
  /** Phones whose sessions a process tracks; beyond that, the least recent dialler is dropped. */
  phonesCounted: 100_000,
  /** Sessions of a phone in the shared note, and milliseconds after its last dial until the note is deleted. */
  keysPerPhone: 64,
  phoneNoteMs: 600_000,
  /** Bytes of a USSD request body. */
  ussdBodyBytes: 8_192,
  /** Bytes of an answer that is posted to a callback. */
  callbackBodyBytes: 65_536,
} as const;
