// `twinline import`: sends lines of JSON to a running server in chunks, and can resume. Chunk boundaries are deterministic, so that a
// repeated chunk is identical. The client verifies that an export is complete: a file before anything is sent, standard input while
// sending.

import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type ExportCheck, exportCheck, NO_MANIFEST } from '../../../lib/domain/bulk/manifest.ts';
import { readLines } from '../../../lib/domain/bulk/ndjson.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { retryDelay } from '../../../lib/retry.ts';
import { REMOTE_FLAGS, type Remote, readErrorCode, remote, serviceError } from '../remote.ts';
import { type ProgressBar, showProgress } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  'dry-run': { type: 'boolean' },
  part: { type: 'boolean' },
  from: { type: 'string' },
  unchanged: { type: 'boolean' },
} as const;

const PATH = '/v1/bulk?part=true';
const LINES = { 'content-type': 'application/x-ndjson' };
const TRIES = 8;
const BACKOFF = { firstMs: 500, maxMs: 15_000 };

interface ImportResult {
  readonly line: number;
  readonly status: number;
  readonly did?: string;
  readonly differs?: readonly string[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly field: string; readonly error: string }[];
  };
}

export const importVerb: Verb = {
  usage: '<file|-> [options]',
  options: {
    ...REMOTE_FLAGS,
    '--dry-run': 'check every line and write nothing',
    '--part': 'take what there is of an export that was cut or put together from others',
    '--from <line>': 'leave out what comes before; without it, lines that were taken change nothing',
    '--unchanged': 'tell of each line that was there already, and of its fields that say something else there',
    '(a terminal)': 'shows progress and failures; anything else gets them as lines of JSON, the sum last',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length) throw new UsageError('Give one file, or - for standard input.');
    const server = remote({ url: values.url, key: values.key }, env);
    const from = readFrom(values.from);
    const { total, read, isStream } = open(file);
    const check = values.part ? undefined : exportCheck();
    if (check && !isStream) for await (const line of readLines(read())) requireWhole(check.take(line));
    if (check && !isStream) requireWhole(check.finish().problem);
    const input = check && isStream ? checkedChunks(readChunks(read()), check) : readChunks(read());
    const progress = await showProgress({ total, stream: process.stderr });
    const report = importReport(progress, values.unchanged === true);
    try {
      if (values['dry-run']) await dryRun(server, input, report);
      else
        for await (const chunk of input) {
          if (chunk.first + chunk.lines > from) await sendChunk(server, chunk, report);
          report.chunk(chunk);
        }
      requireWhole(check?.finish().problem);
    } catch (error) {
      progress.stop();
      if (!(error instanceof TwinlineError)) throw error;
      const go = `Run the same command again, or with --from ${report.next()}, to go on.`;
      const words = `${error.message}\nThe lines before ${report.next()} are done. ${go}`;
      throw new TwinlineError(error.code, words, { cause: error });
    }
    if (check?.isBare) console.error(NO_MANIFEST);
    return report.end();
  },
};

function requireWhole(problem: TwinlineError | undefined): void {
  if (problem) throw new TwinlineError('ERR_INPUT', `${problem.message} ${AS_IT_IS}`);
}

const AS_IT_IS = 'With --part it is taken as it is.';

/** Stops before an invalid chunk; `check` reports the problem. */
async function* checkedChunks(chunks: AsyncIterable<Chunk>, check: ExportCheck): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    for await (const line of readLines(Readable.from([chunk.bytes]))) if (check.take(line)) return;
    yield chunk;
  }
}

function readFrom(text: string | undefined): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UsageError(`--from ${text} is no number of a line.`);
}

interface Opened {
  /** Of standard input, once. */
  readonly read: () => AsyncIterable<Buffer>;
  readonly isStream: boolean;
  readonly total: number | undefined;
}

function open(file: string): Opened {
  if (file === '-') return { read: () => process.stdin, isStream: true, total: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new UsageError(`There is no file ${file}.`);
  return { read: () => createReadStream(file), isStream: false, total: stats.size };
}

// A chunk that was interrupted is sent again completely: its idempotency key makes the part already applied a no-op.
async function sendChunk(server: Remote, { first, bytes }: Chunk, report: ImportReport): Promise<void> {
  const key = createHash('sha256').update(`${first}\n`).update(bytes).digest('base64url');
  const headers = { ...LINES, 'idempotency-key': `import-${key}` };
  for (let tries = 1; ; tries++) {
    const rows: ImportResult[] = [];
    const onRow = (row: ImportResult) => report.underWay(rows.push({ ...row, line: first + row.line - 1 }));
    const problem = await server
      .send(PATH, { method: 'POST', headers, body: bytes })
      .then((answer) => readRows(answer, onRow))
      .then(
        () => rows.find(({ status }) => status >= 500 && tries < TRIES) && serviceError('the server had trouble', true),
        (error: TwinlineError) => error,
      );
    if (!problem) return report.rows(rows);
    if (!problem.retry || tries >= TRIES) throw problem;
    await pause(retryDelay(tries, BACKOFF));
  }
}

// A single request: a dry run writes nothing, so a second request would not see the lines of the first.
async function dryRun(server: Remote, input: AsyncIterable<Chunk>, report: ImportReport): Promise<void> {
  const body = async function* () {
    for await (const chunk of input) {
      yield chunk.bytes;
      report.chunk(chunk);
    }
  };
  const answer = await server.send(`${PATH}&dryRun=true`, { method: 'POST', headers: LINES, body: body() });
  await readRows(answer, (row) => report.rows([row]));
}

async function readRows(answer: IncomingMessage, onRow: (row: ImportResult) => void): Promise<void> {
  let text = '';
  try {
    for await (const part of answer.setEncoding('utf8')) {
      const lines = (text + part).split('\n');
      text = lines.pop()!;
      for (const line of lines) onRow(JSON.parse(line) as ImportResult);
    }
  } catch (error) {
    throw serviceError(`The answer broke off (${readErrorCode(error)}).`, true);
  }
}

/** Counts and prints the results of lines. */
type ImportReport = ReturnType<typeof importReport>;

function importReport(progress: ProgressBar, tellsUnchanged: boolean) {
  const begun = performance.now();
  // Unchanged lines whose stored record differs.
  const counts = { created: 0, unchanged: 0, differing: 0, failed: 0 };
  const lines = () => counts.created + counts.unchanged + counts.failed;
  let done = 0;
  let next = 1;
  return {
    /** The first line without a known result. */
    next: () => next,
    underWay: (rows: number) => progress.update(done, { lines: lines() + rows, failed: counts.failed }),
    rows(rows: readonly ImportResult[]): void {
      for (const row of rows) {
        // The first and last line of an export are not records.
        if (row.did === undefined && !row.error) continue;
        counts[row.status === 201 ? 'created' : row.status === 200 ? 'unchanged' : 'failed']++;
        if (row.differs) counts.differing++;
        if (row.error || (tellsUnchanged && row.status === 200)) print(row, formatRow);
      }
    },
    chunk(chunk: Chunk): void {
      next = chunk.first + chunk.lines;
      done = chunk.end;
      progress.update(done, { lines: lines(), failed: counts.failed });
    },
    end(): number {
      progress.stop();
      const seconds = Math.round((performance.now() - begun) / 100) / 10;
      print({ lines: lines(), ...counts, seconds }, ({ created, unchanged, differing, failed }) => {
        const others = differing ? ` (${differing} with other content: see them with --unchanged)` : '';
        return `${created} created, ${unchanged} there already${others}, ${failed} failed, in ${seconds} s`;
      });
      return counts.failed ? 1 : 0;
    },
  };
}

function print<T>(what: T, inWords: (what: T) => string): void {
  console.log(process.stdout.isTTY ? inWords(what) : JSON.stringify(what));
}

function formatRow({ line, status, did, differs = [], error }: ImportResult): string {
  if (!error)
    return `line ${line}: ${did} is there already${differs.length ? `, with another ${differs.join(' ')}` : ''}`;
  const details = error.details.map((detail) => `\n  ${detail.field} ${detail.error}`).join('');
  return pc.red(`line ${line}: ${error.message} (${status})${details}`);
}

export interface Chunk {
  /** 1-based number of its first line in the file. */
  readonly first: number;
  readonly lines: number;
  readonly bytes: Buffer;
  /** Byte offset of its end in the file. */
  readonly end: number;
}

const CHUNK_LINES = 1_000;
const CHUNK_BYTES = 8_388_608;
const NEWLINE = 10;

/** Ends a chunk after 1,000 lines, or at the first line end after 8 MiB. Rejects with ERR_INPUT for a longer line. */
export async function* readChunks(input: AsyncIterable<Buffer | string>): AsyncGenerator<Chunk> {
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
      if (lines < CHUNK_LINES && size + at + 1 - from < CHUNK_BYTES) continue;
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
    if (size > 2 * CHUNK_BYTES)
      throw new TwinlineError('ERR_INPUT', `Line ${first + lines} is longer than ${CHUNK_BYTES} bytes.`);
  }
  if (size > 0) {
    if (parts.at(-1)!.at(-1) !== NEWLINE) lines++;
    yield cut();
  }
}
