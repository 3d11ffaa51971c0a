// Updates the expectations of flow tests to the current behaviour, and adds tests to their file.

import { type MemberNode, parse as parseJson, type ValueNode } from '@humanwhocodes/momoa';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { cutText, TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { parsePointer, pointerTo } from '../format/source.ts';
import { formatFile, formatOnLine, formatValue } from '../format/write.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { markFlow } from './coverage.ts';
import { FLOW_TEST_FILE, type FlowTest, type FlowTestFile, type FlowTestStep, readPause } from './file.ts';
import { parseFlowTests } from './parse.ts';
import { openTestSession, type TestStepResult } from './session.ts';

interface TestUpdate {
  /** The file with new expectations, otherwise unchanged. */
  readonly text: string;
  /** Number of changed expectations. */
  readonly changed: number;
}

interface Edit {
  readonly pointer: string;
  readonly value: Json;
}

/**
 * Runs the tests of a file and updates the expectations that differ: `screen`, `text`, `end`, `track` and `memory`. Leaves decisions to
 * the author: `has`, `match`, steps after an end, unanswered calls.
 */
export async function updateFlowTests(
  compiledFlow: CompiledFlow,
  { file, text, only = () => true }: { file: FlowTestFile; text: string; only?: (test: FlowTest) => boolean },
): Promise<TestUpdate> {
  const edits: Edit[] = [];
  for (const [at, test] of file.tests.entries())
    if (only(test)) edits.push(...(await findEdits(compiledFlow, test, pointerTo('tests', at, 'steps'))));
  return { text: applyEdits(text, edits), changed: edits.length };
}

async function findEdits(compiledFlow: CompiledFlow, test: FlowTest, place: string): Promise<Edit[]> {
  const session = openTestSession(compiledFlow, markFlow(compiledFlow), test);
  const edits: Edit[] = [];
  let isOver = false;
  for (const [at, step] of test.steps.entries()) {
    if (isOver && step.dial === undefined) return edits;
    const turn = await session.take(step, readPause(step)).catch(() => undefined);
    if (!turn || turn.unanswered.length) return edits;
    edits.push(...differences(step, turn).map(({ key, value }) => ({ pointer: `${place}/${at}/${key}`, value })));
    isOver = turn.reply.kind === 'end';
  }
  return edits;
}

function differences(
  step: FlowTestStep,
  { reply, screen, tracks, memory }: TestStepResult,
): { key: keyof FlowTestStep; value: Json }[] {
  const kept = Object.fromEntries(Object.keys(step.memory ?? {}).map((name) => [name, memory[name] ?? null]));
  const now = { screen, text: reply.text, end: reply.kind === 'end', track: tracks, memory: kept } as const;
  const keys = Object.keys(now) as (keyof typeof now)[];
  return keys
    .filter((key) => step[key] !== undefined && JSON.stringify(step[key]) !== JSON.stringify(now[key]))
    .map((key) => ({ key, value: now[key] }));
}

// From last to first, so that offsets before an edit stay valid.
function applyEdits(text: string, edits: readonly Edit[]): string {
  const { body } = parseJson(text);
  const places = edits.map(({ pointer, value }) => {
    const { start, end } = nodeAt(body, pointer).loc;
    return { from: start.offset, to: end.offset, value };
  });
  return places
    .sort((one, other) => other.from - one.from)
    .reduce((result, { from, to, value }) => result.slice(0, from) + formatOnLine(value) + result.slice(to), text);
}

function nodeAt(root: ValueNode, pointer: string): ValueNode {
  return parsePointer(pointer).reduce((node, step) => {
    if (node.type === 'Array') return node.elements[Number(step)]!.value;
    const isNamed = ({ name }: MemberNode) => name.type === 'String' && name.value === step;
    return (node as ValueNode & { type: 'Object' }).members.find(isNamed)!.value;
  }, root);
}

/**
 * Appends a test to the text of a test file; an empty text becomes a new file. Throws ERR_INPUT if it is not a test file, or
 * already has a test of this name.
 */
export function addFlowTest(text: string, { flow, test }: { readonly flow: string; readonly test: FlowTest }): string {
  if (text.trim() === '') return writeFlowTests({ $schema: './test.schema.json', flow, tests: [test] });
  const { file, problems } = parseFlowTests(text, flow + FLOW_TEST_FILE);
  if (!file)
    throw new TwinlineError(
      'ERR_INPUT',
      `The tests have errors: ${cutText(problems[0]!.message, COMMON_LIMITS.quotedChars)}`,
    );
  if (file.tests.some(({ name }) => name === test.name))
    throw new TwinlineError('ERR_INPUT', `There is a test "${test.name}" already. Choose another name.`);
  const end = nodeAt(parseJson(text).body, `/tests/${file.tests.length - 1}`).loc.end.offset;
  return `${text.slice(0, end)},\n    ${formatValue(test as unknown as Json, { indent: '    ', taken: 1 })}${text.slice(end)}`;
}

/** The JSON of flow tests, like {@link formatFile}. */
export function writeFlowTests(file: FlowTestFile): string {
  return formatFile(file as unknown as Json);
}
