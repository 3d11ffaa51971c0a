// The time zone that a request names.

/** The zone's usual name; undefined for what is none, as if it had not been sent. */
export function zoneOf(name: string): string | undefined {
  try {
    return name && name.length <= 64
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : undefined;
  } catch {
    return undefined;
  }
}
