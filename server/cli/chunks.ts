// A file of lines in chunks that are cut the same way every time, so that a chunk that is sent again is the same one.

import { TwinlineError } from '../../lib/errors.ts';

export interface Chunk {
  /** Number of its first line in the file, from 1. */
  readonly first: number;
  readonly lines: number;
  readonly bytes: Buffer;
  /** How far into the file it ends. */
  readonly end: number;
}

const LINES = 1_000;
const BYTES = 8_388_608;
const NEWLINE = 10;

/** Cuts after 1,000 lines, or at the first end of a line after 8 MiB. Rejects with ERR_INPUT when no line ends for so long. */
export async function* chunksOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<Chunk> {
  let parts: Buffer[] = [];
  let size = 0;
  let lines = 0;
  let first = 1;
  let end = 0;
  const cut = (): Chunk => {
    end += size;
    const chunk = { first, lines, bytes: Buffer.concat(parts), end };
    first += lines;
    parts = [];
    size = 0;
    lines = 0;
    return chunk;
  };
  for await (const read of input) {
    const bytes = Buffer.from(read as Buffer);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      lines++;
      if (lines < LINES && size + at + 1 - from < BYTES) continue;
      const part = bytes.subarray(from, at + 1);
      parts.push(part);
      size += part.length;
      from = at + 1;
      yield cut();
    }
    const rest = bytes.subarray(from);
    if (rest.length === 0) continue;
    parts.push(rest);
    size += rest.length;
    if (size > 2 * BYTES) throw new TwinlineError('ERR_INPUT', `Line ${first + lines} is longer than ${BYTES} bytes.`);
  }
  if (size > 0) {
    if (parts.at(-1)!.at(-1) !== NEWLINE) lines++;
    yield cut();
  }
}
