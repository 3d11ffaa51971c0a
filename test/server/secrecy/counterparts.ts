// Everybody who is told a secret and quotes it: a service over HTTP, a module of services, a plugin, a model, a store.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TwinlineError } from '../../../lib/errors.ts';
import type { Stores } from '../../../server/stores/stores.ts';
import { type Answer, called, calls, fails, says } from '../../agent/model-server.ts';

const ERRORS = new URL('../../../lib/errors.ts', import.meta.url).href;

export interface Peer {
  /** `localhost:4711` */
  readonly host: string;
  close(): Promise<void>;
}

/** Answers 200 below /fine and 500 elsewhere; status line, headers and body quote what came. */
export async function quotingPeer(): Promise<Peer> {
  const server = createServer(({ url = '', headers }, res) => {
    const { authorization = '', 'x-pin': pin } = headers;
    const said = `${decodeURIComponent(url)} ${authorization} ${pin}`;
    const encoded = Buffer.from(`x${said}`);
    const body = { said, pin, authorization, base64: encoded.toString('base64'), hex: encoded.toString('hex') };
    res.writeHead(url.startsWith('/fine') ? 200 : 500, `No ${authorization}`, { 'x-said': said });
    res.end(JSON.stringify(body));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** A module of services that has a key of its own, and tells it with what it was called with. */
export const quotingServices = (key: string) => `
import { TwinlineError } from '${ERRORS}';
const KEY = ${JSON.stringify(key)};
export default {
  'bad.throws': async ({ pin }) => { throw new Error('wrong ' + pin + ', says ' + KEY); },
  'bad.refuses': async ({ pin }) => { throw new TwinlineError('ERR_SERVICE', 'wrong ' + pin + ', says ' + KEY); },
  'bad.tells': async () => { throw new TwinlineError('ERR_SERVICE', 'the key ' + KEY + ' is refused'); },
  'bad.echoes': async ({ pin }) => ({ said: pin + ' ' + KEY, key: KEY, body: { said: [KEY, pin] } }),
};`;

/** A plugin that tells its key and the tokens of who asks, wherever a plugin can say something. */
export const QUOTING_PLUGIN = `
import { TwinlineError } from '${ERRORS}';
const fail = (ctx, code, more = '') => { throw new TwinlineError(code, 'the key ' + ctx.env.LEAKY_API_KEY + ' is refused ' + more); };
const both = (koa, ctx) => koa.get('authorization') + ' ' + ctx.matrixAccessToken;
const tool = (name, handler) => ({ name, description: name, schema: { type: 'object' }, handler });
export default {
  name: 'leaky', version: '1', env: ['LEAKY_API_KEY'],
  routes: Object.entries({
    refuses: (koa, ctx) => { throw ctx.refuse(403, ['no', 'the key is ' + ctx.env.LEAKY_API_KEY], { kind: ctx.env.LEAKY_API_KEY }); },
    exposes: (koa, ctx) => koa.throw(400, 'the key is ' + ctx.env.LEAKY_API_KEY),
    inputs: (koa, ctx) => fail(ctx, 'ERR_INPUT'),
    fails: (koa, ctx) => fail(ctx, 'ERR_SERVICE', both(koa, ctx)),
    causes: (koa, ctx) => { try { fail(ctx, 'ERR_STORE', both(koa, ctx)); } catch (cause) { throw new Error('x', { cause }); } },
    logs: (koa, ctx) => { ctx.log.warn({ key: ctx.env.LEAKY_API_KEY }, 'with ' + encodeURIComponent(ctx.env.LEAKY_API_KEY) + JSON.stringify(ctx.env)); koa.body = 'fine'; },
  }).map(([name, handle]) => ({ method: 'GET', path: '/leaky/' + name, handle })),
  tools: [
    tool('leak', (args, ctx) => fail(ctx, 'ERR_SERVICE', ctx.matrixAccessToken)),
    tool('tell', (args, ctx) => ({ key: ctx.env.LEAKY_API_KEY, token: 'Bearer ' + ctx.matrixAccessToken })),
  ],
  onEvent: (event, ctx) => fail(ctx, 'ERR_SERVICE'),
  begin: (run, ctx) => { if (run.requestId === 'refused') throw ctx.refuse(402, 'the key is ' + ctx.env.LEAKY_API_KEY); },
};`;

type Said = { readonly role: string; readonly content: unknown };

/** A model: `fail` is refused with its key, `call x` calls a tool and then repeats all that was said. */
export const quotingModel: Answer = (response, asked) => {
  const key = String(asked.headers.authorization);
  const messages = asked.body.messages as readonly Said[];
  const [, tool] =
    /call ([\w-]+)$/.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user')).replace(/\W+$/, '')) ?? [];
  if (tool === undefined)
    return fails(401, { message: `bad key ${key}`, code: key.toLowerCase(), param: key })(response, asked);
  if (messages.at(-1)!.role !== 'tool') return calls(called(tool, '{}'))(response, asked);
  return says(JSON.stringify(messages.slice(1)))(response, asked);
};

/** Stores whose sessions cannot be read while `url` is given: the error quotes it. */
export function quotingStores() {
  const trouble: { url?: string } = {};
  const between = (stores: Stores): Stores => ({
    ...stores,
    snapshots: {
      ...stores.snapshots,
      load: (key) => {
        if (trouble.url === undefined) return stores.snapshots.load(key);
        const words = `cannot reach ${trouble.url} (${decodeURIComponent(trouble.url)})`;
        return Promise.reject(new TwinlineError('ERR_STORE', words, { cause: new TwinlineError('ERR_STORE', words) }));
      },
    },
  });
  return { trouble, between };
}

interface Call {
  readonly service: string;
  readonly with: object;
}

/** Asks for the number of a call and a PIN, makes the call, and shows all that was answered. */
export function quotingFlow(flow: string, listed: readonly Call[]) {
  const screens = listed.map(({ service, with: given }, at) => [
    `call${at}`,
    { type: 'call', service, with: given, save: 'answer', timeout: '2s', retry: 0, done: 'shown', fail: 'failed' },
  ]);
  const ways = listed.map((_, at) => ({ when: `way == '${at}'`, to: `call${at}` }));
  const ask = (text: string, save: string, to: string) => ({ type: 'input', text, save, to });
  return {
    flow,
    version: 1,
    start: 'way',
    keys: { exit: '*' },
    vars: { way: { type: 'string' }, pin: { type: 'string', secret: true }, answer: { type: 'object', sample: {} } },
    screens: {
      way: ask('Which?', 'way', 'pin'),
      pin: ask('PIN?', 'pin', 'choose'),
      choose: { type: 'branch', branch: [...ways, { to: 'failed' }] },
      ...Object.fromEntries(screens),
      shown: ask('Answered {{answer.said}} {{answer.body.said}} {{answer.body.base64}}', 'way', 'failed'),
      failed: ask('Failed', 'way', 'failed'),
    },
  };
}

/** Makes the call with each message, and says what was answered. */
export function chatFlow(call: Call) {
  return {
    flow: 'assistant',
    version: 1,
    start: 'ask',
    keys: { exit: '*' },
    vars: { said: { type: 'string', default: '', max: 160 }, answer: { type: 'object', sample: {} } },
    screens: {
      ask: { type: 'input', text: 'What?', save: 'said', to: 'call' },
      call: { type: 'call', ...call, timeout: '2s', save: 'answer', done: 'done', fail: 'failed' },
      done: { type: 'input', text: 'Answered {{answer.body.said}}', save: 'said', to: 'call' },
      failed: { type: 'input', text: 'Failed.', save: 'said', to: 'call' },
    },
  };
}
