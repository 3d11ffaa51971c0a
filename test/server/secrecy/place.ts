// What secrets a server has, how they are told at its doors, and where all that it says is noted.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { newKey } from '../../delegation/keys.ts';
import { type Canaries, findCanaries, findCanariesIn, newCanary } from '../../support/canaries.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { keyOf } from '../domain/place.ts';
import { openTab } from '../sockets/ground.ts';
import { type AskOptions, json, type Served, withServer } from '../support/serve.ts';
import { chatFlow, quotingFlow, quotingPeer, quotingServices } from './counterparts.ts';

export const ORACLE_KEY = makeOracleKey();
const oracle = parseOracleKey(ORACLE_KEY);
export const MCP_DID = 'did:web:mcp.example';
const PIN = '7402918';
export const PHONE = '+260971230001';
const identity = { can: '*', with: 'ixo:oracle' };

/** What is secret about a server, by the variable that it is given in. */
export const SECRETS = {
  OPERATOR_TOKEN: newCanary('operator'),
  MODEL_API_KEY: newCanary('sk', '"/+&-'),
  LEAKY_API_KEY: newCanary('leaky', '"/+&é-'),
  SERVICE_API_KEY: newCanary('service', "'<%"),
  PIN_ENCRYPTION_KEY: Buffer.from(newCanary('pin-key').slice(0, 32).padEnd(32, 'x')).toString('hex'),
} as const;
export const OTHERS = {
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

export type Exits = [name: string, text: string][];

/** A user with tokens, and their texts by what they are. */
export async function newVisitor() {
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

export interface Place {
  readonly server: Served;
  readonly exits: Exits;
  /** Asks, and notes the answer; by path. */
  ask(path: string, options?: AskOptions): Promise<string>;
}

export const OPERATOR = { authorization: `Bearer ${SECRETS.OPERATOR_TOKEN}` };

export async function dial({ ask, server }: Place, calls: number): Promise<string[]> {
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

export async function chat(place: Place, visitor: Awaited<ReturnType<typeof newVisitor>>, messages: readonly string[]) {
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

/** Flows call services with a PIN and a credential, on stores that `given` chooses and that keep what they are told in `kept`. */
export function callFromFlows(
  given: (folder: string) => NodeJS.ProcessEnv,
  kept: (folder: string) => string,
): Promise<void> {
  return withFolder(async (folder) => {
    const peer = await quotingPeer();
    const headers = { authorization: `Bearer ${OTHERS['credential in a flow']}` };
    const call = { service: 'http.get', with: { url: `http://${peer.host}/fine`, headers } };
    const menus = join(folder, 'menus');
    mkdirSync(menus);
    const services = join(folder, 'services.mjs');
    writeFileSync(services, quotingServices(SECRETS.SERVICE_API_KEY));
    const main = quotingFlow('main', [{ service: 'bad.echoes', with: { pin: '=pin' } }]);
    for (const flow of [main, chatFlow(call)])
      writeFileSync(join(menus, `${flow.flow}.flow.json`), JSON.stringify(flow));
    const env = {
      ...SECRETS,
      ...{ ORACLE_KEY, MENUS_DIR: menus, SERVICES: services, SERVICE_HTTP_HOSTS: peer.host, LOG_LEVEL: 'trace' },
      ...{ DATA_DIR: join(folder, 'data'), ...given(folder) },
    };
    const visitor = await newVisitor();
    const exits: Exits = [];
    try {
      await withServer({ env }, async (server) => {
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
      await peer.close();
    }
    const canaries: Canaries = new Map([...Object.entries({ ...SECRETS, ...OTHERS }), ...visitor.secrets]);
    const found = exits.flatMap(([exit, text]) => findCanaries(text, canaries).map((what) => `${exit}: ${what}`));
    assert.equal([...found, ...findCanariesIn(kept(folder), canaries)], []);
    const words = exits.map(([, text]) => text).join('\n');
    assert.match(words, /"args":\{[^}]*"headers":\{"authorization":"Bearer \*{4}"\}/, 'the call is shown without it');
    assert.match(words, /Answered .*\/fine Bearer \*{4}/);
  });
}
