// Dialogues of simulated phones as flow tests, with the recorded answers of services.

import { LRUCache } from 'lru-cache';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { failureCode } from '../../../lib/engine/calls.ts';
import type { Service, Services } from '../../../lib/engine/service.ts';
import { LaterAnswer } from '../../../lib/engine/service.ts';
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

/** A dialogue as the page sends it, with secrets already replaced. */
export interface Dialogue {
  readonly sessionId: string;
  readonly phoneNumber: string;
  /** The first is '', the dial. */
  readonly inputs: readonly string[];
  /** Initial value of the variable `lang`. @default that of the flow */
  readonly lang?: string;
}

/** A file for download. */
export interface SavedTest {
  readonly name: string;
  readonly text: string;
}

/** Schema of the inputs of a dialogue. */
export const DIALOGUE_INPUTS = {
  type: 'array',
  minItems: 1,
  maxItems: SERVER_LIMITS.simulatedInputs,
  prefixItems: [{ const: '' }],
  items: { type: 'string', maxLength: COMMON_LIMITS.ussdTextChars },
  description: 'Inputs with secrets replaced; the first is empty and dials',
} as const satisfies Schema;

/** Checks a dialogue. Throws ERR_INPUT unless the phone number is E.164. */
export function readDialogue({ sessionId, phoneNumber, inputs, lang }: Dialogue): Dialogue {
  const phone = readPhoneNumber(phoneNumber, 'phoneNumber');
  return { sessionId, phoneNumber: phone, inputs, ...(lang !== undefined && { lang }) };
}

/** Makes a file with one test, as {@link recordDialogue} does. */
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
  /** Answers of services, by service. */
  readonly answers: NonNullable<FlowTestSetup['services']>;
  /** Name of the test. @default a name with the number of steps */
  readonly name?: string;
}

/**
 * Plays the inputs with the recorded answers of services and records the screens as a test that passes. Throws ERR_INPUT if
 * the dialogue needs answers that were not recorded.
 */
export async function recordDialogue(
  compiled: CompiledFlow,
  { phoneNumber, inputs, lang }: Dialogue,
  { answers, name = '' }: RecordOptions,
): Promise<FlowTest> {
  const { flow } = compiled.flow;
  const usual = `a dialogue of the simulator, ${inputs.length === 1 ? 'one step' : `${inputs.length} steps`}`;
  const mocked = Object.keys(answers).length ? { services: hidePrivateAnswers(compiled, answers) } : {};
  const variables = lang === undefined ? {} : { given: { lang } };
  const test = await recordFlowTest(compiled, {
    name: name || usual,
    ...variables,
    phone: phoneNumber,
    ...mocked,
    inputs,
  });
  const [failure] = (await runFlowTests(compiled, { flow, tests: [test] })).tests.flatMap(({ failures }) => failures);
  if (failure) throw new TwinlineError('ERR_INPUT', `This dialogue cannot become a test: ${failureText(failure)}`);
  return test;
}

export interface ServiceRecorder {
  /** Wraps services to record their answers to simulated phones. Inputs are not recorded: they may contain a PIN. */
  watch(services: Services): Services;
  /** The recorded answers of a session by service, in call order. */
  answers(sessionId: string): NonNullable<FlowTestSetup['services']>;
}

interface RecordedAnswer {
  readonly service: string;
  readonly answer: MockAnswer;
}

export function serviceRecorder(): ServiceRecorder {
  const sessions = new LRUCache<string, RecordedAnswer[]>({ max: PAGE_LIMITS.simulatedSessions });

  function keep(sessionId: string, answer: RecordedAnswer): void {
    const list = sessions.get(sessionId) ?? [];
    if (list.length < PAGE_LIMITS.simulatedCalls) list.push(answer);
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
      const answers: Record<string, MockAnswer[]> = {};
      for (const { service, answer } of sessions.get(sessionId) ?? []) {
        answers[service] ??= [];
        answers[service].push(answer);
      }
      return answers;
    },
  };
}
