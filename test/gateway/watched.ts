// A built server with a query gateway, in a process of its own that is watched: how long its event loop stands still.

import { get, type IncomingMessage } from 'node:http';
import { type Settings, withFile } from '../server/gateway/place.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

/** How long the main thread may work without a pause, in CPU time, beside a fixed piece of work that is measured in the same process. */
export const TURNS = 2;

export interface Watched {
  readonly url: string;
  /** The whole answer; of its text the beginning only. */
  ask(path: string): Promise<Answered>;
  /** An answer of which nothing is read yet. */
  open(path: string): Promise<IncomingMessage>;
  /** The longest turn of the event loop since the last look, in units of TURNS, and the most memory. */
  look(): Promise<Look>;
}

export interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

export interface Look {
  readonly turns: number;
  readonly rssMb: number;
}

const SHOWN_CHARS = 300;

/** Starts it with this GATEWAY_FILE for one piece of work. */
export function withWatched(
  settings: Settings,
  set: Uint8Array,
  work: (server: Watched) => Promise<void>,
): Promise<void> {
  return withFile(
    settings,
    async (env) => {
      const given = { DATA_DIR: ':memory:', LOG_LEVEL: 'fatal', ...(env as Record<string, string>) };
      const server = await startProcess(given, ['test/gateway/watched-child.ts']);
      const { url, pid, printed } = server;
      const look = async (): Promise<Look> => {
        const from = printed().length;
        process.kill(pid, 'SIGUSR2');
        const [, told] = await until('the server tells of itself', () =>
          /^watched (.*)\n/m.exec(printed().slice(from)),
        );
        return JSON.parse(told!) as Look;
      };
      try {
        await work({ url, look, ask: (path) => ask(url + path), open: (path) => open(url + path) });
      } finally {
        await server.kill();
      }
    },
    set,
  );
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject));
}

async function ask(url: string): Promise<Answered> {
  const answer = await open(url);
  let bytes = 0;
  let text = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (text.length < SHOWN_CHARS) text += chunk.toString('latin1', 0, SHOWN_CHARS);
  }
  return { status: answer.statusCode!, bytes, text };
}
