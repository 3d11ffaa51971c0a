// A machine of your own with a timer and a call: a locker is opened by a service, and shuts itself after a minute.

import {
  compileMachine,
  createEngine,
  machineConversation,
  memorySnapshots,
  SimulatedClock,
  takeTurn,
  wakeSession,
} from 'twinline';
import { createMachine } from 'xstate';

const locker = createMachine({
  id: 'locker',
  initial: 'shut',
  states: {
    shut: { on: { PAID: 'opening' } },
    opening: { invoke: { id: 'open', src: 'locker.open', onDone: 'open', onError: 'shut' } },
    open: { after: { 60000: 'shut' } },
  },
});

// Where the clock is left out, the time is the system's.
const clock = new SimulatedClock();
const services = {
  // Every try of one call has the same key, also after a crash: a real lock opens once per key.
  'locker.open': async (_input, { idempotencyKey }) => {
    console.log('the lock is asked, with a key:', idempotencyKey !== '');
    return {};
  },
};
const conversation = {
  ...machineConversation(compileMachine(locker), { calls: { open: { timeoutMs: 2_000, retries: 1 } } }),
  render: ({ state }) => ({ kind: /** @type {const} */ ('continue'), text: `The locker is ${state}.` }),
};
const engine = createEngine({ store: memorySnapshots({ clock }), clock, services, conversations: [conversation] });
const take = async (decision) =>
  console.log((await takeTurn(engine, { key: 'station', decide: () => decision })).reply?.text);

await take({ kind: 'begin', conversation: 'locker' });
await take({ kind: 'input', input: { type: 'PAID' } });
// Timers are data of the store: any process may look for what is due, and wake it.
await clock.advance(60_000);
for (const key of await engine.store.due(clock.now(), 10)) await wakeSession(engine, key);
await take({ kind: 'input', input: { type: 'KNOCK' } });

// Prints:
//   The locker is shut.
//   the lock is asked, with a key: true
//   The locker is open.
//   The locker is shut.
