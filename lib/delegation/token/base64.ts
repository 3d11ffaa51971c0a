// Text to bytes, when the text is the one base64 or base64url form of these bytes.

/**
 * The bytes of standard base64 with padding or of base64url without; undefined for every other spelling of them:
 * whitespace, mixed alphabets, missing or extra padding, bits behind the end.
 */
export function strictBytes(text: string): Uint8Array | undefined {
  // Buffer reads both alphabets and skips what it does not know: only writing it again tells.
  const bytes = Buffer.from(text, 'base64');
  const same = bytes.toString('base64') === text || bytes.toString('base64url') === text;
  return same && bytes.length > 0 ? bytes : undefined;
}
