// `twinline inspect`: the inspector of a running server, at an address of this machine that only its caller knows.

import { parseArgs } from 'node:util';
import { codeOf, failure } from '../remote.ts';
import { Usage, type Verb } from '../verb.ts';

const OPTIONS = {
  url: { type: 'string' },
  session: { type: 'string' },
  port: { type: 'string', default: '0' },
  stately: { type: 'boolean', default: false },
} as const;

export const inspectVerb: Verb = {
  summary: 'Watch the sessions of a running server: states as they light up, events, time travel',
  usage: '[options]',
  options: {
    '--url <address>': 'the server, default http://127.0.0.1:<PORT, or 3000>',
    '--session <id>': 'the session to follow',
    '--port <number>': 'of this machine, where the page is, default any that is free',
    '--stately': 'where Stately’s tools can listen, and the way to its page on the internet',
    '(token)': 'OPERATOR_TOKEN, where the server has one; it stays in this process',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const server = serverOf(values.url ?? `http://127.0.0.1:${env.PORT?.trim() || '3000'}`);
    const port = portOf(values.port);
    const token = env.OPERATOR_TOKEN?.trim() || undefined;
    await reach(server, token);
    const { inspectDoor } = await import('../inspect-door.ts');
    const door = await inspectDoor({ server, token, port }).catch((error: unknown) => {
      throw failure(`Cannot listen on 127.0.0.1:${port} (${codeOf(error)}). Give another --port.`, false);
    });
    for (const line of lines(door.url, values)) console.log(line);
    const stop = () => void door.close();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    return undefined;
  },
};

function lines(url: string, { session, stately }: { session?: string | undefined; stately: boolean }): string[] {
  const page = session === undefined ? url : `${url}#session=${encodeURIComponent(session)}`;
  const socket = url.replace(/^http/, 'ws').replace('/inspector?', '/inspector/stately?');
  return [
    `Inspector: ${page}`,
    ...(stately
      ? [
          `Stately’s tools listen at: ${socket}`,
          `Or in a browser: ${url.replace('/inspector?', '/inspector/stately?')}`,
          'That page hands what it shows to a page of stately.ai, once its button is pressed.',
        ]
      : []),
    'The address holds the token of this run: whoever has it looks on. Ctrl+C ends it.',
  ];
}

function serverOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Usage(`"${url}" is no address such as http://127.0.0.1:3000.`);
  return url.replace(/\/+$/, '');
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Usage(`"${text}" is no port: give a number up to 65535.`);
  return port;
}

const WHY: { readonly [status: number]: string } = {
  401: 'it has an OPERATOR_TOKEN: set the same one here',
  404: 'it has no inspector for you. In production it needs an OPERATOR_TOKEN; in development only its own machine may look',
};

async function reach(server: string, token: string | undefined): Promise<void> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server}/inspector/machines`, { headers, redirect: 'error' }).catch((error: unknown) => {
    throw failure(`Cannot reach ${server} (${codeOf(error)}). Is the server running?`, true);
  });
  await answer.body?.cancel();
  if (!answer.ok) throw failure(`${server} refuses: ${WHY[answer.status] ?? `it answered ${answer.status}`}.`, false);
}
