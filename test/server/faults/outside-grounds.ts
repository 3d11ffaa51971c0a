// What stands outside and fails: services, models, tools, receivers, nodes and hosts, on real sockets behind a proxy.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { mcpGround } from '../../agent/mcp-server.ts';
import { called, calls, type Answer as ModelAnswer, modelServer, says } from '../../agent/model-server.ts';
import { newKey } from '../../delegation/keys.ts';
import { certificate } from '../../support/certificate.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { withFolder } from '../../support/process.ts';
import { groveNode } from '../gateway/node.ts';
import { ORACLE_KEY, type User } from '../plugins/users.ts';
import { writeKeys } from '../support/domain-client.ts';
import { NAME, toHere, withReceiver } from '../support/receiver.ts';
import { ask, json } from '../support/serve.ts';
import { SHORT } from './matrix.ts';
import { withPlace } from './place.ts';
import { dial, newCaller, type Request, sameAgain, say, sayImpatiently, summary } from './requests.ts';
import { type Ground, networkFaults, type WithGrounds } from './store-grounds.ts';
import { addTenants, playWebhooks, SENT_OVER_TLS } from './webhook-grounds.ts';

/** What stands behind a proxy, until all is closed. */
interface Behind {
  readonly proxy: FaultProxy;
  close(): Promise<void>;
}

async function behindProxy(port: number, close: () => Promise<void> | void): Promise<Behind> {
  const proxy = await faultProxy({ port });
  return {
    proxy,
    close: async () => {
      await proxy.close();
      await close();
    },
  };
}

/** The faults of a proxy; a slow one takes so many milliseconds more, each way. */
const failing = ({ proxy }: Behind, effect: RegExp) => networkFaults(proxy, { slowMs: 100, effect });

async function listening(server: Server): Promise<Behind> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return behindProxy((server.address() as AddressInfo).port, close);
}

/** A service of flows, and the keys under which it has acted, by who called it. */
function countingService(): { readonly answer: RequestListener; readonly keys: Map<string, Set<string>> } {
  const keys = new Map<string, Set<string>>();
  const answer: RequestListener = async (req, res) => {
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += piece;
    const { who } = JSON.parse(body) as { who: string };
    keys.set(who, (keys.get(who) ?? new Set()).add(String(req.headers['idempotency-key'])));
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"said":"fine"}');
  };
  return { answer, keys };
}

/** A request that leads to a call of the service; `again` also tells when that was made under several keys. */
async function underOneKey(keys: Map<string, Set<string>>, who: string, making: Promise<Request>): Promise<Request> {
  const request = await making;
  keys.delete(who);
  return {
    ask: request.ask,
    async again() {
      const answer = await request.again();
      const times = keys.get(who)?.size ?? 0;
      return times > 1 ? `${answer}, done ${times} times` : answer;
    },
  };
}

/** The node of a query gateway. */
async function nodeBehind(): Promise<Behind> {
  const node = await groveNode();
  node.script = () => ({ reply: { text: 'fine' } });
  return behindProxy(Number(node.upstream.split(':')[1]), node.stop);
}

const ANY = /(?:)/;
const settingsOf = ({ proxy }: Behind, channel: 'grpc-js' | 'http2', deadlineMs: number) => ({
  ...{ upstream: `127.0.0.1:${proxy.port}`, deadlineMs, channel },
});

/** The host of the documents of did:web issuers, and requests with tokens of issuers that nobody has seen before. */
async function issuerHost() {
  const { key: tlsKey, cert: ca } = certificate;
  const key = newKey();
  const answer: RequestListener = (req, res) => {
    const id = `${issuer}:${req.url!.split('/')[1]}`;
    const method = { id: `${id}#key`, type: 'Multikey', publicKeyMultibase: key.did.slice('did:key:'.length) };
    res.end(JSON.stringify({ id, verificationMethod: [method] }));
  };
  const host = await listening(createTlsServer({ key: tlsKey, cert: ca }, answer) as unknown as Server);
  const issuer = `did:web:${NAME}%3A${host.proxy.port}`;
  const mint = () =>
    mintInvocation({
      ...{ key, issuer: `${issuer}:${randomUUID()}`, audience: parseOracleKey(ORACLE_KEY).did, expiresIn: 600 },
      capability: { can: '*', with: 'ixo:oracle' },
    });
  const beginSession = async (url: string) => {
    const headers = { authorization: `Bearer ${await mint()}`, 'x-auth-type': 'ucan' };
    return summary(await ask(`${url}/sessions`, json({}, headers)));
  };
  return { ...host, ca, beginSession };
}

type Said = { readonly role: string; readonly content: unknown };

// Calls the tool when it is asked to, and repeats what that gave.
const useTool: ModelAnswer = (response, asked) => {
  const { role, content } = (asked.body.messages as readonly Said[]).at(-1)!;
  if (role === 'tool') return says(String(content))(response, asked);
  return (JSON.stringify(content).includes('use it') ? calls(called('hello', '{}')) : says('fine'))(response, asked);
};

/**
 * A service, webhooks, the hosts of issuers and a node on grpc-js, of a server whose chats a flow answers. They are played
 * beside each other: none of them is needed by the requests of another.
 */
export const withCounterparts: WithGrounds = (work, windows = SHORT) =>
  withReceiver((receiver) =>
    withFolder(async (folder) => {
      const { answer, keys } = countingService();
      const service = await listening(createServer(answer));
      const issuers = await issuerHost();
      const node = await nodeBehind();
      const webhookSender = { lookup: toHere, ca: receiver.ca + issuers.ca };
      const env = { DID_WEB_HOSTS: `${NAME}:${issuers.proxy.port}`, API_KEYS_FILE: writeKeys(folder) };
      addTenants(env.API_KEYS_FILE);
      const called = { url: `http://localhost:${service.proxy.port}`, windows };
      const gatewaySettings = settingsOf(node, 'grpc-js', windows.nodeMs);
      try {
        await withPlace({ env, service: called, gateway: gatewaySettings, webhookSender }, async (place) => {
          const { url, user } = place;
          const { gateway } = place.requests;
          const session = async () => sameAgain(() => issuers.beginSession(url));
          const acting = {
            ussd: () => underOneKey(keys, 'phone', dial(url, newCaller(), ['4'])),
            agent: () => underOneKey(keys, 'chat', say(url, user, 'act')),
          };
          await Promise.all([
            work({ dependency: 'service', place, requests: acting, ...failing(service, /POST/) }),
            work({ dependency: 'issuers', place, requests: { agent: session }, ...failing(issuers, SENT_OVER_TLS) }),
            work({ dependency: 'node', title: 'grpc-js', place, requests: { gateway }, ...failing(node, ANY) }),
            playWebhooks(place, receiver, work),
          ]);
        });
      } finally {
        for (const one of [service, issuers, node]) await one.close();
      }
    }),
  );

/** Of a user, where nothing will come. */
const PATIENCE_MS = 1_000;

/** Messages whose user gives up where nothing will come. */
function impatient(
  { url, user, text }: { readonly url: string; readonly user: User; readonly text: string },
  { set, lift }: Pick<Ground, 'set' | 'lift'>,
): Pick<Ground, 'set' | 'lift' | 'requests'> {
  let isSilent = false;
  const patienceMs = () => (isSilent ? PATIENCE_MS : undefined);
  return {
    requests: { agent: () => sayImpatiently(url, { headers: user.headers, text, patienceMs }) },
    set(fault) {
      isSilent = fault === 'freeze' || fault === 'lose-stall';
      return set(fault);
    },
    lift() {
      isSilent = false;
      return lift();
    },
  };
}

/** A model, an MCP server whose tool it calls, and a node on http2. */
export const withModel: WithGrounds = (work, { nodeMs } = SHORT) =>
  withFolder(async (folder) => {
    const server = await modelServer(useTool);
    const model = await behindProxy(Number(new URL(server.url).port), server.close);
    const mcp = await mcpGround(['hello']);
    const tools = await behindProxy(Number(new URL(mcp.url).port), mcp.close);
    const node = await nodeBehind();
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify([{ name: 'one', url: `http://127.0.0.1:${tools.proxy.port}/mcp` }]));
    const env = {
      ...{ MODEL_BASE_URL: `http://127.0.0.1:${model.proxy.port}/v1`, MODEL_API_KEY: 'sk-canary', MODEL_NAME: 'small' },
      MCP_SERVERS: file,
    };
    try {
      await withPlace({ env, gateway: settingsOf(node, 'http2', nodeMs) }, async (place) => {
        const { url, user } = place;
        const { gateway } = place.requests;
        const chat = async () => {
          const hello = impatient({ url, user, text: 'hello' }, failing(model, /POST/));
          await work({ dependency: 'model', place, ...hello });
          const tool = impatient({ url, user, text: 'use it' }, failing(tools, /tools\/call/));
          await work({ dependency: 'tools', place, ...tool });
        };
        await Promise.all([
          chat(),
          work({ dependency: 'node', title: 'http2', place, requests: { gateway }, ...failing(node, ANY) }),
        ]);
      });
    } finally {
      for (const one of [model, tools, node]) await one.close();
    }
  });
