// `twinline import`: lines of JSON into a running server, chunk by chunk; what is interrupted goes on where it was.

import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { TwinlineError } from '../../../lib/errors.ts';
import { retryDelay } from '../../../lib/retry.ts';
import { type Chunk, chunksOf } from '../chunks.ts';
import type { Progress } from '../output/progress.ts';
import { codeOf, failure, REMOTE_FLAGS, type Remote, remote } from '../remote.ts';
import { Usage, type Verb } from '../verb.ts';

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  'dry-run': { type: 'boolean' },
  from: { type: 'string' },
  unchanged: { type: 'boolean' },
} as const;

const PATH = '/v1/bulk';
const LINES = { 'content-type': 'application/x-ndjson' };
const TRIES = 8;
const BACKOFF = { firstMs: 500, maxMs: 15_000 };

interface Row {
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
  summary: 'Bring domains, entities and protocols into a running server: 0 when every line was taken, 1 otherwise',
  usage: '<file|-> [options]',
  options: {
    ...REMOTE_FLAGS,
    '--dry-run': 'check every line and write nothing',
    '--from <line>': 'leave out what comes before; without it, lines that were taken change nothing',
    '--unchanged': 'tell of each line that was there already, and of its fields that say something else there',
    '(a terminal)': 'shows progress and failures; anything else gets them as lines of JSON, the sum last',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length) throw new Usage('Give one file, or - for standard input.');
    const server = remote({ url: values.url, key: values.key }, env);
    const from = readFrom(values.from);
    const { input, total } = open(file);
    const { progress } = await import('../output/progress.ts');
    const shown = progress({ total, stream: process.stderr });
    const sum = sumOf(shown, values.unchanged === true);
    try {
      if (values['dry-run']) await tryAll(server, input, sum);
      else
        for await (const chunk of chunksOf(input)) {
          if (chunk.first + chunk.lines > from) await take(server, chunk, sum);
          sum.chunk(chunk);
        }
    } catch (error) {
      shown.stop();
      if (!(error instanceof TwinlineError)) throw error;
      const go = `Run the same command again, or with --from ${sum.next()}, to go on.`;
      throw new TwinlineError(error.code, `${error.message}\nThe lines before ${sum.next()} are done. ${go}`);
    }
    return sum.end();
  },
};

function readFrom(text: string | undefined): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Usage(`--from ${text} is no number of a line.`);
}

function open(file: string): { input: AsyncIterable<Buffer>; total: number | undefined } {
  if (file === '-') return { input: process.stdin, total: undefined };
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new Usage(`There is no file ${file}.`);
  return { input: createReadStream(file), total: stats.size };
}

// A chunk that was cut off in the middle is sent whole: by its key, what was taken of it changes nothing.
async function take(server: Remote, { first, bytes }: Chunk, sum: Sum): Promise<void> {
  const key = createHash('sha256').update(`${first}\n`).update(bytes).digest('base64url');
  const headers = { ...LINES, 'idempotency-key': `import-${key}` };
  for (let tries = 1; ; tries++) {
    const rows: Row[] = [];
    const onRow = (row: Row) => sum.underWay(rows.push({ ...row, line: first + row.line - 1 }));
    const trouble = await server
      .send(PATH, { method: 'POST', headers, body: bytes })
      .then((answer) => readRows(answer, onRow))
      .then(
        () => rows.find(({ status }) => status >= 500 && tries < TRIES) && failure('the server had trouble', true),
        (error: TwinlineError) => error,
      );
    if (!trouble) return sum.rows(rows);
    if (!trouble.retry || tries >= TRIES) throw trouble;
    await pause(retryDelay(tries, BACKOFF));
  }
}

// In one piece, for nothing of one piece would be there when the next is tried.
async function tryAll(server: Remote, input: AsyncIterable<Buffer>, sum: Sum): Promise<void> {
  const body = async function* () {
    for await (const chunk of chunksOf(input)) {
      yield chunk.bytes;
      sum.chunk(chunk);
    }
  };
  const answer = await server.send(`${PATH}?dryRun=true`, { method: 'POST', headers: LINES, body: body() });
  await readRows(answer, (row) => sum.rows([row]));
}

async function readRows(answer: IncomingMessage, onRow: (row: Row) => void): Promise<void> {
  let text = '';
  try {
    for await (const part of answer.setEncoding('utf8')) {
      const lines = (text + part).split('\n');
      text = lines.pop()!;
      for (const line of lines) onRow(JSON.parse(line) as Row);
    }
  } catch (error) {
    throw failure(`The answer broke off (${codeOf(error)}).`, true);
  }
}

/** What has become of the lines so far, and tells it. */
type Sum = ReturnType<typeof sumOf>;

function sumOf(shown: Progress, tellsUnchanged: boolean) {
  const begun = performance.now();
  // Of the unchanged, those of which something else is here.
  const counts = { created: 0, unchanged: 0, differing: 0, failed: 0 };
  const lines = () => counts.created + counts.unchanged + counts.failed;
  let done = 0;
  let next = 1;
  return {
    /** The first line that is not known to be done. */
    next: () => next,
    underWay: (rows: number) => shown.update(done, { lines: lines() + rows, failed: counts.failed }),
    rows(rows: readonly Row[]): void {
      for (const row of rows) {
        counts[row.status === 201 ? 'created' : row.status === 200 ? 'unchanged' : 'failed']++;
        if (row.differs) counts.differing++;
        if (row.error || (tellsUnchanged && row.status === 200)) say(row, drawn);
      }
    },
    chunk(chunk: Chunk): void {
      next = chunk.first + chunk.lines;
      done = chunk.end;
      shown.update(done, { lines: lines(), failed: counts.failed });
    },
    end(): number {
      shown.stop();
      const seconds = Math.round((performance.now() - begun) / 100) / 10;
      say({ lines: lines(), ...counts, seconds }, ({ created, unchanged, differing, failed }) => {
        const others = differing ? ` (${differing} with other content: see them with --unchanged)` : '';
        return `${created} created, ${unchanged} there already${others}, ${failed} failed, in ${seconds} s`;
      });
      return counts.failed ? 1 : 0;
    },
  };
}

function say<T>(what: T, inWords: (what: T) => string): void {
  console.log(process.stdout.isTTY ? inWords(what) : JSON.stringify(what));
}

function drawn({ line, status, did, differs = [], error }: Row): string {
  if (!error)
    return `line ${line}: ${did} is there already${differs.length ? `, with another ${differs.join(' ')}` : ''}`;
  const details = error.details.map((detail) => `\n  ${detail.field} ${detail.error}`).join('');
  return pc.red(`line ${line}: ${error.message} (${status})${details}`);
}
