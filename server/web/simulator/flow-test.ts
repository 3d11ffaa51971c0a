// A dialogue of a simulated phone as a file that `twinline test` runs.

import { TwinlineError } from '../../../lib/errors.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE, type FlowTestSetup } from '../../../lib/flow/testing/file.ts';
import { failureText, recordFlowTest, runFlowTests } from '../../../lib/flow/testing/run.ts';
import { writeFlowTests } from '../../../lib/flow/testing/update.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import { readPhoneNumber } from '../../../lib/ussd/request.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';

/** What a page sends: its secrets have been replaced already. */
export interface Dialogue {
  readonly sessionId: string;
  readonly phoneNumber: string;
  /** '' first, which dials. */
  readonly inputs: readonly string[];
}

/** A file to be saved. */
export interface SavedTest {
  readonly name: string;
  readonly text: string;
}

/** Reads a body. Throws ERR_INPUT. */
export function readDialogue(body: unknown): Dialogue {
  const { sessionId, phoneNumber, inputs } = (body ?? {}) as { [field in keyof Dialogue]?: unknown };
  if (typeof sessionId !== 'string' || typeof phoneNumber !== 'string' || !isInputs(inputs))
    throw new TwinlineError(
      'ERR_INPUT',
      `A dialogue has a sessionId, a phoneNumber and up to ${SERVER_LIMITS.simulatedInputs} inputs, the first of which is empty.`,
    );
  return { sessionId, phoneNumber: readPhoneNumber(phoneNumber, 'phoneNumber'), inputs };
}

function isInputs(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value[0] === '' &&
    value.length <= SERVER_LIMITS.simulatedInputs &&
    value.every((input) => typeof input === 'string' && input.length <= SHARED_LIMITS.ussdTextChars)
  );
}

/**
 * Plays the inputs on the flow with the answers that services gave, and writes down what it shows: the test that comes of
 * it passes. Throws ERR_INPUT when they lead beyond what was answered.
 */
export async function savedTest(
  compiled: CompiledFlow,
  { phoneNumber, inputs }: Dialogue,
  services: NonNullable<FlowTestSetup['services']>,
): Promise<SavedTest> {
  const { flow } = compiled.flow;
  const name = `a dialogue of the simulator, ${inputs.length === 1 ? 'one step' : `${inputs.length} steps`}`;
  const mocked = Object.keys(services).length ? { services } : {};
  const test = await recordFlowTest(compiled, { name, phone: phoneNumber, ...mocked, inputs });
  const file = { $schema: './test.schema.json', flow, tests: [test] };
  const [failure] = (await runFlowTests(compiled, file)).tests.flatMap(({ failures }) => failures);
  if (failure) throw new TwinlineError('ERR_INPUT', `This dialogue cannot be told as a test: ${failureText(failure)}`);
  return { name: flow + FLOW_TEST_FILE, text: writeFlowTests(file) };
}
