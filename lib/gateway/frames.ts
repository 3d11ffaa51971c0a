// The frame around each message of gRPC: one byte that says whether it is compressed, four bytes of length.

const HEAD = 5;

/** A message in its frame, not compressed. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, HEAD);
  return bytes;
}

export type FrameTrouble = 'compressed' | 'malformed' | 'too large';

export interface FrameReader {
  /** Takes bytes as they come; the first trouble ends the reading: call it no more. */
  write(chunk: Buffer): FrameTrouble | undefined;
  /** Whether bytes of an unfinished message are left. */
  isAmid(): boolean;
}

/**
 * Cuts bytes into messages and gives each to `take`. A message that announces more than `maxBytes` is refused by its
 * head, before it is held. Compressed ones are refused: this side tells the node that it takes none.
 */
export function frameReader(maxBytes: number, take: (message: Buffer) => void): FrameReader {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let needed = HEAD;

  function write(chunk: Buffer): FrameTrouble | undefined {
    if (!heldBytes) return cut(chunk);
    hold(chunk);
    if (heldBytes < needed) return undefined;
    const whole = Buffer.concat(held, heldBytes);
    held = [];
    heldBytes = 0;
    return cut(whole);
  }

  function cut(bytes: Buffer): FrameTrouble | undefined {
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      needed = HEAD;
      if (left >= HEAD) {
        const flag = bytes[at]!;
        if (flag) return flag === 1 ? 'compressed' : 'malformed';
        const size = bytes.readUInt32BE(at + 1);
        if (size > maxBytes) return 'too large';
        needed += size;
      }
      if (left < needed) break;
      take(bytes.subarray(at + HEAD, at + needed));
      at += needed;
    }
    if (at < bytes.length) hold(at ? bytes.subarray(at) : bytes);
    return undefined;
  }

  function hold(bytes: Buffer): void {
    held.push(bytes);
    heldBytes += bytes.length;
  }

  return { write, isAmid: () => heldBytes > 0 };
}
