// Secrets in other people's words: through all doors, everybody who is told a secret quotes it, and no exit holds it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { runServer } from '../../../server/boot/process.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { mcpGround } from '../../agent/mcp-server.ts';
import { modelServer } from '../../agent/model-server.ts';
import { newKey } from '../../delegation/keys.ts';
import { type Canaries, findCanaries, findCanariesIn, newCanary } from '../../support/canaries.ts';
import { withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { COOKING, files, keyOf, PROTOCOL } from '../domain/place.ts';
import { withGateway } from '../gateway/place.ts';
import { openTab } from '../sockets/ground.ts';
import { readEvents } from '../support/event-reader.ts';
import { toHere, withReceiver } from '../support/receiver.ts';
import { type AskOptions, json, type Served, withServer } from '../support/serve.ts';
import {
  chatFlow,
  QUOTING_PLUGIN,
  quotingFlow,
  quotingModel,
  quotingPeer,
  quotingServices,
  quotingStores,
} from './counterparts.ts';

const test = suite('quoted secrets');

const ORACLE_KEY = makeOracleKey();
const oracle = parseOracleKey(ORACLE_KEY);
const MCP_DID = 'did:web:mcp.example';
const PIN = '7402918';
const PHONE = '+260971230001';
const identity = { can: '*', with: 'ixo:oracle' };

/** What is secret about a server, by the variable that it is given in. */
const SECRETS = {
  OPERATOR_TOKEN: newCanary('operator'),
  MODEL_API_KEY: newCanary('sk', '"/+&-'),
  LEAKY_API_KEY: newCanary('leaky', '"/+&é-'),
  SERVICE_API_KEY: newCanary('service', "'<%"),
  PIN_ENCRYPTION_KEY: Buffer.from(newCanary('pin-key').slice(0, 32).padEnd(32, 'x')).toString('hex'),
} as const;
const OTHERS = {
  PIN,
  'oracle key': ORACLE_KEY,
  'password in a URL': newCanary('password', '@:/?'),
  'credential in a flow': newCanary('flow', '"/+-'),
  'secret of a telecom': newCanary('telecom'),
  'key of an MCP server': newCanary('mcp', '"/'),
  'key of the gate': newCanary('gate'),
  'API key': keyOf('owner'),
  'Matrix token': newCanary('matrix', '"/'),
} as const;

type Exits = [name: string, text: string][];

/** A user with tokens, and their texts by what they are. */
async function newVisitor() {
  const key = newKey();
  const common = { key, expiresIn: 600 };
  const [invocation, again, tool, delegation] = await Promise.all([
    mintInvocation({ ...common, audience: oracle.did, capability: identity }),
    mintInvocation({ ...common, audience: oracle.did, capability: identity }),
    mintInvocation({ ...common, audience: MCP_DID, capability: { can: 'mcp/call', with: key.did } }),
    mintDelegation({ ...common, audience: oracle.did, capabilities: [identity] }),
  ]);
  const tokens = { invocation, 'invocation of a socket': again, 'invocation of a tool': tool, delegation };
  // Not only their text: a token that is kept as bytes is not sealed either.
  const bytes = Object.entries(tokens).map(([kind, text]) => [`bytes of ${kind}`, readBytes(text)] as const);
  const headers = {
    ...{ authorization: `Bearer ${invocation}`, 'x-auth-type': 'ucan', 'x-ucan-delegation': delegation },
    'x-matrix-access-token': OTHERS['Matrix token'],
  };
  return { tokens, headers, secrets: [...Object.entries(tokens), ...bytes] };
}

// The first bytes of every CAR are the same but for the digest of its root, and so are the last but for the signature.
const readBytes = (token: string) => Buffer.from(token, 'base64').subarray(20, 120).toString('latin1');

interface Place {
  readonly server: Served;
  readonly exits: Exits;
  /** Asks, and notes the answer; by path. */
  ask(path: string, options?: AskOptions): Promise<string>;
}

const OPERATOR = { authorization: `Bearer ${SECRETS.OPERATOR_TOKEN}` };

async function dial({ ask, server }: Place, calls: number): Promise<string[]> {
  const screens: string[] = [];
  for (let at = 0; at < calls; at++) {
    const fields = { sessionId: `sim-${at}`, serviceCode: '*2233#', phoneNumber: PHONE };
    let said = '';
    for (const text of ['', `${at}`, `${at}*${PIN}`]) said = await ask('/api/ussd', json({ ...fields, text }));
    screens.push(said);
    await ask(`/api/ussd/debug/sim-${at}`, { headers: OPERATOR });
    const dialogue = { sessionId: `sim-${at}`, phoneNumber: PHONE, inputs: ['', `${at}`, '1111111'] };
    await ask('/simulator/flow-test', json(dialogue, { ...OPERATOR, origin: server.url }));
  }
  await ask(`/api/ussd/hubtel?token=${OTHERS['secret of a telecom']}`, json({ Message: `*2233#*${PIN}` }));
  return screens;
}

async function chat(place: Place, visitor: Awaited<ReturnType<typeof newVisitor>>, messages: readonly string[]) {
  const { ask, exits, server } = place;
  const { headers, tokens } = visitor;
  await ask('/delegation', json({ raw: tokens.delegation }, headers));
  const { sessionId } = JSON.parse(await ask('/sessions', { method: 'POST', headers })) as { sessionId: string };
  const tabs = [tokens['invocation of a socket'], `x${tokens['invocation of a tool']}`].map((invocation) =>
    openTab(server.url, { query: { sessionId }, auth: { invocation, ucanDelegation: tokens.delegation } }),
  );
  await until('the socket is let in', () => tabs[0]!.said('connected').length > 0);
  for (const [at, message] of messages.entries()) {
    const invocations = at % 2 === 0 && { mcpInvocations: { 'quotes-token': tokens['invocation of a tool'] } };
    await ask(`/messages/${sessionId}`, json({ message, stream: at !== 0, ...invocations }, headers));
  }
  await ask(`/messages/${sessionId}`, json({ message: 'call tell' }, { ...headers, 'x-request-id': 'refused' }));
  await ask(`/messages/${sessionId}`, { headers });
  await ask(`/sessions/${sessionId}/messages`, { headers });
  for (const { socket, heard, states } of tabs) {
    exits.push(['a socket', JSON.stringify([heard, states])]);
    socket.disconnect();
  }
}

function readAll(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
}

/** Everything that can be read without knowing an id, as an operator. */
async function readPages(
  { ask, server }: Place,
  inspected: readonly { name?: string; sessionId?: string }[],
): Promise<void> {
  const paths = server.routes.filter(({ method, path }) => method === 'GET' && !/[:{*]|stream|grove/.test(path));
  // Those of the service that echoes, and of the peer that answers 200.
  const sessions = inspected.filter(({ name }) => name === 'main sim-2' || name === 'main sim-4');
  const tests = sessions.map(({ sessionId }) => `/inspector/sessions/${sessionId}/flow-test`);
  for (const path of ['/inspector/machines/main.svg', ...tests, ...paths.map((one) => one.path)])
    await ask(path, { headers: OPERATOR });
}

const ENVIRONMENT = {
  ...SECRETS,
  ORACLE_KEY,
  LOG_LEVEL: 'trace',
  MODEL_NAME: 'small',
  STORE_OF_ARCHIVE: `redis://keeper:${encodeURIComponent(OTHERS['password in a URL'])}@archive.example:6379/2`,
  USSD_GATEWAYS: `127.0.0.0/8,hubtel:${OTHERS['secret of a telecom']}`,
};

function makeModules(folder: string, host: string): { readonly env: NodeJS.ProcessEnv; readonly calls: number } {
  const headers = { authorization: `Bearer ${OTHERS['credential in a flow']}`, 'x-pin': '=pin' };
  const calls = [
    ...['bad.throws', 'bad.refuses', 'bad.echoes'].map((service) => ({ service, with: { pin: '=pin' } })),
    { service: 'bad.tells', with: {} },
    ...['fine', 'broken'].map((path) => ({ service: 'http.get', with: { url: `http://${host}/${path}`, headers } })),
  ];
  const menus = join(folder, 'menus');
  mkdirSync(menus);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(menus, 'main.flow.json'), JSON.stringify(quotingFlow('main', calls)));
  const [services, plugin] = [join(folder, 'services.js'), join(folder, 'plugin.js')];
  writeFileSync(services, quotingServices(SECRETS.SERVICE_API_KEY));
  writeFileSync(plugin, QUOTING_PLUGIN);
  return {
    calls: calls.length,
    env: { ...files(folder), MENUS_DIR: menus, SERVICES: services, PLUGINS: plugin, SERVICE_HTTP_HOSTS: host },
  };
}

for (const stores of ['memory', 'LMDB and SQLite'] as const)
  test(`through all doors, on ${stores}: whatever is quoted, no exit holds a secret`, () =>
    withReceiver((receiver) =>
      withFolder(async (folder) => {
        const peer = await quotingPeer();
        const model = await modelServer(quotingModel);
        const mcp = await mcpGround(['quotes', 'quotes-error', 'quotes-token']);
        const { trouble, between } = quotingStores();
        const { env, calls } = makeModules(folder, peer.host);
        const servers = join(folder, 'mcp.json');
        const key = { 'x-api-key': OTHERS['key of an MCP server'] };
        writeFileSync(
          servers,
          JSON.stringify([{ name: 'hostile', url: mcp.url, did: MCP_DID, headers: key, protected: ['quotes-token'] }]),
        );
        const data = join(folder, 'data');
        const given = {
          ...{ ...ENVIRONMENT, ...env, MODEL_BASE_URL: model.url, MCP_SERVERS: servers },
          DATA_DIR: stores === 'memory' ? ':memory:' : data,
        };
        const visitor = await newVisitor();
        const exits: Exits = [];
        let webhookSecret = '';
        try {
          await withGateway(
            { gate: { keys: [OTHERS['key of the gate']] } },
            async ({ server, node }) => {
              const ask: Place['ask'] = async (path, options) => {
                const { status, headers, text } = await server.ask(path, options);
                exits.push([`the answer of ${path}`, `${status} ${JSON.stringify(headers)} ${text}`]);
                return text;
              };
              const place = { server, exits, ask };
              const watching = await readEvents(`${server.url}/inspector/stream`, OPERATOR);

              const screens = await dial(place, calls);
              assert.ok(
                screens.some((text) => /^CON Answered.*\*{4}/.test(text)),
                'the masked answer was shown',
              );
              assert.ok(
                screens.some((text) => /^CON Failed/.test(text)),
                'a call has failed',
              );

              const owner = { authorization: `Bearer ${OTHERS['API key']}` };
              const made = JSON.parse((await server.ask('/v1/webhooks', json({ url: receiver.url }, owner))).text);
              webhookSecret = (made as { secret: string }).secret;
              receiver.answer = () => 500;
              receiver.says = `bad signature of ${webhookSecret}`;
              await ask('/v1/protocols', json(PROTOCOL, owner));
              await ask('/v1/domains', json({ type: 'Project', class: COOKING }, owner));
              await receiver.until(() => receiver.received.length > 0);
              const webhook = `/v1/webhooks/${(made as { id: string }).id}`;
              while (!/"lastFailure":\{/.test(await ask(webhook, { headers: owner })));

              await chat(place, visitor, [
                'fail',
                ...['quotes', 'quotes-error', 'quotes-token', 'quotes-token', 'leak', 'tell'].map(
                  (tool) => `call ${tool}`,
                ),
              ]);
              for (const { path } of server.routes.filter((route) => route.path.startsWith('/leaky/')))
                await ask(path, { headers: visitor.headers });

              node.script = ({ metadata }) => ({ status: { code: 5, details: JSON.stringify(metadata.getMap()) } });
              const gate = { authorization: `Bearer ${OTHERS['key of the gate']}` };
              await ask('/grove/tree/a', { headers: gate });
              await ask('/grove/tree/a', { headers: { authorization: 'Bearer wrong' } });

              trouble.url = ENVIRONMENT.STORE_OF_ARCHIVE;
              await ask('/api/ussd', json({ sessionId: 'b', serviceCode: '*2233#', phoneNumber: PHONE, text: '' }));
              await ask('/api/ussd/debug/sim-0', { headers: OPERATOR });
              delete trouble.url;

              // Pages do not know which store there is, and drawing them takes its time.
              if (stores !== 'memory') await readPages(place, watching.events() as object[]);
              exits.push(['the inspector', JSON.stringify(watching.events())]);
              await watching.close();
              for (const line of server.logged) exits.push(['the log', JSON.stringify(line)]);
            },
            { env: given, stores: between, webhookSender: { lookup: toHere, ca: receiver.ca } },
          );
        } finally {
          await Promise.all([peer.close(), model.close(), mcp.close()]);
        }
        const minted = mcp.noted.flatMap(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? []);
        assert.ok(minted.length >= 2 && minted.some((token) => token !== visitor.tokens['invocation of a tool']));
        const canaries: Canaries = new Map([
          ...Object.entries({ ...SECRETS, ...OTHERS, 'secret of a webhook': webhookSecret }),
          ...visitor.secrets,
          ...minted.map((token, at) => [`minted token ${at}`, token] as const),
        ]);
        const told = model.asked.map(({ body }) => ['the model', JSON.stringify(body)] as const);
        const found = [...exits, ...told].flatMap(([exit, text]) =>
          findCanaries(text, canaries).map((what) => `${exit}: ${what}`),
        );
        if (stores !== 'memory') found.push(...findCanariesIn(data, canaries));
        assert.equal(found, []);
        const words = exits.map(([, text]) => text).join('\n');
        for (const sign of SIGNS) assert.match(words, sign, 'what was to be quoted was');
      }),
    ));

// Of each hostile counterpart something is left in which its quotation was masked, or its words left out.
const SIGNS = [
  /"the key is \*{4}","error":"Payment Required"/,
  /a service failed/,
  /The MCP server \\+"hostile\\+" says: .*\*{4}/,
  /the key \*{4} is refused/,
  /cannot reach redis:\/\/\*{4}@archive/,
  /the receiver answered 500/,
  /The model did not answer: auth/,
  /@xstate\./,
];

// Every command that a Redis was sent, in plain text: also what it has forgotten since.
const KEPT = ['--requirepass', OTHERS['password in a URL'], '--appendonly', 'yes', '--appendfsync', 'no', '--dir'];

for (const stores of ['LMDB and SQLite', 'Redis'] as const)
  test(`flows call services with a PIN and a credential, on ${stores}: users, log and store get neither`, () =>
    withFolder(async (folder) => {
      const peer = await quotingPeer();
      const data = join(folder, 'data');
      const kept = join(folder, 'redis');
      mkdirSync(kept);
      const redis = stores === 'Redis' ? await startRedis({ args: [...KEPT, kept] }) : undefined;
      const login = `//:${encodeURIComponent(OTHERS['password in a URL'])}@`;
      const headers = { authorization: `Bearer ${OTHERS['credential in a flow']}` };
      const call = { service: 'http.get', with: { url: `http://${peer.host}/fine`, headers } };
      const menus = join(folder, 'menus');
      mkdirSync(menus);
      const services = join(folder, 'services.mjs');
      writeFileSync(services, quotingServices(SECRETS.SERVICE_API_KEY));
      const main = quotingFlow('main', [{ service: 'bad.echoes', with: { pin: '=pin' } }]);
      for (const flow of [main, chatFlow(call)])
        writeFileSync(join(menus, `${flow.flow}.flow.json`), JSON.stringify(flow));
      const given = {
        ...SECRETS,
        ...{ ORACLE_KEY, MENUS_DIR: menus, SERVICES: services, SERVICE_HTTP_HOSTS: peer.host, LOG_LEVEL: 'trace' },
        ...{ DATA_DIR: data, ...(redis && { REDIS_URL: redis.url.replace('//', login) }) },
      };
      const visitor = await newVisitor();
      const exits: Exits = [];
      try {
        await withServer({ env: given }, async (server) => {
          const ask: Place['ask'] = async (path, options) => {
            const { text } = await server.ask(path, options);
            exits.push([path, text]);
            return text;
          };
          await dial({ server, exits, ask }, 1);
          await chat({ server, exits, ask }, visitor, ['hello', 'again']);
          exits.push(['the log', JSON.stringify(server.logged)]);
        });
      } finally {
        await Promise.all([peer.close(), redis?.stop()]);
      }
      const canaries: Canaries = new Map([...Object.entries({ ...SECRETS, ...OTHERS }), ...visitor.secrets]);
      const found = exits.flatMap(([exit, text]) => findCanaries(text, canaries).map((what) => `${exit}: ${what}`));
      assert.equal([...found, ...findCanariesIn(data, canaries), ...findCanariesIn(kept, canaries)], []);
      if (redis) assert.match(readAll(kept), '/fine Bearer ****', 'the record was kept');
      const words = exits.map(([, text]) => text).join('\n');
      assert.match(words, /"args":\{[^}]*"headers":\{"authorization":"Bearer \*{4}"\}/, 'the call is shown without it');
      assert.match(words, /Answered .*\/fine Bearer \*{4}/);
    }));

test('what ends a start is printed without the secrets that it quotes', () =>
  withFolder(async (folder) => {
    const plugin = join(folder, 'plugin.mjs');
    const password = OTHERS['password in a URL'];
    const words = "'the key ' + ctx.env.LEAKY_API_KEY + ' of ' + ctx.env.LEAKY_URL + ' is refused'";
    writeFileSync(
      plugin,
      `export default { name: 'leaky', version: '1', env: ['LEAKY_API_KEY', 'LEAKY_URL'],
        start: (ctx) => { throw new Error(${words}); } };`,
    );
    const { LEAKY_API_KEY } = SECRETS;
    const LEAKY_URL = `https://me:${encodeURIComponent(password)}@leaky.example`;
    const printed: string[] = [];
    const print = console.error;
    console.error = (line: string) => void printed.push(line);
    try {
      await runServer({ DATA_DIR: ':memory:', PLUGINS: plugin, LEAKY_API_KEY, LEAKY_URL });
      assert.is(process.exitCode, 78);
    } finally {
      console.error = print;
      process.exitCode = undefined;
    }
    const text = printed.join('\n');
    assert.match(text, 'PLUGINS: "leaky" cannot start: the key **** of https://****@leaky.example is refused');
    assert.equal(findCanaries(text, new Map(Object.entries({ LEAKY_API_KEY, password }))), []);
  }));

test.run();
