// The services of a flow test: each call takes the first answer that fits and is left; no other service is reached.

import type { Clock } from '../../clock.ts';
import type { Service, Services } from '../../engine/service.ts';
import { type ErrorCode, TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { suggest } from '../expression/suggest.ts';
import { pointerTo } from '../format/source.ts';
import type { FlowTestSetup, MockAnswer } from './file.ts';

export interface MockedServices {
  readonly services: Services;
  /** Calls since the last time that had no answer, in words. */
  unanswered(): string[];
  /** Answers that no call has taken; pointers into the test. */
  unused(): { readonly pointer: string; readonly message: string }[];
}

export interface MockPlace {
  /** Names of the services that the flow calls. */
  readonly names: readonly string[];
  readonly clock: Clock;
  /** The screen that makes the call. */
  caller(): string;
}

/** Services that answer as `answers` say. Messages name the keys of an input, never its values. */
export function mockedServices(answers: FlowTestSetup['services'] = {}, place: MockPlace): MockedServices {
  const left = new Map(Object.values(answers).flatMap((list) => list.map((answer) => [answer, answer.times ?? 1])));
  let problems: string[] = [];
  const answerTo =
    (name: string): Service =>
    async (input, { signal }) => {
      const listed = Object.hasOwn(answers, name) ? answers[name]! : [];
      const answer = listed.find((one) => left.get(one)! > 0 && isPart(one.when ?? {}, input));
      if (!answer) {
        problems.push(withoutAnswer({ name, input, screen: place.caller() }, listed, left));
        throw new TwinlineError('ERR_SERVICE_UNKNOWN', `The test has no answer of "${name}" left.`);
      }
      left.set(answer, left.get(answer)! - 1);
      if (answer.delayMs) await place.clock.wait(answer.delayMs, signal);
      if (answer.fail === undefined) return answer.return ?? null;
      throw new TwinlineError(answer.fail as ErrorCode, `The test lets "${name}" fail.`);
    };
  return {
    services: Object.fromEntries(place.names.map((name) => [name, answerTo(name)])),
    unanswered: () => {
      const found = problems;
      problems = [];
      return found;
    },
    unused: () =>
      Object.entries(answers).flatMap(([name, list]) =>
        list.flatMap((answer, at) => {
          const rest = left.get(answer)!;
          const pointer = pointerTo('services', name, at);
          return rest ? [{ pointer, message: unusedAnswer(name, at, { answer, rest, names: place.names }) }] : [];
        }),
      ),
  };
}

function withoutAnswer(
  { name, input, screen }: { name: string; input: JsonObject; screen: string },
  listed: readonly MockAnswer[],
  left: ReadonlyMap<MockAnswer, number>,
): string {
  const keys = Object.keys(input);
  const call = `Screen "${screen}" calls "${name}" ${keys.length ? `with ${keys.join(', ')}` : 'without input'}`;
  if (!listed.length)
    return `${call}, and the test has no answer for it. Add "${name}": [{ "return": … }] to "services".`;
  const open = listed.filter((answer) => left.get(answer)! > 0);
  if (!open.length)
    return `${call}, and all ${listed.length} answers for it have been used. Add one, or "times" to the last.`;
  const reasons = open.map((answer) => {
    const wanted = Object.entries(answer.when ?? {}).filter(([key, part]) => !isPart(part, input[key]));
    return `${listed.indexOf(answer) + 1} is for another ${wanted.map(([key]) => `"${key}"`).join(' and ')}`;
  });
  return `${call}, and no answer that is left fits: ${reasons.join('; ')}.`;
}

function unusedAnswer(
  name: string,
  at: number,
  { answer, rest, names }: { answer: MockAnswer; rest: number; names: readonly string[] },
): string {
  if (!names.includes(name)) return `No screen of the flow calls "${name}".${suggest(name, names)}`;
  const times = answer.times ?? 1;
  const used = times === rest ? 'was not used' : `was used ${times - rest} of ${times} times`;
  return `Answer ${at + 1} of "${name}" ${used}. Remove it, or add the steps that lead to the call.`;
}

/** Whether every value of `part` is in `whole`: objects may have more keys there, anything else must be the same. */
function isPart(part: Json, whole: Json | undefined): boolean {
  if (part === null || typeof part !== 'object') return part === whole;
  if (Array.isArray(part))
    return Array.isArray(whole) && part.length === whole.length && part.every((item, at) => isPart(item, whole[at]));
  if (whole === null || typeof whole !== 'object' || Array.isArray(whole)) return false;
  const object = whole as JsonObject;
  return Object.entries(part).every(([key, item]) => Object.hasOwn(object, key) && isPart(item as Json, object[key]));
}
