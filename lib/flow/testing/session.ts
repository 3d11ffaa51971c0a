// One session of a flow test: every step is a turn of the real engine on a test clock, stored and read back.

import { createHash } from 'node:crypto';
import { type Clock, SimulatedClock } from '../../clock.ts';
import type { Conversation, Reply } from '../../engine/conversation.ts';
import { createEngine, type Fact } from '../../engine/engine.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import { type CallerMemory, type MemoryOwner, memoryOfProcess, memoryServices } from '../../engine/memory/memory.ts';
import { completeCall } from '../../engine/session/complete.ts';
import { type Decision, takeTurn } from '../../engine/session/turn.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { parseKeyring } from '../../keyring.ts';
import { memorySnapshots } from '../../store/memory/index.ts';
import { durationMs } from '../format/way.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { asksForSecret } from '../run/scope.ts';
import { listServiceUses } from '../screens/kinds.ts';
import type { MarkedFlow } from './coverage.ts';
import { type FlowTestSetup, TEST_NOW, TEST_PHONE } from './file.ts';
import { type MockedServices, mockServices } from './mock-services.ts';

/** The result of a step. */
export interface TestStepResult {
  readonly reply: Reply;
  /** The same with private values masked; undefined if there are none. */
  readonly masked: string | undefined;
  /** Path of the screen. */
  readonly screen: string;
  readonly tracks: readonly string[];
  /** What is kept of the caller then, by variable. */
  readonly memory: JsonObject;
  /** Unanswered calls, in words. */
  readonly unanswered: readonly string[];
}

/** When a step is taken. */
export interface StepTime {
  /** Milliseconds since 1970. */
  readonly at?: number | undefined;
  /** Milliseconds since the last reply. */
  readonly afterMs?: number | undefined;
}

/** A session under test. */
export interface TestSession {
  /** Takes a turn, then; the first one dials, and each with `dial`. Rejects like the engine. */
  take(step: { readonly in: string; readonly dial?: string | undefined }, when?: StepTime): Promise<TestStepResult>;
  /** An input as shown in messages; hidden when a secret is asked for. */
  showInput(input: string): string;
  listUnused: MockedServices['listUnused'];
}

// Nothing outlives a test.
const TEST_KEY = createHash('sha256').update('a flow test').digest('hex');

/** A conversation before its dial. */
export function openTestSession(compiledFlow: CompiledFlow, markedFlow: MarkedFlow, setup: FlowTestSetup): TestSession {
  const clock = drivenClock(Date.parse(setup.now ?? TEST_NOW));
  markedFlow.setClock(clock);
  const store = memorySnapshots({ clock });
  const memory = memoryOfProcess(clock);
  const owner = { phoneNumber: setup.phone ?? TEST_PHONE, conversation: compiledFlow.id };
  let dials = 1;
  let screen = '';
  let calling = '';
  let tracks: string[] = [];
  let masked: string | undefined;
  const calls = [...compiledFlow.screens.values()].flatMap(({ screen: one }) => listServiceUses(one));
  const mocks = mockServices(setup.services, {
    clock,
    names: [...new Set(calls.map(({ service }) => service))],
    caller: () => calling,
    complete: (url, output) => completeCall(engine, url, { ok: true, output }),
  });
  const hasCallbacks = calls.some(({ isAnsweredLater }) => isAnsweredLater);
  const conversation = noteCalls(markedFlow.conversation, (id) => {
    calling = id;
  });
  const onFact = (fact: Fact) => {
    if (!markedFlow.note(fact) && fact.name === 'track') tracks.push((fact.params as { name: string }).name);
  };
  const engine = createEngine({
    store,
    clock,
    onFact,
    conversations: [conversation],
    services: { ...memoryServices(memory), ...mocks.services },
    memory,
    ...(hasCallbacks && { keyring: parseKeyring(TEST_KEY), callbackUrl: (token: string) => token }),
    inspector: {
      isWatched: () => compiledFlow.isPrivate === true,
      emit: ({ turn }) => {
        masked = turn?.reply;
      },
    },
    onTurn: ({ rest }) => {
      screen = toPath(rest.state);
    },
  });

  const take: TestSession['take'] = async ({ in: input, dial }, { at, afterMs } = {}) => {
    if (at !== undefined) clock.setTime(at);
    if (afterMs !== undefined) await clock.drive(clock.wait(afterMs));
    if (screen === '') await fillMemory(compiledFlow, setup, { memory, owner });
    else if (dial !== undefined) {
      clock.setTime(clock.now() + durationMs(dial)!);
      dials++;
      screen = '';
    }
    const key = `test${dials === 1 ? '' : dials}`;
    const decision: Decision =
      screen === '' ? { kind: 'begin', ...readDialInput(compiledFlow, setup, key) } : { kind: 'input', input };
    const result = await clock.drive(takeTurn(engine, { key, decide: () => decision }));
    if (result.kind !== 'replied')
      throw new TwinlineError('ERR_INPUT', `The session does not go on: ${result.reason}.`);
    // By now a callback may have led on.
    const shown = result.move ? toPath(result.move.to) : screen;
    const { values } = await memory.recall(owner);
    const unanswered = mocks.listUnanswered();
    const step = { reply: result.reply, masked, screen: shown, tracks, memory: values, unanswered };
    tracks = [];
    return step;
  };

  return {
    take,
    showInput: (input) => (asksForSecret(compiledFlow.screens.get(screen)) ? '****' : JSON.stringify(input)),
    listUnused: mocks.listUnused,
  };
}

// Policies are read right before a service is called.
function noteCalls(conversation: Conversation, note: (screen: string) => void): Conversation {
  const { callPolicy, taskPolicy } = conversation;
  const noted =
    <T>(policy: (id: string) => T) =>
    (id: string): T => {
      note(id.replace(/\.after\.\d+$/, ''));
      return policy(id);
    };
  return { ...conversation, callPolicy: noted(callPolicy), ...(taskPolicy && { taskPolicy: noted(taskPolicy) }) };
}

// The data that the USSD gateway passes to a flow.
function readDialInput({ flow }: CompiledFlow, { phone = TEST_PHONE, given }: FlowTestSetup, sessionId: string) {
  const door = { sessionId, phoneNumber: phone, serviceCode: '*100#' };
  return { conversation: flow.flow, door, input: { ...door, msisdn: phone, ...given } };
}

interface TestMemory {
  readonly memory: CallerMemory;
  readonly owner: MemoryOwner;
}

async function fillMemory({ keeping }: CompiledFlow, setup: FlowTestSetup, { memory, owner }: TestMemory) {
  const values = Object.entries(setup.memory ?? {}).map(
    ([name, value]) => [name, { value, ms: keeping!.lifetime(name) }] as const,
  );
  if (values.length) await memory.remember(owner, { values: Object.fromEntries(values) });
}

export interface DrivenClock extends Clock {
  /** Awaits `work` while advancing the clock as far as it waits. Throws if it waits for anything but the clock. */
  drive<T>(work: Promise<T>): Promise<T>;
  /** Sets the time of day. */
  setTime(ms: number): void;
}

const IDLE_ROUNDS = 1_000;

/** A simulated clock that advances whenever something waits on it. */
/** @default `start` that of simulated clocks */
export function drivenClock(start?: number): DrivenClock {
  const clock = new SimulatedClock(start);
  const waits = new Set<{ readonly at: number }>();
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    setTime: (ms) => clock.jump(ms - clock.now()),
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
        // By then, everything that needs no time has run.
        await new Promise(setImmediate);
        if (isDone) return work;
        if (waits.size) idle = 0;
        if (waits.size) await clock.advance(Math.max(0, Math.min(...[...waits].map(({ at }) => at)) - clock.now()));
      }
      throw new Error('A turn of a flow test waits for something outside of the test.');
    },
  };
}
