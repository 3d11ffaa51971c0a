// A server with all four doors, a node and a model behind it, and something of each kind in its stores, for random requests.

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../server/openapi/document.ts';
import { modelServer, says } from '../agent/model-server.ts';
import { asker, COOKING, files, keyOf, PROTOCOL, path, type View, YES } from '../server/domain/place.ts';
import { withGateway } from '../server/gateway/place.ts';
import { newUser, ORACLE_KEY } from '../server/plugins/users.ts';
import type { Answer, Served } from '../server/support/serve.ts';
import { type FuzzRequest, NAMES } from './requests.ts';

export interface FuzzedServer {
  readonly server: Served;
  readonly document: OpenApiDocument;
  /** What must not be in any answer or line of the log: name → text. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Sends a request; of a stream, only the head is read. */
  send(asked: FuzzRequest): Promise<Answer>;
}

const OPERATOR_TOKEN = 'operator-token-0123456789abcdefghij';
const MODEL_API_KEY = 'model-key-0123456789abcdefghij';
const PIN_KEY = Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7 + 3)).toString('hex');
const PIN = '80593746';
/** After so long a request has no answer, however slow the machine is. */
const ANSWER_TIMEOUT_MS = 120_000;

// Webhooks are kept, and nobody is called.
const nowhere = { lookup: (_host: string, _options: unknown, done: (error: Error) => void) => done(new Error('away')) };

/** Starts everything; stops it when `work` is done. */
export async function withFuzzedServer<T>(work: (place: FuzzedServer) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-fuzz-'));
  const model = await modelServer(says('fine'));
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const env = {
    ...files(folder),
    ...{ OPERATOR_TOKEN, MODEL_API_KEY, ORACLE_KEY, PIN_ENCRYPTION_KEY: PIN_KEY },
    ...{ MODEL_BASE_URL: model.url, MODEL_NAME: 'small', RATE_LIMIT_EXEMPT: '127.0.0.0/8' },
  };
  try {
    return await withGateway(
      {},
      async ({ server, node }) => {
        node.script = () => ({ reply: { text: 'fine' }, replies: [{ text: 'fine' }] });
        const { headers } = await newUser();
        const ucan = headers.authorization!.slice('Bearer '.length);
        const names = new Map([...(await fill(server, headers)), ['ucan', ucan]]);
        const document = (await server.ask('/openapi.json')).json() as OpenApiDocument;
        const secrets = new Map(SECRET_NAMES.map((name) => [name, SECRETS.get(name)!]));
        return await work({ server, document, secrets, send: (asked) => send(server.url, asked, { names, agent }) });
      },
      { env, webhookSender: nowhere as never },
    );
  } finally {
    agent.destroy();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const SECRETS: ReadonlyMap<string, string> = new Map([
  ['pin', PIN],
  ['operator token', OPERATOR_TOKEN],
  ['model key', MODEL_API_KEY],
  ['oracle key', ORACLE_KEY],
  ['PIN key', PIN_KEY],
  ...NAMES.keys.map((name) => [`key ${name}`, keyOf(name)] as const),
]);
const SECRET_NAMES = [...SECRETS.keys()];

/** Makes something of each kind; name → what stands for it in paths and bodies. */
async function fill(server: Served, user: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const ask = asker(() => server.ask);
  const made = async (who: Parameters<typeof ask>[0], line: string, body?: object) => {
    const answer = await ask(who, line, body);
    if (answer.status !== 201) throw new Error(`${line}: ${answer.status} ${answer.text}`);
    return answer.json() as View;
  };
  await made('owner', 'POST /v1/protocols', PROTOCOL);
  const domain = () => made('owner', 'POST /v1/domains', { type: 'Project', class: COOKING });
  const [one, verified] = [await domain(), await domain()];
  const decided = await made('rep', `POST ${path(verified.did)}/proposals`, { kind: 'verify' });
  for (const who of ['ann', 'bob'] as const) await made(who, `POST /v1/proposals/${decided.id}/votes`, YES);
  const open = await made('rep', `POST ${path(one.did)}/proposals`, { kind: 'verify' });
  const session = await server.ask('/sessions', { method: 'POST', headers: user });
  return new Map([
    ...SECRETS,
    ['did', one.did],
    ['verified', verified.did],
    ['protocol', COOKING],
    ['proposal', open.id],
    ['session', (session.json() as { sessionId: string }).sessionId],
    ['run', '00000000-0000-4000-8000-000000000000'],
    ['list', '1'],
  ]);
}

interface Sending {
  readonly names: ReadonlyMap<string, string>;
  readonly agent: Agent;
}

function send(url: string, { method, path: target, headers, body }: FuzzRequest, { names, agent }: Sending) {
  const named = (text: string, write = (value: string) => value) =>
    text.replaceAll(/<<([\w ]+)>>/g, (all, name: string) => write(names.get(name) ?? all));
  const bytes = body === undefined ? undefined : Buffer.from(named(body), 'latin1');
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, named(value)]));
  return new Promise<Answer>((resolve, reject) => {
    const asking = request(
      url,
      {
        method,
        path: named(target, encodeURIComponent).replaceAll(/[<>]/g, encodeURIComponent),
        agent,
        timeout: ANSWER_TIMEOUT_MS,
        headers: { ...sent, 'content-length': String(bytes?.length ?? 0) },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        const done = () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode!, headers: answer.headers as never, text, json: () => JSON.parse(text) });
        };
        answer.on('error', reject);
        if (/event-stream/.test(answer.headers['content-type'] ?? '')) {
          answer.destroy();
          return done();
        }
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', done);
      },
    );
    asking.on('timeout', () => asking.destroy(new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`)));
    asking.on('error', reject);
    asking.end(bytes);
  });
}
