// Runs test/run.ts on a folder of test/fixtures/runner, as a process of its own.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly text: string;
  readonly lastLine: string;
}

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** What `npm test` says about the fixture folder; `words` are further arguments, `jobs` processes take the files, `env` overrides the environment. */
export function runFixture(
  name: string,
  { words = [] as string[], env = {} as NodeJS.ProcessEnv, jobs = 1 } = {},
): Promise<Outcome> {
  const where = ['--root', `test/fixtures/runner/${name}`, '--jobs', String(jobs)];
  const args = ['--import', 'tsx', 'test/run.ts', ...where, ...words];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: REPOSITORY,
      env: { ...process.env, CI: '', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    const take = (chunk: string): void => {
      text += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const plain = stripVTControlCharacters(text);
      resolve({ code, signal, text: plain, lastLine: plain.trimEnd().split('\n').at(-1) ?? '' });
    });
  });
}
