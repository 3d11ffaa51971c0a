// HPACK (RFC 7541) without a dynamic table: static table, Huffman decoding, and header blocks. We announce a table size of 0,
// so a block means the same everywhere and can be cached by its bytes.

import { GATEWAY_LIMITS } from '../limits.ts';

/** The static table (appendix A): names and values alternate; the first pair has index 1. */
const STATIC_TABLE: readonly string[] = [
  ...[':authority', '', ':method', 'GET', ':method', 'POST', ':path', '/', ':path', '/index.html'],
  ...[':scheme', 'http', ':scheme', 'https', ':status', '200', ':status', '204', ':status', '206'],
  ...[':status', '304', ':status', '400', ':status', '404', ':status', '500', 'accept-charset', ''],
  ...['accept-encoding', 'gzip, deflate', 'accept-language', '', 'accept-ranges', '', 'accept', ''],
  ...['access-control-allow-origin', '', 'age', '', 'allow', '', 'authorization', '', 'cache-control', ''],
  ...['content-disposition', '', 'content-encoding', '', 'content-language', '', 'content-length', ''],
  ...['content-location', '', 'content-range', '', 'content-type', '', 'cookie', '', 'date', '', 'etag', ''],
  ...['expect', '', 'expires', '', 'from', '', 'host', '', 'if-match', '', 'if-modified-since', ''],
  ...['if-none-match', '', 'if-range', '', 'if-unmodified-since', '', 'last-modified', '', 'link', ''],
  ...['location', '', 'max-forwards', '', 'proxy-authenticate', '', 'proxy-authorization', '', 'range', ''],
  ...['referer', '', 'refresh', '', 'retry-after', '', 'server', '', 'set-cookie', ''],
  ...['strict-transport-security', '', 'transfer-encoding', '', 'user-agent', '', 'vary', '', 'via', ''],
  ...['www-authenticate', ''],
];

// The Huffman code (appendix B): the code length of each byte from 0 to 255 in bits, as a digit in base 36. The code is
// canonical: codes are ordered by length, then by byte.
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

const LONGEST_BITS = 30;
const PADDING_BITS_MAX = 7;

// By code length: the first code, the number of codes, and the index of their first byte in SYMBOLS.
const firstCode = new Uint32Array(LONGEST_BITS + 1);
const codeCount = new Uint32Array(LONGEST_BITS + 1);
const symbolStart = new Uint32Array(LONGEST_BITS + 1);
const SYMBOLS = new Uint8Array(256);
buildCode();

function buildCode(): void {
  let code = 0;
  let next = 0;
  for (let length = 1; length <= LONGEST_BITS; length++) {
    code *= 2;
    firstCode[length] = code;
    symbolStart[length] = next;
    for (let byte = 0; byte < 256; byte++) if (Number.parseInt(LENGTHS[byte]!, 36) === length) SYMBOLS[next++] = byte;
    codeCount[length] = next - symbolStart[length]!;
    code += codeCount[length]!;
  }
}

/** Decodes Huffman-coded `bytes` to one character per byte; undefined for an invalid code or invalid padding. */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  // The shortest code has five bits.
  const out = Buffer.allocUnsafe((bytes.length * 8) / 5 + 1);
  let end = 0;
  let code = 0;
  let length = 0;
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      const nth = code - firstCode[++length]!;
      if (nth < codeCount[length]!) {
        out[end++] = SYMBOLS[symbolStart[length]! + nth]!;
        code = 0;
        length = 0;
      } else if (length === LONGEST_BITS) return undefined;
    }
  const isPadding = length <= PADDING_BITS_MAX && code === 2 ** length - 1;
  return isPadding ? out.toString('latin1', 0, end) : undefined;
}

/** Names and values alternate; one character per byte. */
export type FieldLines = readonly string[];

const STATIC_FIELDS = STATIC_TABLE.length / 2;
/** Overhead of each field in the size of a header list, in bytes (RFC 9113, section 6.5.2). */
export const FIELD_BYTES = 32;
/** Most bytes of an integer after the first: enough for every accepted length and index. */
const NUMBER_BYTES = 4;
/** Most dynamic table size updates at the start of a block (section 4.2). */
const UPDATES_MAX = 2;

/** Decodes a header block; `too large` when the list exceeds GATEWAY_LIMITS.grpcMetadataBytes. The cost is linear in the block. */
export function decodeFields(block: Buffer): FieldLines | 'malformed' | 'too large' {
  const reader = new BlockReader(block);
  const fields: string[] = [];
  let bytes = 0;
  reader.skipUpdates();
  while (reader.at < block.length) {
    const [name, value] = reader.field() ?? NO_FIELD;
    if (name === undefined || value === undefined) return 'malformed';
    bytes += name.length + value.length + FIELD_BYTES;
    if (bytes > GATEWAY_LIMITS.grpcMetadataBytes) return 'too large';
    fields.push(name, value);
  }
  return reader.isBroken ? 'malformed' : fields;
}

const NO_FIELD = [undefined, undefined] as const;

class BlockReader {
  at = 0;
  isBroken = false;
  readonly #block: Buffer;

  constructor(block: Buffer) {
    this.#block = block;
  }

  /** Skips dynamic table size updates. Any size but 0 exceeds the announced maximum. */
  skipUpdates(): void {
    for (let updates = 0; (this.#byte() & 0xe0) === 0x20 && !this.isBroken; updates++)
      if (this.#number(5) !== 0 || updates === UPDATES_MAX) this.isBroken = true;
  }

  /** The next field, or undefined when it is malformed. */
  field(): readonly [name: string | undefined, value: string | undefined] | undefined {
    if (this.isBroken) return undefined;
    const byte = this.#byte();
    if (byte & 0x80) {
      const index = this.#number(7);
      return this.#isStatic(index) ? [STATIC_TABLE[index * 2 - 2], STATIC_TABLE[index * 2 - 1]] : undefined;
    }
    if ((byte & 0xe0) === 0x20) return undefined;
    // The three literal forms differ only in indexing, which does not matter without a dynamic table.
    const index = this.#number(byte & 0x40 ? 6 : 4);
    if (index) return this.#isStatic(index) ? [STATIC_TABLE[index * 2 - 2], this.#text()] : undefined;
    return [this.#text(), this.#text()];
  }

  #isStatic(index: number): boolean {
    return index > 0 && index <= STATIC_FIELDS;
  }

  #byte(): number {
    return this.#block[this.at] ?? 0;
  }

  /** Reads an integer with a prefix of `bits` bits (section 5.1); 0, and broken, when it is incomplete or too long. */
  #number(bits: number): number {
    const most = 2 ** bits - 1;
    const first = this.#byte() & most;
    this.at++;
    if (first < most) return first;
    let value = most;
    for (let at = 0; at < NUMBER_BYTES; at++) {
      const byte = this.#block[this.at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** (7 * at);
      if (byte < 0x80) return value;
    }
    this.isBroken = true;
    return 0;
  }

  #text(): string | undefined {
    const isHuffman = (this.#byte() & 0x80) !== 0;
    if (this.at >= this.#block.length) return undefined;
    const end = this.#number(7) + this.at;
    if (this.isBroken || end > this.#block.length) return undefined;
    const from = this.at;
    this.at = end;
    return isHuffman ? decodeHuffman(this.#block.subarray(from, end)) : this.#block.toString('latin1', from, end);
  }
}

/** A dynamic table size update to 0, which may start a block. */
export const EMPTY_TABLE = 0x20;

const INDEXED = 0x80;
const WITHOUT_INDEXING = 0x00;
const NEVER_INDEXED = 0x10;
/** Maximum bytes of an encoded length: no text is longer than 2 MB. */
const LENGTH_BYTES = 4;

/** Maximum bytes of an encoded field. */
export function fieldBytes(name: string, value: string): number {
  return 1 + 2 * LENGTH_BYTES + name.length + value.length;
}

/** Writes a header block into `bytes` from `at`. The caller ensures that there is room. Texts must be ASCII. */
export class BlockWriter {
  bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** An indexed field of the static table. */
  writeIndexed(index: number): void {
    this.bytes[this.at++] = INDEXED | index;
  }

  /** A literal field whose name is in the static table. */
  writeNamed(index: number, value: string): void {
    this.#number(index, 4);
    this.text(value);
  }

  field(name: string, value: string): void {
    this.name(name);
    this.text(value);
  }

  /** The name of a literal field; its value must be written next with {@link text}. */
  name(name: string): void {
    this.bytes[this.at++] = WITHOUT_INDEXING;
    this.text(name);
  }

  /** A literal field that intermediaries must never index: for values that may be secret. */
  secret(name: string, value: string): void {
    this.bytes[this.at++] = NEVER_INDEXED;
    this.text(name);
    this.text(value);
  }

  text(value: string): void {
    this.#number(value.length, 7);
    this.at += this.bytes.write(value, this.at, 'latin1');
  }

  /** Encoded fields. */
  block(block: Uint8Array): void {
    this.bytes.set(block, this.at);
    this.at += block.length;
  }

  #number(value: number, bits: number): void {
    const { bytes } = this;
    const most = 2 ** bits - 1;
    if (value < most) {
      bytes[this.at++] = value;
      return;
    }
    bytes[this.at++] = most;
    let left = value - most;
    for (; left > 0x7f; left >>>= 7) bytes[this.at++] = 0x80 | (left & 0x7f);
    bytes[this.at++] = left;
  }
}
