// Secrets in other people's words: through all doors, everybody who is told a secret quotes it, and no exit holds it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runServer } from '../../../server/boot/process.ts';
import { mcpGround } from '../../agent/mcp-server.ts';
import { modelServer } from '../../agent/model-server.ts';
import { type Canaries, findCanaries, findCanariesIn } from '../../support/canaries.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { COOKING, files, PROTOCOL } from '../domain/place.ts';
import { withGateway } from '../gateway/place.ts';
import { readEvents } from '../support/event-reader.ts';
import { toHere, withReceiver } from '../support/receiver.ts';
import { json } from '../support/serve.ts';
import {
  QUOTING_PLUGIN,
  quotingFlow,
  quotingModel,
  quotingPeer,
  quotingServices,
  quotingStores,
} from './counterparts.ts';
import {
  callFromFlows,
  chat,
  dial,
  type Exits,
  MCP_DID,
  newVisitor,
  OPERATOR,
  ORACLE_KEY,
  OTHERS,
  PHONE,
  type Place,
  SECRETS,
} from './place.ts';

const test = suite('quoted secrets');

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

test('through all doors: whatever is quoted, no exit and no file holds a secret', () =>
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
        DATA_DIR: data,
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
            await until('the webhook has failed', async () =>
              /"lastFailure":\{/.test(await ask(webhook, { headers: owner })),
            );

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

            await readPages(place, watching.events() as object[]);
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
      found.push(...findCanariesIn(data, canaries));
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

test('flows call services with a PIN and a credential: users, log and store get neither', () =>
  callFromFlows(
    () => ({}),
    (folder) => join(folder, 'data'),
  ));

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
