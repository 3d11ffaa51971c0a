// Writes blocks of headers (HPACK, RFC 7541): names that have a number, all else as it is. No table is kept for them.

/** Tells the node that its table for this side has no room; may stand at the beginning of a block. */
export const NO_TABLE = 0x20;

const KNOWN = 0x80;
const WITHOUT_INDEXING = 0x00;
const NEVER_INDEXED = 0x10;
/** Bytes of a length at most: no text is longer than 2 MB. */
const LENGTH_BYTES = 4;

/** Bytes that a field needs at most. */
export function fieldBytes(name: string, value: string): number {
  return 1 + 2 * LENGTH_BYTES + name.length + value.length;
}

/** Writes into `bytes` from `at` on; whoever uses it has seen to it that there is room. Texts are ASCII. */
export class BlockWriter {
  bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** A field that stands in the static table. */
  known(index: number): void {
    this.bytes[this.at++] = KNOWN | index;
  }

  /** A field whose name stands in the static table. */
  named(index: number, value: string): void {
    this.#number(index, 4);
    this.text(value);
  }

  field(name: string, value: string): void {
    this.begin(name);
    this.text(value);
  }

  /** A field whose value is the next text. */
  begin(name: string): void {
    this.bytes[this.at++] = WITHOUT_INDEXING;
    this.text(name);
  }

  /** A field that nobody in between may keep. */
  secret(name: string, value: string): void {
    this.bytes[this.at++] = NEVER_INDEXED;
    this.text(name);
    this.text(value);
  }

  text(value: string): void {
    this.#number(value.length, 7);
    this.at += this.bytes.write(value, this.at, 'latin1');
  }

  /** What was written before. */
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
