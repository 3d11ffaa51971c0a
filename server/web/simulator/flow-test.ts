// Dialogues of simulated phones as files that `twinline test` runs, with what services answered to them.

import { LRUCache } from 'lru-cache';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { failureCode } from '../../../lib/engine/calls.ts';
import { LaterAnswer } from '../../../lib/engine/later.ts';
import type { Service, Services } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE, type FlowTest, type FlowTestSetup, type MockAnswer } from '../../../lib/flow/testing/file.ts';
import { hidePrivateAnswers } from '../../../lib/flow/testing/mask.ts';
import { failureText, recordFlowTest, runFlowTests } from '../../../lib/flow/testing/run.ts';
import { writeFlowTests } from '../../../lib/flow/testing/update.ts';
import type { Schema } from '../../../lib/json/schema.ts';
import { readPhoneNumber } from '../../../lib/ussd/request.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** What a page sends: its secrets have been replaced already. */
export interface Dialogue {
  readonly sessionId: string;
  readonly phoneNumber: string;
  /** '' first, which dials. */
  readonly inputs: readonly string[];
  /** The variable `lang` that it began with. @default that of the flow */
  readonly lang?: string;
}

/** A file to be saved. */
export interface SavedTest {
  readonly name: string;
  readonly text: string;
}

/** The inputs of a dialogue, as routes take them. */
export const DIALOGUE_INPUTS = {
  type: 'array',
  minItems: 1,
  maxItems: SERVER_LIMITS.simulatedInputs,
  prefixItems: [{ const: '' }],
  items: { type: 'string', maxLength: COMMON_LIMITS.ussdTextChars },
  description: 'What was typed, without its secrets; the first is empty and dials',
} as const satisfies Schema;

/** A dialogue whose fields were checked, with its phone number in E.164. Throws ERR_INPUT for another number. */
export function readDialogue({ sessionId, phoneNumber, inputs, lang }: Dialogue): Dialogue {
  const phone = readPhoneNumber(phoneNumber, 'phoneNumber');
  return { sessionId, phoneNumber: phone, inputs, ...(lang !== undefined && { lang }) };
}

/** The dialogue as a file with one test; as {@link recordDialogue}. */
export async function makeFlowTest(
  compiled: CompiledFlow,
  dialogue: Dialogue,
  answers: NonNullable<FlowTestSetup['services']>,
): Promise<SavedTest> {
  const { flow } = compiled.flow;
  const test = await recordDialogue(compiled, dialogue, { answers });
  return { name: flow + FLOW_TEST_FILE, text: writeFlowTests({ $schema: './test.schema.json', flow, tests: [test] }) };
}

export interface RecordOptions {
  /** What services answered. */
  readonly answers: NonNullable<FlowTestSetup['services']>;
  /** Of the test. @default says how many steps it has */
  readonly name?: string;
}

/**
 * Plays the inputs on the flow with the answers that services gave, and writes down what it shows: the test that comes of
 * it passes. Throws ERR_INPUT when they lead beyond what was answered.
 */
export async function recordDialogue(
  compiled: CompiledFlow,
  { phoneNumber, inputs, lang }: Dialogue,
  { answers, name = '' }: RecordOptions,
): Promise<FlowTest> {
  const { flow } = compiled.flow;
  const usual = `a dialogue of the simulator, ${inputs.length === 1 ? 'one step' : `${inputs.length} steps`}`;
  const mocked = Object.keys(answers).length ? { services: hidePrivateAnswers(compiled, answers) } : {};
  const given = lang === undefined ? {} : { given: { lang } };
  const test = await recordFlowTest(compiled, { name: name || usual, ...given, phone: phoneNumber, ...mocked, inputs });
  const [failure] = (await runFlowTests(compiled, { flow, tests: [test] })).tests.flatMap(({ failures }) => failures);
  if (failure) throw new TwinlineError('ERR_INPUT', `This dialogue cannot be told as a test: ${failureText(failure)}`);
  return test;
}

export interface ServiceRecorder {
  /** The same services, but their answers to simulated phones are kept. What they were called with never is: it may be a PIN. */
  watch(services: Services): Services;
  /** What was answered in a session, by the name of the service, in the order of the calls. */
  answers(sessionId: string): NonNullable<FlowTestSetup['services']>;
}

interface RecordedAnswer {
  readonly service: string;
  readonly answer: MockAnswer;
}

export function serviceRecorder(): ServiceRecorder {
  const sessions = new LRUCache<string, RecordedAnswer[]>({ max: PAGE_LIMITS.simulatedSessions });

  function keep(sessionId: string, kept: RecordedAnswer): void {
    const list = sessions.get(sessionId) ?? [];
    if (list.length < PAGE_LIMITS.simulatedCalls) list.push(kept);
    sessions.set(sessionId, list);
  }

  const recordService = (name: string, service: Service): Service => {
    return async (input, call) => {
      const { id, simulated } = call.session;
      if (!simulated) return service(input, call);
      try {
        const answer = await service(input, call);
        if (!(answer instanceof LaterAnswer))
          keep(id, { service: name, answer: { return: structuredClone(answer ?? null) } });
        return answer;
      } catch (error) {
        keep(id, { service: name, answer: { fail: failureCode(error) } });
        throw error;
      }
    };
  };

  return {
    watch: (services) =>
      Object.fromEntries(Object.entries(services).map(([name, service]) => [name, recordService(name, service)])),
    answers(sessionId) {
      const found: Record<string, MockAnswer[]> = {};
      for (const { service, answer } of sessions.get(sessionId) ?? []) {
        found[service] ??= [];
        found[service].push(answer);
      }
      return found;
    },
  };
}
