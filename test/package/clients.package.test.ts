// The clients and providers of others, as npm has them, against a server: TypeScript clients made from the document, libraries of
// webhooks and of server-sent events, clients of Cosmos made by Telescope, and models of the AI SDK of three generations.

import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { HostTool } from '../../lib/agent/responder.ts';
import type { LanguageModel } from '../../lib/agent/responders/language-model.ts';
import { modelResponder } from '../../lib/agent/responders/model.ts';
import { systemClock } from '../../lib/clock.ts';
import { attempt, makeSecret, sealSecret, type Webhook } from '../../lib/domain/feed/webhook.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { framesOf, ground, newSession, say, shownText } from '../agent/ground.ts';
import { cosmosSet } from '../gateway/cosmos-set.ts';
import { withGateway } from '../server/gateway/place.ts';
import { domainClient, headersOf, keyOf, writeKeys } from '../server/support/domain-client.ts';
import { type Served, withServer } from '../server/support/serve.ts';
import { builtPackage } from '../support/build.ts';
import { faultProxy, PASS } from '../support/fault-proxy.ts';
import { withFolder } from '../support/process.ts';
import { skipped } from '../support/skip.ts';
import { until } from '../support/until.ts';
import { ROOT } from './manifest.ts';

const test = suite('clients of others');

const TOOLS = [
  '@hey-api/openapi-ts@0.99.0',
  'anthropic2@npm:@ai-sdk/anthropic@2.0.45',
  'anthropic4@npm:@ai-sdk/anthropic@4.0.104',
  'eventsource-parser@3.1.1',
  'eventsource3@npm:eventsource@3.0.7',
  'eventsource4@npm:eventsource@4.1.1',
  'google3@npm:@ai-sdk/google@3.0.60',
  'google4@npm:@ai-sdk/google@4.0.120',
  'openapi-fetch@0.17.0',
  'openapi-typescript@7.13.0',
  'osmojs@16.15.0',
  'standardwebhooks@1.1.1',
  'svix@1.99.1',
  'typescript@5.9.3',
];
const BEFORE = '2026-11-25';
const folder = join(ROOT, 'build/clients');
const tool = (name: string) => join(folder, 'node_modules', name);
const load = createRequire(join(folder, 'package.json'));
const importTool = (name: string) => import(pathToFileURL(load.resolve(name)).href);

test.before(() => {
  const mark = join(folder, 'installed.json');
  const installed: readonly string[] = existsSync(mark) ? JSON.parse(readFileSync(mark, 'utf8')) : [];
  if (TOOLS.every((name) => installed.includes(name))) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', `--before=${BEFORE}`];
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, ...TOOLS], { cwd: folder, encoding: 'utf8' });
  if (/ENOTFOUND|ECONNREFUSED|EAI_AGAIN/.test(stderr)) skipped('no registry answers, which has the clients of others');
  assert.is(status, 0, stderr);
  writeFileSync(mark, JSON.stringify(TOOLS));
});

/** Runs a program in the folder, which must end well. */
function run(program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  assert.is(status, 0, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`);
}

const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const { GET, POST, PATCH } = createClient<paths>({
  baseUrl: process.env.API_URL!,
  headers: { Authorization: 'Bearer ' + process.env.API_KEY },
});

const alsoKnownAs = 'did:ixo:protocol/typed';
const protocol = await POST('/v1/protocols', { body: { type: 'Protocol', alsoKnownAs, properties: { n: 'number', more: { type: 'object' } } } });
if (protocol.error) throw new Error(protocol.error.title);
const made = await POST('/v1/domains', {
  body: { type: 'Organisation', class: protocol.data.did, metadata: { name: 'Typed', colour: 'red' }, properties: { n: 1, more: { a: [1] } } },
});
if (made.error) throw new Error(made.error.title + made.error.detail);
const n: unknown = made.data.properties.n;
const changed = await PATCH('/v1/domains/{did}', {
  params: { path: { did: made.data.did }, header: { 'If-Match': '*' } },
  body: { properties: { n: 2 } },
});
if (changed.error) throw new Error(changed.error.detail);
const proposed = await POST('/v1/domains/{did}/proposals', { params: { path: { did: made.data.did } }, body: { kind: 'verify', package: { any: { thing: 1 } } } });
const none = await GET('/v1/domains/{did}', { params: { path: { did: 'did:ixo:entity:none' } } });
console.log(JSON.stringify([n, changed.data.properties.n, changed.data.metadata.colour, proposed.data?.status, none.error?.error.code]));
`;

/** Writes the document of a server into the folder, and the types that openapi-typescript makes of it as `api.d.ts`. */
async function writeDocument({ ask }: Pick<Served, 'ask'>): Promise<string> {
  const { text } = await ask('/openapi.json');
  writeFileSync(join(folder, 'openapi.json'), text);
  run(process.execPath, [tool('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'api.d.ts']);
  return text;
}

/** Compiles a program in the folder as strictly as the compiler can. */
function compile(file: string, options: readonly string[] = ['--exactOptionalPropertyTypes']): void {
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'];
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2022'];
  const lib = ['--lib', 'es2022,dom,dom.iterable'];
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
  run(process.execPath, [tool('typescript/bin/tsc'), ...strict, ...modules, ...lib, ...types, ...options, file]);
}

/** What a compiled program of the folder prints, as JSON, with the address of a server and the key of an operator. */
async function outputOf(program: string, url: string): Promise<unknown> {
  const env = { ...process.env, API_URL: url, API_KEY: keyOf('operator') };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder, env });
  return JSON.parse(stdout);
}

test('a TypeScript client that openapi-typescript makes compiles strictly, and writes the free objects of twins', () =>
  withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async (server) => {
      await writeDocument(server);
      writeFileSync(join(folder, 'client.ts'), CLIENT);
      compile('client.ts');
      assert.equal(await outputOf('client.js', server.url), [1, 2, 'red', 'open', 'not-found']);
    }),
  ));

const GENERATED = `
import { createClient } from './generated/client/index.js';
import { changeDomain, createDomain, createProtocol, getDomain, proposeDomain } from './generated/sdk.gen.js';

const client = createClient({ baseUrl: process.env.API_URL!, auth: () => process.env.API_KEY! });
const made = { client, throwOnError: true } as const;
const alsoKnownAs = 'did:ixo:protocol/generated';
const protocol = await createProtocol({ ...made, body: { type: 'Protocol', alsoKnownAs, properties: { n: 'number', more: { type: 'object' } } } });
const body = { type: 'Organisation', class: protocol.data.did, metadata: { name: 'Typed', colour: 'red' }, properties: { n: 1, more: { a: [1] } } };
const { data: { did, properties } } = await createDomain({ ...made, body });
const path = { did };
const changed = await changeDomain({ ...made, path, headers: { 'If-Match': '*' }, body: { properties: { n: 2 } } });
const proposed = await proposeDomain({ ...made, path, body: { kind: 'verify', package: { any: { thing: 1 } } } });
const none = await getDomain({ client, path: { did: 'did:ixo:entity:none' } });
const code = none.error && 'success' in none.error ? none.error.error.code : undefined;
console.log(JSON.stringify([properties.n, changed.data.properties.n, changed.data.metadata.colour, proposed.data.status, code]));
`;

test('a client that @hey-api/openapi-ts makes compiles strictly, and does the same', () =>
  withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async (server) => {
      writeFileSync(join(folder, 'openapi.json'), (await server.ask('/openapi.json')).text);
      const plugins = ['-p', '@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
      run(process.execPath, [
        tool('@hey-api/openapi-ts/bin/run.js'),
        '-i',
        'openapi.json',
        '-o',
        'generated',
        ...plugins,
      ]);
      writeFileSync(join(folder, 'generated.ts'), GENERATED);
      // Its own runtime is not right by exactOptionalPropertyTypes.
      compile('generated.ts', []);
      assert.equal(await outputOf('generated.js', server.url), [1, 2, 'red', 'open', 'not-found']);
    }),
  ));

interface DocumentedRoute {
  readonly parameters?: readonly { readonly in: string }[];
  readonly requestBody?: { readonly content: object };
  readonly responses: { readonly [status: string]: { readonly content?: object } };
  readonly security: readonly object[];
}

/** A program that compiles when the types of all routes are those of openapi-typescript. */
function comparison(document: string): string {
  const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, DocumentedRoute>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({ path, method, route })),
  );
  const own = routes.filter(({ route: { security } }) => security.some((one) => 'apiKey' in one || 'ucan' in one));
  const lines = own.flatMap(({ path, method, route }) => {
    const line = `Routes['${method.toUpperCase()} ${path}']`;
    const theirs = `paths['${path}']['${method}']`;
    const [status, success] = Object.entries(route.responses).find(([one]) => one.startsWith('2'))!;
    const json = success.content && 'application/json' in success.content;
    const query = route.parameters?.some((one) => one.in === 'query');
    const bodies = Object.keys(route.requestBody?.content ?? {}).map(
      (type) => `NonNullable<${theirs}['requestBody']>['content']['${type}']`,
    );
    return [
      ...(json ? [`Same<${line}['answer'], ${theirs}['responses'][${status}]['content']['application/json']>`] : []),
      ...(query ? [`Takes<NonNullable<${line}['query']>, NonNullable<${theirs}['parameters']['query']>>`] : []),
      ...bodies.map((body) => `Takes<Content<Exclude<${line}['body'], undefined>>, Content<${body}>>`),
    ];
  });
  assert.ok(own.length > 60 && lines.length > 100, `${own.length} ${lines.length}`);
  return `import type { Routes } from 'twinline/client';
import type { paths } from './api.js';
type Plain<T> = T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T;
// Its attachments are told apart by which of two members is there: openapi-typescript forgets the others then.
type Content<T> = T extends { attachments?: unknown } | { readonly attachments?: unknown } ? Omit<T, 'attachments'> : T;
type Takes<Ours, Theirs> = [Plain<Theirs>] extends [Plain<Ours>] ? true : false;
type Same<Ours, Theirs> = [Plain<Ours>] extends [Plain<Theirs>] ? Takes<Ours, Theirs> : false;
${lines.map((line, at) => `export const is${at}: ${line} = true;`).join('\n')}
`;
}

test('the types of `twinline/client` are those that openapi-typescript makes of the document', () =>
  withServer({}, async (server) => {
    const document = await writeDocument(server);
    const link = tool('twinline');
    rmSync(link, { force: true });
    symlinkSync(await builtPackage(), link);
    writeFileSync(join(folder, 'comparison.ts'), comparison(document));
    compile('comparison.ts', ['--exactOptionalPropertyTypes', '--noEmit']);
  }));

test('the libraries of Standard Webhooks and Svix verify what is sent; a secret that is a plain text when they are told so', async () => {
  const keyring = parseKeyring(randomBytes(32).toString('hex'));
  const { Webhook: Standard } = await importTool('standardwebhooks');
  const { Webhook: Svix } = await importTool('svix');
  for (const secret of [makeSecret(), 'a plain text of an operator'])
    for (const Library of [Standard, Svix]) {
      const sent: { headers: Record<string, string>; body: string }[] = [];
      const webhook: Webhook = {
        ...{ id: 'wh_1', revision: 1 },
        body: {
          ...{ tenant: 't', url: 'https://a.example/', events: [], status: 'active', by: 'x', created: 0, updated: 0 },
          secret: sealSecret(keyring, { tenant: 't', id: 'wh_1' }, secret),
        },
      };
      const post = async (message: (typeof sent)[number]) => {
        sent.push(message);
        return { status: 200 };
      };
      await attempt({ keyring, clock: systemClock, post: post as never }, webhook, {
        ...{ event: { seq: 1, type: 'domain.created', data: { text: 'ü' } }, ending: new AbortController().signal },
      });
      const [{ headers, body }] = sent as [(typeof sent)[number]];
      const own = secret.startsWith('whsec_') ? undefined : { format: 'raw' };
      assert.equal(new Library(secret, own).verify(body, headers), JSON.parse(body));
      assert.throws(() => new Library(secret, own).verify(`${body} `, headers));
    }
});

for (const name of ['eventsource3', 'eventsource4'])
  test(`${name} hears of what happened while it was cut off, though it had heard of nothing before`, () =>
    withFolder((keys) =>
      withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async ({ url }) => {
        const client = domainClient(() => url);
        await client.protocol('controller');
        const proxy = await faultProxy({ port: Number(new URL(url).port) });
        const { EventSource } = await importTool(name);
        const heard: string[] = [];
        let opened = 0;
        const source = new EventSource(`http://127.0.0.1:${proxy.port}/v1/events`, {
          fetch: (input: string, init: RequestInit) =>
            fetch(input, {
              ...init,
              headers: { ...(init.headers as Record<string, string>), ...headersOf('controller') },
            }),
        });
        source.addEventListener('ready', () => opened++);
        source.addEventListener('domain.created', ({ data }: { data: string }) => heard.push(JSON.parse(data).did));
        try {
          await until('it listens', () => opened === 1);
          await proxy.set({ kind: 'refuse' });
          const did = await client.project('controller');
          await proxy.set(PASS);
          await until('it hears', () => heard.includes(did));
        } finally {
          source.close();
          await proxy.close();
        }
      }),
    ));

test('eventsource-parser reads the frames of the feed', () =>
  withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async ({ url }) => {
      const client = domainClient(() => url);
      await client.protocol('controller');
      const did = await client.project('controller');
      const { createParser } = await importTool('eventsource-parser');
      const seen: { id: string; event: string; data: string }[] = [];
      const parser = createParser({ onEvent: (event: (typeof seen)[number]) => seen.push(event) });
      const stop = new AbortController();
      const headers = headersOf('controller');
      const { body } = await fetch(`${url}/v1/events?after=0`, { headers, signal: stop.signal });
      const decoder = new TextDecoder();
      for await (const bytes of body!) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        if (seen.some(({ data }) => JSON.parse(data).did === did)) break;
      }
      stop.abort();
      const last = seen.at(-1)!;
      assert.equal([last.event, last.id], ['domain.created', String(JSON.parse(last.data).seq)]);
    }),
  ));

/** An endpoint that answers each request by the next body of a script. */
async function withEndpoint(
  bodies: readonly string[],
  work: (url: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    asked.push(text);
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(bodies[Math.min(asked.length, bodies.length) - 1]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const data = (...events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const named = (...events: readonly { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const candidate = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
});
const GEMINI = [
  data(
    candidate([{ text: 'Let me see. ' }]),
    candidate([{ functionCall: { name: 'echo', args: { text: 'one' } }, thoughtSignature: 'U0lH' }], 'STOP'),
  ),
  data(candidate([{ text: 'Done.' }], 'STOP')),
];

const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'c',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const block = (index: number, content: object, deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const claude = (reason: string, ...blocks: readonly { type: string }[][]) =>
  named(
    { type: 'message_start', message: { ...message, usage: { input_tokens: 11, output_tokens: 1 } } } as {
      type: string;
    },
    { type: 'ping' },
    ...blocks.flat(),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } } as {
      type: string;
    },
    { type: 'message_stop' },
  );
const CLAUDE = [
  claude(
    'tool_use',
    block(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'SIG' },
    ]),
    block(1, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Let me see. ' }]),
    block(2, { type: 'tool_use', id: 'toolu_1', name: 'echo', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"text":' },
      { type: 'input_json_delta', partial_json: '"one"}' },
    ]),
  ),
  claude('end_turn', block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Done.' }])),
];

type Make = (url: string) => Promise<LanguageModel>;
const google =
  (name: string): Make =>
  async (url) =>
    (await importTool(name)).createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: 'k' })(
      'gemini-3-pro-preview',
    );
const anthropic =
  (name: string): Make =>
  async (url) =>
    (await importTool(name)).createAnthropic({ baseURL: `${url}/v1`, apiKey: 'k' })('claude-sonnet-4-5');

const PROVIDERS: readonly (readonly [
  name: string,
  make: Make,
  bodies: readonly string[],
  returned: RegExp,
  thought: string,
])[] = [
  ['google3', google('google3'), GEMINI, /"thoughtSignature":"U0lH"/, ''],
  ['google4', google('google4'), GEMINI, /"thoughtSignature":"U0lH"/, ''],
  ['anthropic2', anthropic('anthropic2'), CLAUDE, /"signature":"SIG"/, 'hm'],
  ['anthropic4', anthropic('anthropic4'), CLAUDE, /"signature":"SIG"/, 'hm'],
];

for (const [name, make, bodies, returned, thought] of PROVIDERS)
  test(`${name}: a model of the AI SDK says, thinks and calls tools, and gets back what its provider wants back`, () =>
    withEndpoint(bodies, async (url, asked) => {
      const called: string[] = [];
      const echo: HostTool = {
        ...{
          name: 'echo',
          description: 'Says it',
          schema: { type: 'object', properties: { text: { type: 'string' } } },
        },
        handler: (args) => {
          called.push(JSON.stringify(args));
          return 'heard';
        },
      };
      const here = ground();
      const responder = await modelResponder({
        models: [await make(url)],
        onProblem: (error) => here.problems.push(error),
      });
      const agent = await here.agent(responder, { hostTools: () => [echo] });
      try {
        const attachments = [{ mxcUri: 'https://img.example/a.png', filename: 'a.png', mimetype: 'image/png' }];
        const frames = await framesOf(
          agent,
          await say(agent, await newSession(agent), 'go', { request: { message: 'go', attachments } }),
        );
        assert.equal(here.problems, []);
        assert.is(shownText(frames), 'Let me see. Done.');
        assert.equal([called, asked.length], [['{"text":"one"}'], 2]);
        assert.match(asked[1]!, returned);
        assert.match(asked[0]!, 'https://img.example/a.png');
        const thoughts = frames
          .map(({ event, json }) => (event === 'reasoning' ? String(json.reasoning) : ''))
          .join('');
        assert.is(thoughts.replace('Thinking…', ''), thought);
        assert.is(frames.at(-1)!.json.status, 'finished');
      } finally {
        await agent.close();
      }
    }));

test('osmojs, a client made by Telescope, searches transactions by a list of events', () =>
  withGateway(
    {},
    async ({ server, node }) => {
      node.script = () => ({});
      const { cosmos } = await importTool('osmojs');
      const client = await cosmos.ClientFactory.createLCDClient({ restEndpoint: server.url });
      const events = ["message.action='/x.y.MsgZ'", 'tx.height=5'];
      await client.cosmos.tx.v1beta1.getTxsEvent({ events, orderBy: 2 });
      assert.equal(node.last().request, { events, orderBy: 'ORDER_BY_DESC' });
    },
    { set: cosmosSet() },
  ));

test.run();
