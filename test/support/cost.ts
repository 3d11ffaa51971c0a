// What a request costs a server: the processor time of its process until the answer is there, against a fair bound.

import { type ChildProcess, fork } from 'node:child_process';
import { type Answer, type AskOptions, ask } from '../server/support/serve.ts';
import { builtFile } from './build.ts';
import { killed } from './process.ts';

export interface CostServer {
  readonly url: string;
  /** `POST /v1/domains`, … */
  readonly routes: readonly string[];
  /** Sends a request and judges its cost, its answer and the process; adds to `faults` what breaks a promise. */
  judge(name: string, path: string, options?: JudgeOptions): Promise<Answer>;
  readonly faults: string[];
  close(): Promise<void>;
}

export interface JudgeOptions extends AskOptions {
  /** Bytes that an answer may have which tells what was stored; a refusal has 65,536. @default 65,536 */
  readonly answerBytes?: number;
  /** Stored records that are read for the answer. @default 1 */
  readonly records?: number;
  /** An answer that is no problem document, such as that of another door. */
  readonly otherErrors?: boolean;
  /** The node behind the query gateway is away: 502 to 504 are no faults of ours. */
  readonly gatewayTimeouts?: boolean;
}

const CPU_MS = 100;
const ANSWER_BYTES = 65_536;
/** Times that reading and writing the JSON of the body or of the answer takes. */
const TIMES_THE_FLOOR = 12;
const TRIES = 4;
/** Its floor, times twelve, is a little more than `CPU_MS` on a quiet machine, and grows on a busy one as everything else does. */
const REFERENCE = JSON.stringify(Array.from({ length: 14_000 }, (_, n) => ({ n, text: 'aaaaaaaaaa' })));

/** Starts a server in a process of its own. */
export async function startCostServer(env: NodeJS.ProcessEnv): Promise<CostServer> {
  const child = fork(await builtFile('test/support/cost-child.ts'), {
    execArgv: [],
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: ':memory:', RATE_LIMIT_MAX: '10000000', ...env },
  });
  const { url, routes } = (await heardFrom(child)) as { url: string; routes: string[] };
  const tell = async <T>(what: 'cpu' | 'floor' | 'faults', text?: string) => {
    child.send({ what, text });
    return ((await heardFrom(child)) as { [name: string]: T })[what]!;
  };
  const faults: string[] = [];

  async function once(path: string, options: AskOptions) {
    const before = await tell<number>('cpu');
    const answer = await ask(url + path, options);
    return { answer, ms: (await tell<number>('cpu')) - before };
  }

  return {
    url,
    routes,
    faults,
    async judge(
      name,
      path,
      { answerBytes = ANSWER_BYTES, otherErrors = false, gatewayTimeouts = false, records = 1, ...options } = {},
    ) {
      let { answer, ms } = await once(path, options);
      let limit = CPU_MS * records;
      const { status } = answer;
      // A machine that is slower, or busier, takes longer for everything: what counts is how much longer than needed.
      for (let tries = 1; ms > limit && tries < TRIES; tries++) {
        const body = String(options.body ?? '');
        const text = body.length > answer.text.length ? body : answer.text;
        const floors = [await tell<number>('floor', text), await tell<number>('floor', REFERENCE)];
        limit = Math.max(limit, TIMES_THE_FLOOR * records * Math.max(...floors));
        if (ms > limit) ms = Math.min(ms, (await once(path, options)).ms);
      }
      if (ms > limit) faults.push(`${name}: ${Math.round(ms)} ms of processor time; ${Math.round(limit)} are allowed`);
      const bytes = Buffer.byteLength(answer.text);
      const allowed = status < 400 ? answerBytes : ANSWER_BYTES;
      if (bytes > allowed) faults.push(`${name}: an answer of ${bytes} bytes (${status})`);
      const isOurs = status >= 500 && !(gatewayTimeouts && status > 501);
      if (isOurs) faults.push(`${name}: ${status} ${answer.text.slice(0, 200)}`);
      const ours = await tell<string[]>('faults');
      if (ours.length) faults.push(`${name}: logged as a fault of ours: ${ours[0]}`);
      const isProblem = answer.headers['content-type']?.startsWith('application/problem+json');
      if (status >= 400 && status < 500 && !otherErrors && !isProblem)
        faults.push(`${name}: ${status} without a problem document: ${answer.text.slice(0, 200)}`);
      return answer;
    },
    close: () => killed(child),
  };
}

function heardFrom(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (code: number | null, signal: string | null) =>
      reject(new Error(`the server ended with ${code ?? signal}`));
    child.once('exit', end);
    child.once('message', (message) => {
      child.off('exit', end);
      resolve(message);
    });
  });
}
