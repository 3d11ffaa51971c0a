// What a client sent, as messages show it.

/** Quoted, at most 100 characters. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
