// `twinline export`: everything that a tenant has, out of a running server into a file or a pipe.

import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { TwinlineError } from '../../../lib/errors.ts';
import { REMOTE_FLAGS, readErrorCode, remote, serviceError } from '../remote.ts';
import { showProgress } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const NEWLINE = 10;

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
    // Standard output has the lines.
    console.error(process.stderr.isTTY ? `${counts.lines} lines, ${counts.bytes} bytes` : JSON.stringify(counts));
    return 0;
  },
};

interface ExportCounts {
  readonly lines: number;
  readonly bytes: number;
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
  let lines = 0;
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
      if (closes) shown.update(0, { lines });
      done(null, chunk);
    },
  });
  try {
    await pipeline(answer, count, to, { end: closes });
    return { lines, bytes };
  } catch (error) {
    throw serviceError(`The export broke off (${readErrorCode(error)}). Nothing is kept of it; run it again.`, true);
  } finally {
    shown.stop();
  }
}
