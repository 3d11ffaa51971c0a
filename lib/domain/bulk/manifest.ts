// The first and the last line of an export, by which an import sees that it has all lines in between, in their order.

import { createHash } from 'node:crypto';
import type { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { refuse } from '../problems.ts';
import type { NumberedLine } from './ndjson.ts';
import { isRecordLine } from './record-lines.ts';

const FORMAT = 1;

/** The first line. */
export type ExportHead = JsonObject & {
  readonly import: true;
  readonly kind: 'export';
  readonly format: number;
  /** Of Twinline. */
  readonly version: string;
};

/** The last line. */
export type ExportEnd = JsonObject & {
  readonly import: true;
  readonly kind: 'end';
  /** How many lines there are between the two, by kind. */
  readonly records: { readonly [kind: string]: number };
  /** Hex, over the first line and all others but this one: each without spaces around it, and with a line feed. */
  readonly sha256: string;
  /** What a server keeps and an export does not hold, in words. */
  readonly leftOut: readonly string[];
};

export interface ManifestParts {
  readonly version: string;
  readonly leftOut: readonly string[];
}

/** The lines of an export as text, between its first and its last one. */
export async function* writeExport(
  lines: AsyncIterable<JsonObject & { readonly kind: string }>,
  { version, leftOut }: ManifestParts,
): AsyncGenerator<string> {
  const tally = lineTally();
  const head: ExportHead = { import: true, kind: 'export', format: FORMAT, version };
  yield tally.add(JSON.stringify(head));
  for await (const line of lines) yield tally.add(JSON.stringify(line), line.kind);
  const end: ExportEnd = { import: true, kind: 'end', ...tally.result(), leftOut };
  yield `${JSON.stringify(end)}\n`;
}

function lineTally() {
  const hash = createHash('sha256');
  const records: Record<string, number> = {};
  return {
    /** Gives the text back, as a line. */
    add(text: string, kind?: string): string {
      const line = `${text.trim()}\n`;
      hash.update(line);
      if (kind !== undefined) records[kind] = (records[kind] ?? 0) + 1;
      return line;
    },
    result: () => ({ records, sha256: hash.digest('hex') }),
  };
}

export const NO_MANIFEST =
  'The lines of an export have no first and last line of their own, as those of an earlier version: whether they are all there cannot be seen, and cards that were given before have no place in a status list here.';

/** What was seen of a file when it has ended. */
export interface ExportVerdict {
  /** What was wrong with it, or that its end is missing. */
  readonly problem?: TwinlineError | undefined;
  readonly end?: ExportEnd | undefined;
}

/** Looks at the lines of a file one after the other. */
export interface ExportCheck {
  /** What is wrong with the file at this line: the line is not to be taken, and nothing after it. */
  take(line: NumberedLine): TwinlineError | undefined;
  finish(): ExportVerdict;
  /** There were records of an export without a first line. */
  readonly isBare: boolean;
}

/** Whether the value is the first or the last line of an export. */
export function isManifestLine(value: Json): value is ExportHead | ExportEnd {
  return isObject(value) && value.import === true && (value.kind === 'export' || value.kind === 'end');
}

/** Checks that what begins as an export is one, whole and alone in its file. Of other lines nothing is asked. */
export function exportCheck(): ExportCheck {
  let tally: ReturnType<typeof lineTally> | undefined;
  let end: ExportEnd | undefined;
  let isBare = false;
  let isEmpty = true;
  let failure: TwinlineError | undefined;

  function begin({ format }: ExportHead, text: string): TwinlineError | undefined {
    if (!isEmpty) return refuse('invalid', 'An export begins in the middle of the lines. Import each file by itself.');
    if (format !== FORMAT)
      return refuse('invalid', `The export has the format ${format}; this version reads ${FORMAT}. Update Twinline.`);
    tally = lineTally();
    tally.add(text);
    return undefined;
  }

  function close(line: ExportEnd): TwinlineError | undefined {
    if (!tally) return refuse('invalid', 'An export ends here, and its first line is missing. Take the whole file.');
    const { sha256, records } = tally.result();
    end = line;
    if (sha256 === line.sha256) return undefined;
    const [there, written] = [sum(records), sum(line.records)];
    const counts =
      there === written ? `all ${there} lines are there` : `${there} lines are there, ${written} were written`;
    const words = `The export is not as it was written: lines are missing, changed or in another order (${counts}).`;
    return refuse('invalid', `${words} Take the file as it was exported.`);
  }

  function look(line: NumberedLine): TwinlineError | undefined {
    if (end) return refuse('invalid', 'There are lines after the end of the export. Import each file by itself.');
    if ('problem' in line) return void tally?.add(`${line.line}`, 'unreadable');
    const { value, text } = line;
    if (isManifestLine(value)) return value.kind === 'export' ? begin(value, text) : close(value);
    tally?.add(text, isObject(value) ? String(value.kind) : '');
    isBare ||= !tally && isRecordLine(value);
    return undefined;
  }

  return {
    take(line) {
      failure ??= look(line);
      isEmpty = false;
      return failure;
    },
    finish: () => ({ problem: failure ?? (tally && !end ? refuse('invalid', CUT) : undefined), end }),
    get isBare() {
      return isBare;
    },
  };
}

const CUT = 'The export has no last line: it was cut off. Take the whole file.';

function sum(records: unknown): number {
  return Object.values(isObject(records as Json) ? (records as object) : {}).reduce(
    (all: number, count) => all + Number(count),
    0,
  );
}
