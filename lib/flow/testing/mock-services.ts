// The services of a flow test: each call takes the first unused answer that matches; no real service is called.

import type { Clock } from '../../clock.ts';
import { isServiceCode, type Service, ServiceError, type Services } from '../../engine/service.ts';
import { type ErrorCode, TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { suggest } from '../expression/suggest.ts';
import { pointerTo } from '../format/source.ts';
import type { FlowTestSetup, MockAnswer } from './file.ts';

export interface MockedServices {
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
export function mockServices(answers: FlowTestSetup['services'] = {}, place: MockPlace): MockedServices {
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
