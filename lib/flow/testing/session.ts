// One session of a flow test: every step is a turn of the real engine on a test clock, stored and read back. Each service
// call takes the first unused answer that matches; no real service is called.

import { createHash } from 'node:crypto';
import { type Clock, SimulatedClock } from '../../clock.ts';
import type { Reply } from '../../engine/conversation.ts';
import { createEngine, type Fact } from '../../engine/engine.ts';
import { toPath } from '../../engine/machine/state-path.ts';
import { type CallerMemory, type MemoryOwner, memoryOfProcess, memoryServices } from '../../engine/memory/memory.ts';
import { isServiceCode, type Service, ServiceError, type Services } from '../../engine/service.ts';
import { completeCall } from '../../engine/session/complete.ts';
import { type Decision, takeTurn } from '../../engine/session/turn.ts';
import { type ErrorCode, TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { parseKeyring } from '../../keyring.ts';
import { memorySnapshots } from '../../store/memory/index.ts';
import { suggest } from '../expression/suggest.ts';
import { pointerTo } from '../format/source.ts';
import { durationMs } from '../format/way.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { asksForSecret } from '../run/scope.ts';
import { listServiceUses } from '../screens/kinds.ts';
import type { MarkedFlow } from './coverage.ts';
import { type FlowTestSetup, type MockAnswer, TEST_NOW, TEST_PHONE } from './file.ts';

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
  // Called right before a service call.
  const callPolicy = (id: string) => {
    calling = id;
    return markedFlow.conversation.callPolicy(id);
  };
  const hasCallbacks = calls.some(({ isAnsweredLater }) => isAnsweredLater);
  const { taskPolicy } = markedFlow.conversation;
  const tasks = taskPolicy && {
    taskPolicy: (id: string) => {
      calling = id.replace(/\.after\.\d+$/, '');
      return taskPolicy(id);
    },
  };
  const onFact = (fact: Fact) => {
    if (!markedFlow.note(fact) && fact.name === 'track') tracks.push((fact.params as { name: string }).name);
  };
  const engine = createEngine({
    store,
    clock,
    onFact,
    conversations: [{ ...markedFlow.conversation, callPolicy, ...tasks }],
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

interface MockedServices {
  readonly services: Services;
  /** Unanswered calls since the last time, in words. */
  listUnanswered(): string[];
  /** Unused answers, as pointers into the test. */
  listUnused(): { readonly pointer: string; readonly message: string }[];
}

interface MockPlace {
  /** Names of the services that the flow calls. */
  readonly names: readonly string[];
  readonly clock: Clock;
  /** The calling screen. */
  caller(): string;
  /** Brings the answer of a call to its callback. */
  complete(url: string, output: Json): Promise<unknown>;
}

/** Works in tests as it does on a server, unless they have answers of it. */
const FORGET = 'caller.forget';

/** Mock services that return `answers`. Messages contain the keys of an input, never its values. */
function mockServices(answers: FlowTestSetup['services'] = {}, place: MockPlace): MockedServices {
  const left = new Map(Object.values(answers).flatMap((list) => list.map((answer) => [answer, answer.times ?? 1])));
  let problems: string[] = [];
  const answerTo =
    (name: string): Service =>
    async (input, { signal, callbackUrl }) => {
      const listed = Object.hasOwn(answers, name) ? answers[name]! : [];
      const answer = listed.find((one) => left.get(one)! > 0 && isPart(one.when ?? {}, input));
      if (!answer) {
        problems.push(describeMissing({ name, input, screen: place.caller() }, listed, left));
        throw new TwinlineError('ERR_SERVICE_UNKNOWN', `The test has no answer of "${name}" left.`);
      }
      left.set(answer, left.get(answer)! - 1);
      if (answer.callback !== undefined) {
        if (callbackUrl === undefined) problems.push(describeUncalled(name, place.caller()));
        else void place.clock.wait(answer.delayMs ?? 0).then(() => place.complete(callbackUrl, answer.callback!));
        return null;
      }
      if (answer.delayMs) await place.clock.wait(answer.delayMs, signal);
      return giveAnswer(name, answer);
    };
  return {
    services: Object.fromEntries(
      place.names.filter((name) => name !== FORGET || answers[FORGET]).map((name) => [name, answerTo(name)]),
    ),
    listUnanswered: () => {
      const unused = problems;
      problems = [];
      return unused;
    },
    listUnused: () =>
      Object.entries(answers).flatMap(([name, list]) =>
        list.flatMap((answer, at) => {
          const rest = left.get(answer)!;
          const pointer = pointerTo('services', name, at);
          return rest ? [{ pointer, message: describeUnused(name, at, { answer, rest, names: place.names }) }] : [];
        }),
      ),
  };
}

/** Answers as a mock says. Throws what it lets a service fail with. */
export function giveAnswer(service: string, { return: value, fail }: MockAnswer): Json {
  if (fail === undefined) return value ?? null;
  const message = `The test lets "${service}" fail.`;
  throw isServiceCode(fail) ? new ServiceError(fail, message) : new TwinlineError(fail as ErrorCode, message);
}

function describeUncalled(name: string, screen: string): string {
  return `Screen "${screen}" calls "${name}" without a callback. Write "return" for "callback", or "answer": "callback" on the screen.`;
}

function describeMissing(
  { name, input, screen }: { name: string; input: JsonObject; screen: string },
  answers: readonly MockAnswer[],
  left: ReadonlyMap<MockAnswer, number>,
): string {
  const keys = Object.keys(input);
  const call = `Screen "${screen}" calls "${name}" ${keys.length ? `with ${keys.join(', ')}` : 'without input'}`;
  if (!answers.length)
    return `${call}, and the test has no answer for it. Add "${name}": [{ "return": … }] to "services".`;
  const open = answers.filter((answer) => left.get(answer)! > 0);
  if (!open.length)
    return `${call}, and all ${answers.length} answers for it have been used. Add one, or "times" to the last.`;
  const reasons = open.map((answer) => {
    const differing = Object.entries(answer.when ?? {}).filter(([key, part]) => !isPart(part, input[key]));
    return `${answers.indexOf(answer) + 1} is for another ${differing.map(([key]) => `"${key}"`).join(' and ')}`;
  });
  return `${call}, and no answer that is left fits: ${reasons.join('; ')}.`;
}

function describeUnused(
  name: string,
  at: number,
  { answer, rest, names }: { answer: MockAnswer; rest: number; names: readonly string[] },
): string {
  if (!names.includes(name)) return `No screen of the flow calls "${name}".${suggest(name, names)}`;
  const times = answer.times ?? 1;
  const usage = times === rest ? 'was not used' : `was used ${times - rest} of ${times} times`;
  return `Answer ${at + 1} of "${name}" ${usage}. Remove it, or add the steps that lead to the call.`;
}

/** Whether `whole` contains every value of `part`: objects may have more keys, anything else must be equal. */
export function isPart(part: Json, whole: Json | undefined): boolean {
  if (part === null || typeof part !== 'object') return part === whole;
  if (Array.isArray(part))
    return Array.isArray(whole) && part.length === whole.length && part.every((item, at) => isPart(item, whole[at]));
  if (whole === null || typeof whole !== 'object' || Array.isArray(whole)) return false;
  const object = whole as JsonObject;
  return Object.entries(part).every(([key, item]) => Object.hasOwn(object, key) && isPart(item as Json, object[key]));
}
