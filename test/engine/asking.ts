// A machine that asks a service, and conversations of it that wait as a menu does.

import * as assert from 'uvu/assert';
import { type AnyStateMachine, assign, createMachine } from 'xstate';
import type { Conversation } from '../../lib/engine/conversation.ts';
import type { Engine } from '../../lib/engine/engine.ts';
import { type MachineOptions, machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import type { Json } from '../../lib/json/json.ts';
import { begin, type Place, place, type Said, say, settled, textOf } from './support.ts';

/** As a menu does: says `wait` while a call goes on, and takes nothing before its outcome was shown. */
export function patient(machine: AnyStateMachine, options: MachineOptions = {}): Conversation {
  const plain = machineConversation(compileMachine(machine), options);
  return {
    ...plain,
    takesWhileCalling: false,
    waitText: () => 'wait',
    read: (view, input, prove) => (view.waiting ? undefined : plain.read(view, input, prove)),
  };
}

const keep = assign({ got: ({ event }: { event: unknown }) => (event as { output: Json }).output });
const keepError = assign({ got: ({ event }: { event: unknown }) => (event as { error: Json }).error });

/** Asks once with `ask`, again and again; `n` counts how often, and goes along with what else the service is given. */
export const asking = (given: object = {}) =>
  createMachine({
    id: 'asking',
    initial: 'idle',
    context: { got: null, n: 0 },
    states: {
      idle: { on: { ask: 'asked', stop: 'over' } },
      asked: {
        entry: assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 }),
        invoke: {
          id: 'ask',
          src: 'ask',
          input: ({ context }: { context: { n: number } }) => ({ n: context.n, ...given }),
          onDone: { target: 'answered', actions: keep },
          onError: { target: 'failed', actions: keepError },
        },
        on: { stop: 'over' },
      },
      answered: { on: { ask: 'asked', stop: 'over' } },
      failed: { on: { ask: 'asked' } },
      over: { type: 'final' },
    },
  } as never);

export const ASK = { type: 'ask' };
export const MINUTE = 60_000;
/** This policy for the call of {@link asking}. */
export const options = (policy: object): MachineOptions => ({ calls: { ask: policy } });
/** A place for {@link asking} with this service behind it. */
export const withService = (ask: Service, policy: object = {}) =>
  place(patient(asking(), options(policy)), { services: { ask } });

/** A session whose process died a minute ago, while its call went on. */
export async function crash(here: Place, said: Said = { turnKey: 'k1' }): Promise<void> {
  await begin(here.engine());
  void say(here.doomed(), ASK, said);
  await settled();
  await here.clock.advance(MINUTE);
}

/** Asks, and is told to wait while the call goes on. */
export async function askAndWait(here: Place, engine: Engine, told = 'wait'): Promise<void> {
  const turn = textOf(say(engine, ASK));
  await settled();
  await here.clock.advance(8000);
  assert.is(await turn, told);
}
