// The stream of the inspector over HTTP: who may read it, what it says in Stately's words, and what it never holds.

import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { createMachine } from 'xstate';
import { withoutTimes } from '../../support/times.ts';
import { until } from '../../support/until.ts';
import { type Reading, readEvents } from '../support/event-reader.ts';
import { TOKEN } from '../support/production.ts';
import { DIAL, type Served, sharedServer, withServer } from '../support/serve.ts';

const PIN = '58213';
const test = suite('inspector stream');
const server = sharedServer(test, {});
const readings: Reading[] = [];
test.after.each(async () => {
  for (const reading of readings.splice(0)) await reading.close();
});

type Message = StatelyInspectionEvent & { twinline?: { label: string; state: string; reply?: string } };

/** Watches, and what was seen of one session. */
async function watching(from: Served = server(), headers = {}) {
  const reading = await readEvents(`${from.url}/inspector/stream`, headers);
  readings.push(reading);
  assert.is(reading.status, 200);
  const messages = () => reading.events() as unknown as Message[];
  const of = (label: string) => messages().filter(({ twinline }) => twinline?.label === label);
  return { ...reading, messages, of };
}

const STATES = ['preMenu', 'accountMenu', 'fullName', 'newPin', 'repeatPin', 'created'];

async function register(to: Served, sessionId: string, phoneNumber: string): Promise<void> {
  const typed = ['2', '2', 'Tariro Moyo', PIN, PIN];
  for (let count = 0; count <= typed.length; count++)
    await to.ussd({ ...DIAL, sessionId, phoneNumber, text: typed.slice(0, count).join('*') });
}

test('a dialogue is told state by state, with no PIN and no whole number', async () => {
  const seen = await watching();
  await register(server(), 'told-260977000111', '+260977000111');
  const label = 'told-26097•••••11';
  await seen.until(() => seen.of(label).some(({ twinline }) => twinline!.state === 'created'));
  const snapshots = seen.of(label).filter(({ type }) => type === '@xstate.snapshot');
  assert.equal(
    snapshots.map(({ twinline }) => twinline!.state),
    STATES,
  );
  const text = withoutTimes(JSON.stringify(seen.blocks));
  for (const hidden of [PIN, '260977000111', '0977000111']) assert.not.ok(text.includes(hidden), hidden);
});

test('sessions that live already are told first', async () => {
  await server().ussd({ ...DIAL, sessionId: 'early', phoneNumber: '+260977000222' });
  const seen = await watching();
  await seen.until(() => seen.of('early').length > 0);
  const [actor] = seen.of('early');
  assert.is(actor!.type, '@xstate.actor');
  assert.is(actor!.twinline!.state, 'preMenu');
});

test("Stately's own receiver reads the socket: actors with machines that XState takes, events, snapshots", async () => {
  const receiver = createWebSocketReceiver({ server: `${server().url.replace('http', 'ws')}/inspector/stately` });
  const got: StatelyInspectionEvent[] = [];
  const socket = receiver.subscribe((event) => void got.push(event));
  const has = (holds: (event: StatelyInspectionEvent) => boolean) => until('an event', () => got.find(holds));
  const first = { ...DIAL, sessionId: 'stately', phoneNumber: '+260977000333' };
  await server().ussd(first);
  const actor = await has((event) => event.type === '@xstate.actor' && event.name === 'main stately');
  assert.ok(actor.type === '@xstate.actor' && createMachine(JSON.parse(actor.definition!)).states.preMenu);
  await server().ussd({ ...first, text: '2' });
  const ours = (event: StatelyInspectionEvent) => event.sessionId === actor.sessionId;
  const event = await has((one) => ours(one) && one.type === '@xstate.event' && one.event.type === 'opt.account');
  assert.type(event._version, 'string');
  const snapshot = await has(
    (one) =>
      ours(one) && one.type === '@xstate.snapshot' && (one.snapshot as { value?: unknown }).value === 'accountMenu',
  );
  assert.is((snapshot as { snapshot: { status: string } }).snapshot.status, 'active');
  socket.unsubscribe();
});

/** The status that a WebSocket is refused with; 101 when it is not. */
const upgraded = (url: string, headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_req, res) => resolve(res.statusCode!));
    socket.on('error', reject);
  });

const ROUTES = ['', '/stream', '/machines', '/machines/main.svg', '/stately'].map((path) => `/inspector${path}`);

test('names of others for this machine are turned away on every route, and pages of other sites on the socket, too', async () => {
  const { ask, url } = server();
  for (const route of ROUTES) assert.is((await ask(route, { headers: { host: 'evil.example' } })).status, 404, route);
  const socket = `${url.replace('http', 'ws')}/inspector/stately`;
  assert.is(await upgraded(socket, { origin: 'https://evil.example' }), 400);
  assert.is(await upgraded(socket, { host: 'evil.example' }), 404);
  assert.is(await upgraded(socket, { origin: url }), 101);
});

test('with an OPERATOR_TOKEN only who has it watches, over HTTP and by socket', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN } }, async (guarded) => {
    const bearer = { authorization: `Bearer ${TOKEN}` };
    for (const route of ROUTES) assert.is((await guarded.ask(route)).status, 401, route);
    const socket = `${guarded.url.replace('http', 'ws')}/inspector/stately`;
    assert.is(await upgraded(socket, {}), 401);
    assert.is(await upgraded(socket, bearer), 101);
    const seen = await watching(guarded, bearer);
    await guarded.ussd({ ...DIAL, sessionId: 'guarded' });
    await seen.until(() => seen.of('guarded').length > 0);
  }));

test('who takes nothing from the stream delays no turn', async () => {
  const slow = await watching();
  slow.pause();
  const fast = await watching();
  const dial = { ...DIAL, sessionId: 'quick', phoneNumber: '+260977000444' };
  let text = '';
  for (let turn = 0; turn < 100; turn++) {
    assert.match(await server().ussd({ ...dial, text }), /^CON /);
    text = turn % 2 ? '' : '1';
    if (turn % 2) await server().ussd({ ...dial, sessionId: `quick-${turn}`, text: '' });
  }
  await fast.until(() => fast.of('quick-99').length > 0);
});

test.run();
