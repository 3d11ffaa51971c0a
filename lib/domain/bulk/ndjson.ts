// Lines of JSON out of bytes, one at a time: a broken line says so and the next one is read all the same.

import type { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { readJson } from '../../json/reader.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse, refuseFlaw } from '../problems.ts';

/** A line and its number, from 1; empty lines count and are left out. */
export type NumberedLine = { readonly line: number } & (
  | { readonly value: Json; readonly text: string }
  | { readonly problem: TwinlineError }
);

const NEWLINE = 10;

/** Cuts bytes into lines, however they come. */
export interface LineCutter {
  /** The lines that end in these bytes. */
  push(chunk: Uint8Array): NumberedLine[];
  /** The last line, when no line end follows it. */
  end(): NumberedLine[];
}

/** Holds one line of at most DOMAIN_LIMITS.bulkLineBytes; of a longer one only that it was too long. */
export function lineCutter(): LineCutter {
  let parts: Buffer[] = [];
  let length = 0;
  let line = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length <= DOMAIN_LIMITS.bulkLineBytes) parts.push(part);
    else parts = [];
  };
  const take = (): NumberedLine[] => {
    line++;
    const read =
      length > DOMAIN_LIMITS.bulkLineBytes ? { line, problem: tooLong() } : parseLine(line, Buffer.concat(parts));
    parts = [];
    length = 0;
    return read ? [read] : [];
  };
  return {
    push(chunk) {
      const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const lines: NumberedLine[] = [];
      let from = 0;
      for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, from)) {
        add(buffer.subarray(from, end));
        from = end + 1;
        lines.push(...take());
      }
      add(buffer.subarray(from));
      return lines;
    },
    end: () => (length > 0 ? take() : []),
  };
}

/** Reads lines, as {@link lineCutter} cuts them. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine> {
  const cutter = lineCutter();
  for await (const chunk of bytes) yield* cutter.push(chunk);
  yield* cutter.end();
}

function parseLine(line: number, bytes: Buffer): NumberedLine | undefined {
  const text = bytes.toString().replace(/^\ufeff/, '');
  if (text.trim() === '') return undefined;
  const reading = readJson(text);
  if ('value' in reading) return { line, value: reading.value, text };
  if (reading.flaw.kind !== 'syntax') return { line, problem: refuseFlaw(reading.flaw, 'The line') };
  return { line, problem: refuse('bad-request', 'The line is no valid JSON. Write one JSON object per line.') };
}

function tooLong(): TwinlineError {
  return refuse('too-large', `The line is longer than ${DOMAIN_LIMITS.bulkLineBytes} bytes.`);
}
