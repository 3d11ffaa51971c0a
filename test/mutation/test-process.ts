// A process that runs tests for the runner, and its end when it takes too long.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Job } from './process.ts';

/** What a job came to; `broken` when the process ended before it had answered. */
export type Ended = Answer | { readonly timeout: true } | { readonly broken: string };

export class TestProcess {
  /** Jobs that it was given. */
  jobs = 0;
  readonly #child: ChildProcess;
  #said = '';

  constructor(program: string) {
    // What the tests of a killed process leave is removed with the copy of the project.
    const temporary = join(process.cwd(), 'tmp');
    mkdirSync(temporary, { recursive: true });
    this.#child = fork(program, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
      env: { ...process.env, TMPDIR: temporary },
    });
    this.#child.stderr!.on('data', (bytes) => {
      this.#said = `${this.#said}${bytes}`.slice(-4_000);
    });
  }

  /** Never rejects. After anything but an answer the process is gone. */
  run(job: Job, timeoutMs: number): Promise<Ended> {
    this.jobs++;
    return new Promise((resolve) => {
      const settle = (ended: Ended) => {
        clearTimeout(timer);
        this.#child.removeAllListeners();
        resolve(ended);
      };
      const timer = setTimeout(() => {
        this.end();
        settle({ timeout: true });
      }, timeoutMs);
      this.#child.once('message', (answer) => settle(answer as Answer));
      this.#child.once('close', (code, signal) =>
        settle({ broken: `The tests ended with ${signal ?? code} before their end. ${this.#said}` }),
      );
      this.#child.send(job);
    });
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}
