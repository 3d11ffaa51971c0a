// Reads blocks of headers (HPACK, RFC 7541). The table that grows with a connection is not kept: the node was told that it
// has no room. So a block means the same wherever it stands, and one that was seen before need not be read again.

import { LIMITS } from '../../../limits.ts';
import { STATIC_TABLE } from './hpack-table.ts';
import { huffmanText } from './huffman.ts';

/** Names and values in turn, a character for each byte. */
export type Fields = readonly string[];

const STATIC_FIELDS = STATIC_TABLE.length / 2;
/** What each field counts for, besides its bytes: as in SETTINGS_MAX_HEADER_LIST_SIZE. */
const FIELD_BYTES = 32;
/** Bytes of a number after the first one: more than any length or index needs. */
const NUMBER_BYTES = 4;
/** Updates of the size of the table at the beginning of a block. */
const UPDATES_MAX = 2;

/** The fields in a block; `too large` when they exceed LIMITS.grpcMetadataBytes. Takes time in proportion to the block. */
export function decodeFields(block: Buffer): Fields | 'malformed' | 'too large' {
  const reader = new BlockReader(block);
  const fields: string[] = [];
  let bytes = 0;
  reader.skipUpdates();
  while (reader.at < block.length) {
    const [name, value] = reader.field() ?? BROKEN;
    if (name === undefined || value === undefined) return 'malformed';
    bytes += name.length + value.length + FIELD_BYTES;
    if (bytes > LIMITS.grpcMetadataBytes) return 'too large';
    fields.push(name, value);
  }
  return reader.isBroken ? 'malformed' : fields;
}

const BROKEN = [undefined, undefined] as const;

class BlockReader {
  at = 0;
  isBroken = false;
  readonly #block: Buffer;

  constructor(block: Buffer) {
    this.#block = block;
  }

  /** Any size but 0 is more than the node was allowed. */
  skipUpdates(): void {
    for (let updates = 0; (this.#byte() & 0xe0) === 0x20 && !this.isBroken; updates++)
      if (this.#number(5) !== 0 || updates === UPDATES_MAX) this.isBroken = true;
  }

  /** The next field, or undefined when there is none to be read. */
  field(): readonly [name: string | undefined, value: string | undefined] | undefined {
    if (this.isBroken) return undefined;
    const byte = this.#byte();
    if (byte & 0x80) {
      const index = this.#number(7);
      return this.#isKnown(index) ? [STATIC_TABLE[index * 2 - 2], STATIC_TABLE[index * 2 - 1]] : undefined;
    }
    if ((byte & 0xe0) === 0x20) return undefined;
    // With indexing, without it, or never with it: all the same where no table is kept.
    const index = this.#number(byte & 0x40 ? 6 : 4);
    if (index) return this.#isKnown(index) ? [STATIC_TABLE[index * 2 - 2], this.#text()] : undefined;
    return [this.#text(), this.#text()];
  }

  #isKnown(index: number): boolean {
    return index > 0 && index <= STATIC_FIELDS;
  }

  #byte(): number {
    return this.#block[this.at] ?? 0;
  }

  /** A number that begins in the last `bits` bits of the next byte; 0 and broken when it has no end or is too long. */
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
    const isCoded = (this.#byte() & 0x80) !== 0;
    if (this.at >= this.#block.length) return undefined;
    const end = this.#number(7) + this.at;
    if (this.isBroken || end > this.#block.length) return undefined;
    const from = this.at;
    this.at = end;
    return isCoded ? huffmanText(this.#block.subarray(from, end)) : this.#block.toString('latin1', from, end);
  }
}
