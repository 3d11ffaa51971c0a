// The stream of an engine for those who use the library alone: Stately's own receiver reads it, and it costs nothing while nobody does.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type WebSocket, WebSocketServer } from 'ws';
import { createMachine } from 'xstate';
import type { InspectionEvent } from '../../lib/engine/conversation.ts';
import { createEngine, type EngineOptions } from '../../lib/engine/engine.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import { inspectEngine } from '../../lib/inspection/inspect.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { until } from '../support/until.ts';

const test = suite('an engine that is inspected');

const light = createMachine({
  id: 'light',
  initial: 'red',
  context: { owner: 'Mukamuri' },
  states: { red: { on: { GO: 'green' } }, green: {} },
});

function newEngine(options: Partial<EngineOptions> = {}) {
  const engine = createEngine({ store: memorySnapshots(), conversations: [machineConversation(light)], ...options });
  const begin = (key: string) => takeTurn(engine, { key, decide: () => ({ kind: 'begin', conversation: 'light' }) });
  const go = (key: string) => takeTurn(engine, { key, decide: () => ({ kind: 'input', input: { type: 'GO' } }) });
  return { engine, begin, go };
}

test("Stately's receiver gets the sessions that live, machines that XState takes, events and states; no value that is not shown", async () => {
  const { engine, begin, go } = newEngine();
  await begin('+260971234567');
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(sockets, 'listening');
  const left = new AbortController();
  sockets.on('connection', async (socket: WebSocket) => {
    for await (const message of inspectEngine(engine, { signal: left.signal })) socket.send(message);
  });
  const { port } = sockets.address() as AddressInfo;
  const got: StatelyInspectionEvent[] = [];
  const receiver = createWebSocketReceiver({ server: `ws://127.0.0.1:${port}` });
  const listening = receiver.subscribe((event) => void got.push(event));
  await until('the session', () => got.length > 0);
  await go('+260971234567');
  await begin('door/2');
  await until('the other', () => got.length === 6);
  assert.equal(
    got.map((event) => [event.type, 'name' in event ? event.name : (event as { event: { type: string } }).event.type]),
    [
      ['@xstate.actor', 'light +2609••••••67'],
      ['@xstate.event', 'GO'],
      ['@xstate.snapshot', 'GO'],
      ['@xstate.actor', 'light 2'],
      ['@xstate.event', 'xstate.init'],
      ['@xstate.snapshot', 'xstate.init'],
    ],
  );
  const [actor, , snapshot] = got as unknown as { definition: string; snapshot: { value: string; context: object } }[];
  assert.ok(createMachine(JSON.parse(actor!.definition)).states.green);
  assert.equal([snapshot!.snapshot.value, snapshot!.snapshot.context], ['green', { owner: '****' }]);
  assert.not.match(JSON.stringify(got), /Mukamuri|260971234567/);
  listening.unsubscribe();
  left.abort();
  for (const client of sockets.clients) client.terminate();
  sockets.close();
});

test('an engine that nobody inspects is asked by no turn; one whose reader has left records nothing, and another may come', async () => {
  const { engine, begin } = newEngine();
  await begin('a');
  assert.is(engine.inspector, undefined);
  for (const _ of [1, 2])
    for await (const message of inspectEngine(engine)) {
      assert.match(message, '"@xstate.actor"');
      break;
    }
  assert.is(
    await inspectEngine(engine, { signal: AbortSignal.abort() })
      .next()
      .then(({ done }) => done),
    true,
  );
});

test('an inspector of its own is told as before', async () => {
  const own: InspectionEvent[] = [];
  const { engine, begin } = newEngine({ inspector: { isWatched: () => true, emit: (event) => own.push(event) } });
  await begin('a');
  for await (const _ of inspectEngine(engine)) break;
  await begin('b');
  assert.equal(
    own.map(({ key }) => key),
    ['a', 'b'],
  );
});

test.run();
