// The command line in this process, for tests: what it printed and its exit code.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { twinline } from '../../../server/cli/main.ts';
import { withFolder } from '../../support/process.ts';

export interface Ran {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** Runs the command; colours are taken off. */
export async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { log, error } = console;
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  console.log = (text) => lines.out.push(String(text));
  console.error = (text) => lines.err.push(String(text));
  try {
    const code = await twinline(args, env);
    const plain = (texts: string[]) => stripVTControlCharacters(texts.join('\n'));
    return { code, out: plain(lines.out), err: plain(lines.err) };
  } finally {
    console.log = log;
    console.error = error;
  }
}

/** A folder with these files, objects as JSON; removed afterwards. */
export function withFiles(
  files: Readonly<Record<string, unknown>>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    await work(folder);
  });
}
