// Cuts what comes on a connection into frames, without copying those that came whole.

import { FRAME_BYTES, HEAD_BYTES, type Trouble, trouble } from './codes.ts';

/** Bytes that belong to someone else: whoever keeps them copies them. */
export interface Piece {
  bytes: Buffer;
  from: number;
  to: number;
}

/** A frame; its piece is the payload. One object serves all frames. */
export interface Frame extends Piece {
  type: number;
  flags: number;
  id: number;
}

const LONG = trouble('frameSize', 'a frame is longer than was agreed');

export class FrameReader {
  readonly #take: (frame: Frame) => Trouble | undefined;
  readonly #held = Buffer.allocUnsafeSlow(HEAD_BYTES + FRAME_BYTES);
  #heldBytes = 0;
  readonly #frame: Frame = { type: 0, flags: 0, id: 0, bytes: this.#held, from: 0, to: 0 };

  /** `take` is given one frame after the other, until it finds trouble. */
  constructor(take: (frame: Frame) => Trouble | undefined) {
    this.#take = take;
  }

  /** Takes the first `length` bytes. After trouble it is not called again. */
  write(bytes: Buffer, length: number): Trouble | undefined {
    let at = 0;
    while (this.#heldBytes && at < length) {
      const missing = this.#needed() - this.#heldBytes;
      if (missing > FRAME_BYTES) return LONG;
      const end = Math.min(at + missing, length);
      this.#hold(bytes, at, end);
      at = end;
      if (this.#heldBytes < this.#needed()) continue;
      const whole = this.#heldBytes;
      this.#heldBytes = 0;
      const found = this.#give(this.#held, 0, whole);
      if (found) return found;
    }
    while (length - at >= HEAD_BYTES) {
      const size = sizeAt(bytes, at);
      if (size > FRAME_BYTES) return LONG;
      const end = at + HEAD_BYTES + size;
      if (end > length) break;
      const found = this.#give(bytes, at, end);
      if (found) return found;
      at = end;
    }
    this.#hold(bytes, at, length);
    return undefined;
  }

  /** Bytes until the head, or with it the frame, is whole. */
  #needed(): number {
    return this.#heldBytes < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + sizeAt(this.#held, 0);
  }

  #hold(bytes: Buffer, from: number, to: number): void {
    if (from < to) this.#heldBytes += bytes.copy(this.#held, this.#heldBytes, from, to);
  }

  #give(bytes: Buffer, at: number, end: number): Trouble | undefined {
    const frame = this.#frame;
    frame.type = bytes[at + 3]!;
    frame.flags = bytes[at + 4]!;
    frame.id = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    frame.bytes = bytes;
    frame.from = at + HEAD_BYTES;
    frame.to = end;
    return this.#take(frame);
  }
}

function sizeAt(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3);
}
