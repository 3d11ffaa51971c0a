// One conversation of a flow test: every step is a turn of the real engine on a test clock, stored and read back.

import { type Clock, SimulatedClock } from '../../clock.ts';
import type { Reply } from '../../engine/conversation.ts';
import { createEngine, type Fact } from '../../engine/engine.ts';
import { type Decision, takeTurn } from '../../engine/session/turn.ts';
import { TwinlineError } from '../../errors.ts';
import { memorySnapshots } from '../../store/memory/index.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { pathOf } from '../run/node.ts';
import type { MarkedFlow } from './coverage.ts';
import { type FlowTestSetup, TEST_PHONE } from './file.ts';
import { asksForSecret } from './mask.ts';
import { type MockedServices, mockedServices } from './services.ts';

/** What a step led to. */
export interface Taken {
  readonly reply: Reply;
  /** Path of the screen. */
  readonly screen: string;
  readonly tracks: readonly string[];
  /** Calls that had no answer, in words. */
  readonly unanswered: readonly string[];
}

export interface TestSession {
  /** Takes a turn; the first one dials. Rejects as the engine does. */
  take(input: string): Promise<Taken>;
  /** How messages show an input that is typed now: not at all where a secret is asked for. */
  shown(input: string): string;
  unused: MockedServices['unused'];
}

const KEY = 'test';

/** A conversation that has not been dialled yet. */
export function testSession(compiled: CompiledFlow, marked: MarkedFlow, setup: FlowTestSetup): TestSession {
  const clock = drivenClock();
  const store = memorySnapshots({ clock });
  let screen = '';
  let calling = '';
  let tracks: string[] = [];
  const calls = [...compiled.screens.values()].flatMap(({ screen: one }) => (one.type === 'call' ? [one] : []));
  const mocks = mockedServices(setup.services, {
    clock,
    names: [...new Set(calls.map(({ service }) => service))],
    caller: () => calling,
  });
  // Asked for right before a call is made.
  const callPolicy = (id: string) => {
    calling = id;
    return marked.conversation.callPolicy(id);
  };
  const onFact = (fact: Fact) => {
    if (!marked.note(fact) && fact.name === 'track') tracks.push((fact.params as { name: string }).name);
  };
  const engine = createEngine({
    store,
    clock,
    onFact,
    conversations: [{ ...marked.conversation, callPolicy }],
    services: mocks.services,
    onTurn: ({ rest }) => {
      screen = pathOf(rest.state);
    },
  });

  const take = async (input: string): Promise<Taken> => {
    const decision: Decision = screen === '' ? { kind: 'begin', ...dial(compiled, setup) } : { kind: 'input', input };
    const result = await clock.drive(takeTurn(engine, { key: KEY, decide: () => decision }));
    if (result.kind !== 'replied')
      throw new TwinlineError('ERR_INPUT', `The session does not go on: ${result.reason}.`);
    const taken = { reply: result.reply, screen, tracks, unanswered: mocks.unanswered() };
    tracks = [];
    return taken;
  };

  return {
    take,
    shown: (input) => (asksForSecret(compiled.screens.get(screen)) ? '****' : JSON.stringify(input)),
    unused: mocks.unused,
  };
}

// What the telecom door gives a flow.
function dial({ flow }: CompiledFlow, { phone = TEST_PHONE, given }: FlowTestSetup) {
  const door = { sessionId: KEY, phoneNumber: phone, serviceCode: '*100#' };
  return { conversation: flow.flow, door, input: { ...door, msisdn: phone, ...given } };
}

export interface DrivenClock extends Clock {
  /** The outcome of `work`, with as much time passing as it waits for. Throws when it waits for something else. */
  drive<T>(work: Promise<T>): Promise<T>;
}

const IDLE_ROUNDS = 1_000;

/** A simulated clock that is moved by what waits on it. */
export function drivenClock(): DrivenClock {
  const clock = new SimulatedClock();
  const waits = new Set<{ readonly at: number }>();
  return {
    now: clock.now,
    wait: async (ms, signal) => {
      const entry = { at: clock.now() + ms };
      waits.add(entry);
      await clock.wait(ms, signal);
      waits.delete(entry);
    },
    drive: async (work) => {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      work.then(done, done);
      for (let idle = 0; idle < IDLE_ROUNDS; idle++) {
        // Everything that needs no time has run once this comes.
        await new Promise(setImmediate);
        if (isDone) return work;
        if (waits.size) idle = 0;
        if (waits.size) await clock.advance(Math.max(0, Math.min(...[...waits].map(({ at }) => at)) - clock.now()));
      }
      throw new Error('A turn of a flow test waits for something outside of the test.');
    },
  };
}
