// Clients that mean no good: other origins, floods, packets that are none, readers that do not read. The server stays up.

import type { EventEmitter } from 'node:events';
import { connect as dial } from 'node:net';
import { Manager } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { ground, newSession } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { ask } from '../support/serve.ts';
import { newUser, openPlace, openTab, type Place, type Tab, type TabOptions } from './ground.ts';

const test = suite('sockets: hostile clients');
const ORIGIN = 'https://app.example';
const here = ground();
const ann = newUser(here);
let place: Place;
let session: string;
let auth: { invocation: string };
const tabs: Tab[] = [];
let silent: Promise<unknown>;

test.before(async () => {
  place = await openPlace({ here, corsOrigins: [ORIGIN] });
  session = await newSession(place.agent, ann.did);
  auth = { invocation: await ann.invocation() };
  silent = silence();
});
test.after.each(async () => {
  for (const tab of tabs.splice(0)) tab.close();
  // Whatever was done, the next one is served.
  const tab = await greeted();
  assert.is((await tab.ask('ping')).sessionId, session);
  tab.close();
  tabs.splice(0);
});
test.after(() => place.close());

function open(options: TabOptions = {}): Tab {
  const tab = openTab(place.url, { query: { sessionId: session }, auth, ...options });
  tabs.push(tab);
  return tab;
}

async function greeted(options: TabOptions = {}): Promise<Tab> {
  const tab = open(options);
  await until('greeted', () => tab.heard.length > 0);
  return tab;
}

/** Resolves when a connection that says nothing was closed; it goes on beside the tests. */
function silence(): Promise<unknown> {
  const manager = new Manager(place.url, { transports: ['websocket'], reconnection: false, autoConnect: false });
  const closed = new Promise((resolve) => manager.once('close', resolve));
  manager.open();
  return closed;
}

const isCut = (tab: Tab) => tab.states.some((state) => state.startsWith('disconnect'));

interface Wire {
  readonly ws: EventEmitter & {
    send(frame: string | Buffer): void;
    readonly _socket: { pause(): void; resume(): void };
  };
}

/** Sends frames as they are, past the client's own rules. */
const wireOf = (tab: Tab): Wire['ws'] => (tab.socket.io.engine.transport as unknown as Wire).ws;

test('pages of other origins cannot connect, ours and clients that are no pages can', async () => {
  for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`]) {
    const tab = open({ extraHeaders: { origin } });
    await until(origin, () => tab.states.length > 0);
    assert.equal(tab.states, ['refused'], origin);
    const poll = await ask(`${place.url}/socket.io/?EIO=4&transport=polling`, { headers: { origin } });
    assert.is(poll.status, 403);
  }
  await greeted({ extraHeaders: { origin: ORIGIN } });
});

test('a packet that is no packet ends its connection, or is ignored, and nothing else', async () => {
  const frames: readonly (string | Buffer)[] = [
    ...['4', '47', '42', '42{', '42[]', '42{"a":1}', '42["tool_result",', '42"x"', '42[{"toString":1}]', '42[null]'],
    ...['451-["tool_result",{"_placeholder":true,"num":99}]', '4511-["ping"]', '451000000000-["ping"]', '40'],
    ...['450-["ping"]', '45-1-["ping"]', '451-["ping",{"_placeholder":true,"num":-1}]', '461-1["x"]', '4399["x"]'],
    ...['42["disconnect"]', '42["connect_error"]', '42["newListener","x"]', '42["error",{}]', '44"x"', '9', '1'],
    ...['2probe', `42${'['.repeat(60_000)}`, `42["ping"${',[]'.repeat(9_999)}]`],
    ...[Buffer.from('binary without a head'), Buffer.alloc(0)],
  ];
  for (const frame of frames) {
    const tab = await greeted();
    wireOf(tab).send(frame);
    wireOf(tab).send('421["ping"]');
    const rest = () => isCut(tab) || tab.said('pong').length > 0;
    // A packet that waits for binary parts gets text, which is wrong as well.
    await until(String(frame).slice(0, 40), rest);
    tab.close();
  }
  assert.equal(place.problems, []);
});

test('a packet that says a name twice is not taken, wherever it says it: its connection is cut', async () => {
  const twice = [
    '42["status",{"sessionId":"a","sessionId":"b"}]',
    '421["ping",{"a":[{"b":1,"\\u0062":2}]}]',
    '451-["ping",{"a":1,"a":{"_placeholder":true,"num":0}}]',
    '40{"invocation":"a","invocation":"b"}',
  ];
  for (const frame of twice) {
    const tab = await greeted();
    wireOf(tab).send(frame);
    await until(frame, () => isCut(tab));
  }
  const tab = await greeted();
  wireOf(tab).send('421["ping",{"a":"{\\"b\\":1,\\"b\\":2}","b":{"a":1},"c":[{"a":1},{"a":2}]}]');
  await until('names of different objects, and of texts, are fine', () => tab.said('pong').length > 0);
  tab.close();
});

test('numbers that cannot be kept are refused with their place', async () => {
  const tab = await greeted();
  for (const number of ['1e999', '9007199254740993']) {
    const heard = new Promise<string>((resolve) => {
      const listen = (text: unknown) => {
        if (!String(text).startsWith('4377')) return;
        wireOf(tab).off('message', listen);
        resolve(String(text));
      };
      wireOf(tab).on('message', listen);
    });
    wireOf(tab).send(`4277["tool_result",{"toolCallId":"a","result":{"x":[${number}]}}]`);
    assert.match(await heard, /The payload has a number [^"]*, at \/result\/x\/0/, number);
  }
});

test('binary parts count as the JSON that they would be', async () => {
  const tab = await greeted();
  const answer = await tab.ask('tool_result', { toolCallId: 'c', result: Buffer.from('x') });
  assert.equal(answer, { success: false, error: 'No such pending call' });
});

test('a packet that is too large ends its connection', async () => {
  for (const transports of [['websocket'], ['polling']]) {
    const tab = await greeted({ transports });
    tab.socket.emit('tool_result', { toolCallId: 'c', result: 'x'.repeat(SERVER_LIMITS.socketMessageBytes) });
    await until(`cut off: ${transports}`, () => isCut(tab));
  }
});

test('a flood ends its connection; what everybody sends does not', async () => {
  const tab = await greeted();
  for (let sent = 0; sent < SERVER_LIMITS.socketMessagesAtOnce / 2; sent++) tab.socket.emit('ping');
  await until('all answered', () => tab.said('pong').length === SERVER_LIMITS.socketMessagesAtOnce / 2);
  // As many again for as long as it takes: what is sent slowly is no flood.
  await until('cut off', () => {
    for (let sent = 0; sent < SERVER_LIMITS.socketMessagesAtOnce * 3; sent++) wireOf(tab).send('42["ping"]');
    return isCut(tab);
  });
});

test('large messages count as many: few of them are a flood, over each transport', async () => {
  const payload = { text: 'x'.repeat(100_000) };
  const each = 1 + JSON.stringify(payload).length / SERVER_LIMITS.socketShareBytes;
  const allowed = Math.floor(SERVER_LIMITS.socketMessagesAtOnce / each);
  for (const transports of [['websocket'], ['polling']]) {
    const tab = await greeted({ transports });
    for (let sent = 0; sent < allowed / 2; sent++) tab.socket.emit('ping', payload);
    await until(`answered: ${transports}`, () => tab.said('pong').length >= Math.floor(allowed / 2));
    await until(`cut off: ${transports}`, () => {
      for (let sent = 0; sent < allowed * 2 && tab.socket.connected; sent++) tab.socket.emit('ping', payload);
      return isCut(tab);
    });
  }
});

test('a connection belongs to one user: asking again ends it', async () => {
  const tab = await greeted();
  wireOf(tab).send(`40${JSON.stringify(auth)}`);
  await until('cut off', () => isCut(tab));
});

test('two requests to be let in on one connection, sent at once, count for none', async () => {
  const tab = open({ autoConnect: false });
  tab.socket.connect();
  tab.socket.io.engine.once('open', () => {
    for (let sent = 0; sent < 3; sent++) wireOf(tab).send(`40${JSON.stringify(auth)}`);
  });
  await until('cut off', () => isCut(tab) || tab.states.includes('refused'));
});

test('a client that does not read is cut off before it costs much', async () => {
  const tab = await greeted();
  wireOf(tab)._socket.pause();
  const text = 'x'.repeat(60_000);
  const heard = () => place.agent.room.tell(session, 'reasoning', { sessionId: session, reasoning: text });
  // More than the buffers of the system hold.
  for (let told = 0; told < 400; told++) {
    await heard();
    if (told % 20 === 0) await new Promise(setImmediate);
  }
  wireOf(tab)._socket.resume();
  await until('cut off', () => isCut(tab));
  assert.ok(tab.said('reasoning').length < 400);
});

/** What comes back for these bytes until it holds, in one piece or byte by byte. */
function raw(bytes: string, holds: (said: string) => boolean, { step = bytes.length } = {}): Promise<string> {
  const { hostname, port } = new URL(place.url);
  return new Promise((resolve, reject) => {
    const wire = dial({ port: Number(port), host: hostname, noDelay: true });
    let said = '';
    wire.on('data', (some) => {
      said += some;
      if (holds(said)) wire.destroy();
    });
    wire.on('error', reject);
    wire.on('close', () => resolve(said));
    for (let at = 0; at < bytes.length; at += step) wire.write(bytes.slice(at, at + step));
  });
}

const answered = (count: number) => (said: string) => said.split('HTTP/1.1 404').length === count + 1;

test('a client that asks for HTTP/2 with every request is answered as if it had not', async () => {
  const head = 'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
  const get = `GET /nowhere HTTP/1.1\r\n${head}\r\n`;
  const post = `POST /nowhere HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`;
  for (const bytes of [get, post]) assert.ok(answered(1)(await raw(bytes, answered(1), { step: 40 })));
  const many = [get, post, 'GET /plain HTTP/1.1\r\nHost: x\r\n\r\n', post, get, get].join('');
  assert.ok(answered(6)(await raw(many, answered(6))));
});

test('a WebSocket that is asked for before earlier requests are answered waits for them', async () => {
  const plain = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
  const upgrade = `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const said = await raw(plain + plain + upgrade, (text) => /101 Switching.*0\{"sid"/s.test(text));
  assert.match(said, /404.*404.*101 Switching/s);
});

test('a WebSocket at another address is answered like a request', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x',
  };
  assert.is((await ask(`${place.url}/elsewhere`, { headers })).status, 404);
  assert.is((await ask(`${place.url}/socket.iox/`, { headers })).status, 404);
});

test('who does not say who it is, is cut off', async () => void (await silent));

test.run();
