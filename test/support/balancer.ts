// A small load balancer on loopback, as real ones are: in turn to whoever is ready, and to the next one only when a
// connection was refused, before anything was sent. When nobody is ready it goes to all.

import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listenLow } from './ports.ts';

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

const LOOK_MS = 100;
const ANSWER_MS = 300;
/** Times in a row that a server must say no. */
const FALL = 3;

/**
 * Balances between the servers that `urls` names at any moment. Asks each for `/readyz` ten times a second; one that is
 * new must say yes once, and one that was ready no three times.
 */
export async function startBalancer(urls: () => readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  let ready: readonly string[] = [];
  let refusals = new Map<string, number>();
  let next = 0;
  const look = async () => {
    const asked = urls();
    const answers = await Promise.all(asked.map((url) => isReady(url)));
    refusals = new Map(asked.map((url, at) => [url, answers[at] ? 0 : (refusals.get(url) ?? FALL) + 1]));
    const found = asked.filter((url) => refusals.get(url)! < FALL);
    ready = found.length ? found : asked;
  };

  const pass = async (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const from = next++;
    for (let tries = 0; tries < ready.length; tries++) {
      const url = ready[(from + tries) % ready.length]!;
      if (await forward(req, res, { url, agent, body })) return;
    }
    res.writeHead(503).end();
  };

  await look();
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, LOOK_MS);
  const server = createServer((req, res) => {
    pass(req, res).catch(() => res.destroy());
  });
  const port = await listenLow(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      clearInterval(timer);
      await looking;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

/** Whether the server says that it is ready, within a moment. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const no = () => resolve(false);
    const sent = request(`${url}/readyz`, { agent: false, timeout: ANSWER_MS }, (answer) => {
      answer.resume();
      answer.on('close', () => resolve(answer.statusCode === 200));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', no);
    sent.end();
  });
}

interface Target {
  readonly url: string;
  readonly agent: Agent;
  readonly body: Buffer;
}

/** False when nobody listens there. Whatever else goes wrong cuts the client off: the request may have been done. */
function forward(req: IncomingMessage, res: ServerResponse, { url, agent, body }: Target): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const sent = request(url + req.url, { method: req.method, headers: req.headers, agent }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.on('error', reject);
      answer.pipe(res).on('finish', () => resolve(true));
    });
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? resolve(false) : reject(error),
    );
    sent.end(body);
  });
}
