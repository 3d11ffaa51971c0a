// `twinline export`: writes all data of a tenant from a running server to a file or pipe.

import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type ExportEnd, exportCheck } from '../../../lib/domain/bulk/manifest.ts';
import { lineCutter, type NumberedLine } from '../../../lib/domain/bulk/ndjson.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { REMOTE_FLAGS, readErrorCode, remote, serviceError } from '../remote.ts';
import { showProgress } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

export const exportVerb: Verb = {
  usage: '[file] [options]',
  options: {
    ...REMOTE_FLAGS,
    '(no file, or -)': 'standard output; a file is only replaced by a whole export',
  },
  run: async (args, env) => {
    const options = { url: { type: 'string' }, key: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [file = '-', ...more] = positionals;
    if (more.length) throw new UsageError('Give one file, or none for standard output.');
    const answer = await remote({ url: values.url, key: values.key }, env).send('/v1/export');
    const counts = await (file === '-' ? copy(answer, process.stdout, false) : replace(file, answer));
    // Standard output carries the data.
    console.error(process.stderr.isTTY ? describe(counts) : JSON.stringify(counts));
    return 0;
  },
};

interface ExportCounts extends Pick<ExportEnd, 'records' | 'leftOut'> {
  readonly lines: number;
  readonly bytes: number;
}

function describe({ lines, bytes, records, leftOut }: ExportCounts): string {
  const kinds = Object.entries(records).map(([kind, count]) => `${count} ${kind}`);
  return `${lines} lines (${kinds.join(', ') || 'no records'}), ${bytes} bytes. Not in an export: ${leftOut.join(', ')}.`;
}

async function replace(file: string, answer: IncomingMessage): Promise<ExportCounts> {
  const part = `${file}.part`;
  const handle = await open(part, 'w', 0o600).catch((cause: unknown) => {
    answer.destroy();
    const words = `Cannot write ${part} (${readErrorCode(cause)}). Give another file.`;
    throw new TwinlineError('ERR_INPUT', words, { cause });
  });
  try {
    const counts = await copy(answer, handle.createWriteStream(), true);
    renameSync(part, file);
    return counts;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

async function copy(answer: IncomingMessage, to: Writable, closes: boolean): Promise<ExportCounts> {
  const shown = await showProgress({ total: undefined, stream: process.stderr });
  const [cutter, check] = [lineCutter(), exportCheck()];
  let lines = 0;
  let bytes = 0;
  const watch = (read: readonly NumberedLine[]) => {
    for (const line of read) check.take(line);
    lines += read.length;
  };
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      watch(cutter.push(chunk));
      if (closes) shown.update(0, { lines });
      done(null, chunk);
    },
  });
  try {
    await pipeline(answer, count, to, { end: closes });
  } catch (error) {
    throw serviceError(`The export broke off (${readErrorCode(error)}). Nothing is kept of it; run it again.`, true);
  } finally {
    shown.stop();
  }
  watch(cutter.end());
  const { end, problem } = check.finish();
  if (end && !problem) return { lines, bytes, records: end.records, leftOut: end.leftOut };
  throw serviceError(`${problem?.message ?? 'What came is no export.'} Nothing is kept of it; run it again.`, true);
}
