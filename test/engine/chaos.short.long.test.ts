// Everything at once, seeded: duplicates, several processes, crashes, lost acknowledgements, slow services. One promise:
// what a caller asked for happens once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, createMachine } from 'xstate';
import { machineConversation } from '../../lib/engine/conversation.ts';
import type { Engine } from '../../lib/engine/engine.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import { takeTurn, wakeSession } from '../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Json, SnapshotStore } from '../../lib/store/store.ts';
import { numbersFrom } from '../support/random.ts';
import { KEY, place, settled } from './support.ts';

const test = suite('chaos');
const WALKS = 100;
const PURCHASES = 6;

/**
 * How a retry is known. `numbers`: the caller numbers what it sends and the door refuses older ones, so processes may
 * crash and come back late. `keys`: only by the turn key, with a machine that takes events at any time.
 */
type Door = 'numbers' | 'keys';

/** Every purchase is charged, then delivered; both are calls. A timer ticks meanwhile. */
function shop(door: Door) {
  const input = ({ context }: { context: { item: number } }) => ({ item: context.item });
  const call = (id: string, onDone: unknown) => ({ invoke: { id, src: id, input, onDone, onError: 'failed' } });
  const plain = machineConversation(
    compileMachine(
      createMachine({
        id: 'shop',
        initial: 'idle',
        context: { item: 0, bought: [], ticks: 0 },
        after: {
          700: { actions: assign({ ticks: ({ context }: { context: { ticks: number } }) => context.ticks + 1 }) },
        },
        states: {
          idle: { on: { buy: { target: 'charging', actions: assign({ item: ({ event }) => event.item }) } } },
          charging: call('charge', 'delivering'),
          delivering: call('deliver', {
            target: 'idle',
            actions: assign({ bought: ({ context }) => [...context.bought, context.item] }),
          }),
          failed: {},
        },
      } as never),
    ),
    { calls: { charge: { timeoutMs: 30_000 }, deliver: { timeoutMs: 30_000 } } },
  );
  return {
    ...plain,
    waitText: () => 'wait',
    read: (...[view, ...rest]: Parameters<typeof plain.read>) =>
      view.waiting && door === 'numbers' ? undefined : plain.read(view, ...rest),
  };
}

interface Walk {
  readonly bought: Json;
  readonly state: unknown;
  /** What each service did, by what it was asked to do. */
  readonly effects: readonly string[];
  readonly faults: number;
}

async function walk(kind: Door, seed: number): Promise<Walk> {
  const random = numbersFrom(seed);
  const chance = (probability: number) => random() < probability;
  const done = new Map<string, string>();
  let faults = 0;
  const acting =
    (name: string): Service =>
    async ({ item }, { idempotencyKey }) => {
      await here.clock.wait(Math.floor(random() ** 3 * 20_000));
      done.set(`${idempotencyKey} ${name} ${item}`, `${name} ${item}`);
      return null;
    };
  const here = place(shop(kind), {
    services: { charge: acting('charge'), deliver: acting('deliver') },
    ttlSeconds: 86_400,
  });
  const flaky: SnapshotStore = {
    ...here.store,
    load: async (key) => {
      const found = here.store.load(key);
      if (chance(0.3)) await settled();
      return found;
    },
    commit: async (...args) => {
      if (chance(0.3)) await settled();
      if (chance(0.06)) throw fault('before');
      const result = await here.store.commit(...args);
      if (chance(0.06)) throw fault('after');
      return result;
    },
  };
  const fault = (when: string) => {
    faults++;
    return new TwinlineError('ERR_STORE', `${when} the write`);
  };
  // A process that has crashed waits for ever; what it had begun may still end, as in one that was only very slow.
  const process = () => {
    let isAlive = true;
    const clock = {
      now: here.clock.now,
      monotonic: here.clock.monotonic,
      wait: (ms: number, signal?: AbortSignal) => (isAlive ? here.clock.wait(ms, signal) : new Promise<void>(() => {})),
    };
    const crash = () => {
      isAlive = false;
      faults++;
    };
    return { engine: here.engine({ store: flaky, clock }), crash };
  };
  const processes = [process(), process(), process()];
  const any = () => Math.floor(random() * processes.length);

  const send = (engine: Engine, number: number, item: number) =>
    takeTurn(engine, {
      key: KEY,
      turnKey: `k${number}`,
      decide: (seen) => {
        const door = { number };
        if (seen.kind !== 'live') return { kind: 'begin', conversation: 'shop', door };
        if (kind === 'numbers' && (seen.door as typeof door).number >= number) return { kind: 'repeat' };
        return { kind: 'input', input: { type: item ? 'buy' : 'look', item }, door };
      },
    });
  const request = async (number: number, item: number): Promise<string> => {
    for (;;) {
      const turns = Array.from({ length: chance(0.4) ? 3 : 1 }, () => send(processes[any()]!.engine, number, item));
      // Without numbers, nothing old may still be on its way when the next request is sent.
      const settling = kind === 'keys' ? Promise.allSettled(turns) : Promise.resolve();
      const answered = settling.then(() => Promise.any(turns)).catch(() => undefined);
      for (const turn of turns) turn.catch(() => {});
      let result: Awaited<typeof answered> | 'none' = 'none';
      void answered.then((found) => {
        result = found;
      });
      for (let steps = 0; result === 'none' && (kind === 'keys' || steps < 40); steps++) {
        await here.clock.advance(Math.floor(random() * 800));
        if (kind === 'numbers' && chance(0.03)) {
          const at = any();
          processes[at]!.crash();
          processes[at] = process();
        }
        if (chance(0.2)) void sweep();
      }
      const found = result as Awaited<typeof answered> | 'none';
      if (found && found !== 'none' && found.kind === 'replied') return found.reply.text;
    }
  };
  const sweep = async () => {
    for (const key of await here.store.due(here.clock.now(), 10))
      await wakeSession(processes[any()]!.engine, key).catch(() => {});
  };

  let number = 0;
  await request(++number, 0);
  for (let item = 1; item <= PURCHASES; item++)
    for (let text = await request(++number, item); text === 'wait'; ) text = await request(++number, 0);
  const { context, state } = here.record().rest;
  return { bought: context.bought!, state, effects: [...done.values()].sort(), faults };
}

for (const kind of ['numbers', 'keys'] as const)
  test(`with ${kind}: in ${WALKS} walks through faults and races every purchase is charged and delivered once, in order`, async () => {
    const items = Array.from({ length: PURCHASES }, (_, i) => i + 1);
    const effects = [...items.map((item) => `charge ${item}`), ...items.map((item) => `deliver ${item}`)].sort();
    let faults = 0;
    for (let seed = 1; seed <= WALKS; seed++) {
      const found = await walk(kind, seed);
      assert.equal(found, { bought: items, state: 'idle', effects, faults: found.faults }, `seed ${seed}`);
      faults += found.faults;
    }
    assert.ok(faults > WALKS, `${faults} faults`);
  });

test.run();
