// Runs flow tests: compares each step with its expectations, and collects the coverage.

import { RE2JS } from 're2js';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import { suggest } from '../expression/suggest.ts';
import { showValue } from '../format/problem.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { type Coverage, type MarkedFlow, markFlow } from './coverage.ts';
import { type FlowTest, type FlowTestFile, type FlowTestSetup, type FlowTestStep, readPause } from './file.ts';
import type { TestSession, TestStepResult } from './session.ts';

/** A failed step of a flow test. */
export interface FlowTestFailure {
  /** Number of the step, from 1; 0 for the test as a whole. */
  readonly step: number;
  /** The input, as JSON; `****` for a secret. */
  readonly typed: string;
  readonly message: string;
  /** Further lines: a diff, or the actual text. */
  readonly details: readonly string[];
  /** JSON pointer into the file. */
  readonly pointer: string;
}

/** The result of flow tests. */
export interface FlowTestReport {
  readonly flow: string;
  readonly tests: readonly { readonly name: string; readonly failures: readonly FlowTestFailure[] }[];
  readonly coverage: Coverage;
}

/**
 * Runs all tests of a file, in no time: a test ends with its first step that fails. Throws ERR_INPUT when the tests are
 * for another flow.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const tests = [{ name: 'leaves', steps: [{ in: '' }, { in: '1', text: 'Bye' }] }];
 * const report = await runFlowTests(hello, { flow: 'hello', tests });
 * report.tests[0]?.failures; // → []
 * report.coverage.screens.missing; // → []
 */
export async function runFlowTests(compiled: CompiledFlow, file: FlowTestFile): Promise<FlowTestReport> {
  requireGiven('run tests', { compiled, file }, { compiled: 'compiled', file: 'object' });
  const { flow } = compiled.flow;
  if (file.flow !== flow)
    throw new TwinlineError('ERR_INPUT', `Cannot test the flow "${flow}": these tests are for "${file.flow}".`);
  const marked = markFlow(compiled);
  const tests: FlowTestReport['tests'][number][] = [];
  for (const [at, test] of file.tests.entries())
    tests.push({
      name: test.name,
      failures: await runTest({ compiled, marked, test, pointer: `/tests/${at}` }),
    });
  return { flow, tests, coverage: marked.coverage() };
}

/**
 * `step 2, typed "1": the screen is "pin", not "login".`, and its details below.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const tests = [{ name: 'greets', steps: [{ in: '', text: 'Good day' }] }];
 * const report = await runFlowTests(hello, { flow: 'hello', tests });
 * failureText(report.tests[0]!.failures[0]!).split('\n')[0]; // → 'step 1, the dial: the text differs:'
 */
export function failureText({ step, typed, message, details }: FlowTestFailure): string {
  const where = step === 0 ? '' : `step ${step}, ${step === 1 ? 'the dial' : `typed ${typed}`}: `;
  return [where + message, ...details.map((line) => `    ${line}`)].join('\n');
}

/**
 * What a conversation with these inputs shows, as the steps of a test; the first input is '' and dials.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const recorded = await recordFlowTest(hello, { name: 'leaves', inputs: ['', '1'] });
 * recorded.steps.at(-1)?.text; // → 'Bye'
 */
export async function recordFlowTest(
  compiled: CompiledFlow,
  recorded: FlowTestSetup & { readonly name: string; readonly inputs: readonly string[] },
): Promise<FlowTest> {
  requireGiven('record a test', { compiled, recorded }, { compiled: 'compiled', recorded: 'object' });
  const { inputs, ...test } = recorded;
  const session = await openSession(compiled, markFlow(compiled), test);
  const steps: FlowTestStep[] = [];
  for (const input of inputs) {
    if (steps.at(-1)?.end)
      throw new TwinlineError('ERR_INPUT', `Cannot record "${test.name}": it ends at step ${steps.length}.`);
    const { reply, screen, tracks, unanswered } = await session.take({ in: input });
    if (unanswered.length) throw new TwinlineError('ERR_INPUT', `Cannot record "${test.name}": ${unanswered[0]}`);
    steps.push({
      in: input,
      screen,
      text: reply.text,
      ...(reply.kind === 'end' && { end: true }),
      ...(tracks.length && { track: tracks }),
    });
  }
  return { ...test, steps };
}

// The engine is loaded with the first test: a program that only checks flows never loads it.
async function openSession(flow: CompiledFlow, marks: MarkedFlow, setup: FlowTestSetup): Promise<TestSession> {
  const { openTestSession } = await import('./session.ts');
  return openTestSession(flow, marks, setup);
}

interface TestRun {
  readonly compiled: CompiledFlow;
  readonly marked: MarkedFlow;
  readonly test: FlowTest;
  /** Of the test, in its file. */
  readonly pointer: string;
}

interface Miss {
  readonly message: string;
  readonly details?: readonly string[];
  /** The key of the unmet expectation. */
  readonly key?: keyof FlowTestStep;
}

async function runTest({ compiled, marked, test, pointer }: TestRun): Promise<FlowTestFailure[]> {
  const whole = { step: 0, typed: '', details: [] };
  const unknown = Object.keys(test.given ?? {}).filter((name) => !Object.hasOwn(compiled.flow.vars ?? {}, name));
  if (unknown.length)
    return unknown.map((name) => {
      const message = `The flow has no variable "${name}".${suggest(name, Object.keys(compiled.flow.vars ?? {}))}`;
      return { ...whole, message, pointer: `${pointer}/given/${name}` };
    });
  const kept = Object.entries(compiled.flow.vars ?? {}).flatMap(([name, { keep }]) =>
    keep === undefined ? [] : [name],
  );
  const unkept = (memory: JsonObject = {}) => Object.keys(memory).find((name) => !kept.includes(name));
  const explainUnkept = (name: string) => `the flow keeps no variable "${name}".${suggest(name, kept)}`;
  const first = unkept(test.memory);
  if (first !== undefined) return [{ ...whole, message: explainUnkept(first), pointer: `${pointer}/memory/${first}` }];
  const session = await openSession(compiled, marked, test);
  let ended = 0;
  for (const [at, step] of test.steps.entries()) {
    if (step.dial !== undefined) ended = 0;
    const place = { step: at + 1, typed: session.showInput(step.in), pointer: `${pointer}/steps/${at}` };
    const misses = ended ? [{ message: `the conversation has ended with step ${ended}.` }] : await takeStep(step);
    if (misses.length)
      return misses.map(({ message, details = [], key }) => ({
        ...place,
        message,
        details,
        pointer: place.pointer + (key === undefined ? '' : `/${key}`),
      }));
  }
  return session.listUnused().map((one) => ({ ...whole, message: one.message, pointer: pointer + one.pointer }));

  async function takeStep(step: FlowTestStep): Promise<Miss[]> {
    if (step.screen !== undefined && !compiled.screens.has(step.screen)) {
      const near = suggest(step.screen, compiled.screens.keys());
      return [{ message: `the flow has no screen "${step.screen}".${near}`, key: 'screen' }];
    }
    const other = unkept(step.memory);
    if (other !== undefined) return [{ message: explainUnkept(other), key: 'memory' }];
    try {
      const turn = await session.take(step, readPause(step));
      if (turn.reply.kind === 'end') ended = test.steps.indexOf(step) + 1;
      return compareStep(step, turn);
    } catch (error) {
      const { message, cause } = error as Error;
      return [{ message: cause instanceof Error ? `${message} ${cause.message}` : message }];
    }
  }
}

function compareStep(step: FlowTestStep, { reply, screen, tracks, memory, unanswered }: TestStepResult): Miss[] {
  const { text } = reply;
  // A missing answer or a wrong screen explains all other differences: report only that.
  if (unanswered.length) return unanswered.map((message) => ({ message }));
  const lines = text.split('\n');
  if (step.screen !== undefined && step.screen !== screen)
    return [{ message: `the screen is "${screen}", not "${step.screen}".`, details: lines, key: 'screen' }];
  const misses: Miss[] = [];
  if (step.end !== undefined && step.end !== (reply.kind === 'end')) {
    const message = step.end ? 'the conversation goes on; it should end.' : 'the conversation ends; it should go on.';
    misses.push({ message, details: lines, key: 'end' });
  }
  if (step.text !== undefined && step.text !== text)
    misses.push({ message: 'the text differs:', details: diffLines(step.text, text), key: 'text' });
  for (const part of [step.has ?? []].flat())
    if (!text.includes(part))
      misses.push({ message: `the text does not have ${JSON.stringify(part)}:`, details: lines, key: 'has' });
  if (step.match !== undefined && !RE2JS.compile(step.match).matcher(text).find())
    misses.push({ message: `nothing in the text fits ${step.match}:`, details: lines, key: 'match' });
  if (step.track && JSON.stringify(step.track) !== JSON.stringify(tracks)) {
    const list = (names: readonly string[]) => (names.length ? names.join(', ') : 'nothing');
    misses.push({ message: `it tracked ${list(tracks)}, not ${list(step.track)}.`, key: 'track' });
  }
  for (const [name, value] of Object.entries(step.memory ?? {})) {
    const kept = memory[name] ?? null;
    const message = `of "${name}" is kept ${showValue(kept)}, not ${showValue(value)}.`;
    if (JSON.stringify(value) !== JSON.stringify(kept)) misses.push({ message, key: 'memory' });
  }
  return misses;
}

/** A line diff: `- ` only expected, `+ ` only actual, two spaces where they agree. */
export function diffLines(expectedText: string, actualText: string): string[] {
  const [left, right] = [expectedText.split('\n'), actualText.split('\n')];
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  return [
    ...left.slice(0, head).map((line) => `  ${line}`),
    ...left.slice(head, left.length - tail).map((line) => `- ${line}`),
    ...right.slice(head, right.length - tail).map((line) => `+ ${line}`),
    ...left.slice(left.length - tail).map((line) => `  ${line}`),
  ].map((line) => line.trimEnd());
}
