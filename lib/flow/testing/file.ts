// Tests of a flow as their author writes them: the shape of a <name>.test.json file, and how it is read.

import type { ValueNode } from '@humanwhocodes/momoa';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { ERROR_CODES } from '../../errors.ts';
import { requireMomoa, requireRe2 } from '../../packages.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { suggest } from '../expression/suggest.ts';
import { type Finding, locateProblem, type Problem, showValue, sortProblems } from '../format/problem.ts';
import { type FlowSource, flowSource, makeFlowSource, pointerTo } from '../format/source.ts';
import { outline, parseDocument } from '../format/syntax.ts';
import { loadValidator } from '../format/validators.ts';
import { FLOW_LIMITS } from '../limits.ts';

/** A file of tests that has been read. */
export interface FlowTestFile {
  readonly $schema?: string;
  readonly flow: string;
  readonly tests: readonly FlowTest[];
}

/** How a conversation begins, and what services answer in it. */
export interface FlowTestSetup {
  /** Variables that have these values at the start. */
  readonly given?: JsonObject;
  /** E.164 with `+`. @default TEST_PHONE */
  readonly phone?: string;
  /** Answers by the name of the service; a call takes the first one left that fits. */
  readonly services?: { readonly [name: string]: readonly MockAnswer[] };
}

export interface FlowTest extends FlowTestSetup {
  readonly name: string;
  readonly note?: string;
  readonly steps: readonly FlowTestStep[];
}

/** One answer of a service: exactly one of `return` and `fail`. */
export interface MockAnswer {
  /** The part of the input that it is for. @default any input */
  readonly when?: JsonObject;
  readonly return?: Json;
  /** One of ERROR_CODES. */
  readonly fail?: string;
  /** @default 0 */
  readonly delayMs?: number;
  /** Calls that it answers. @default 1 */
  readonly times?: number;
}

export interface FlowTestStep {
  /** What is typed; '' in the first step, which dials. */
  readonly in: string;
  /** Path of the screen that is shown then: `pin`, or `login.pin` inside a called flow. */
  readonly screen?: string;
  readonly text?: string;
  readonly has?: string | readonly string[];
  /** An RE2 pattern that fits a part of the text. */
  readonly match?: string;
  readonly end?: boolean;
  readonly track?: readonly string[];
  readonly note?: string;
}

export interface ParsedFlowTests {
  /** There when nothing is wrong. */
  readonly file?: FlowTestFile;
  readonly source: FlowSource;
  readonly problems: readonly Problem[];
}

/** Ends the names of files with flow tests: `wallet.test.json`. */
export const FLOW_TEST_FILE = '.test.json';
/** The caller's number in tests that name none. */
export const TEST_PHONE = '+263771234567';

/** Reads the tests of a flow. Never throws. */
export function parseFlowTests(text: string, file: string): ParsedFlowTests {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const seen = outline(plain);
  if (seen.depth > FLOW_LIMITS.flowFileDepth || plain.length > FLOW_LIMITS.flowFileBytes) {
    const message = `The file is larger than ${FLOW_LIMITS.flowFileBytes} bytes or deeper than ${FLOW_LIMITS.flowFileDepth} levels.`;
    return refuseTests(file, { code: 'too-large', line: 1, column: 1, message, fix: 'Split its tests.' });
  }
  const { document, fault } = parseDocument(plain, seen);
  if (fault) return refuseTests(file, { code: 'syntax', ...fault });
  const source = makeFlowSource(file, plain, document.body);
  const value = requireMomoa().evaluate(document) as unknown;
  const errors = schemaErrors(value);
  const findings = [
    ...findRepeatedKeys(document.body, ''),
    ...(errors.length ? errors.map(describeError) : findMistakes(value as FlowTestFile)),
  ];
  const problems = findings.map(({ code, ...found }) => locateProblem(source, found, { code, severity: 'error' }));
  return problems.length
    ? { source, problems: sortProblems(problems) }
    : { file: value as FlowTestFile, source, problems };
}

function refuseTests(
  file: string,
  fault: Pick<Problem, 'code' | 'line' | 'column' | 'message' | 'fix'>,
): ParsedFlowTests {
  return { source: flowSource(file, ''), problems: [{ file, pointer: '', severity: 'error', ...fault }] };
}

interface TestFinding extends Finding {
  readonly code: string;
}

// JSON.parse drops the first of two equal keys, so its expectation would never be checked.
function findRepeatedKeys(node: ValueNode, pointer: string): TestFinding[] {
  if (node.type === 'Array')
    return node.elements.flatMap(({ value }, at) => findRepeatedKeys(value, `${pointer}/${at}`));
  if (node.type !== 'Object') return [];
  const keys = new Set<string>();
  return node.members.flatMap(({ name, value }) => {
    const key = name.type === 'String' ? name.value : '';
    const place = pointer + pointerTo(key);
    const inside = findRepeatedKeys(value, place);
    if (!keys.has(key)) {
      keys.add(key);
      return inside;
    }
    const message = `"${key}" stands twice in one object; only the last would count.`;
    return [{ code: 'duplicate-key', pointer: place, at: 'key', message, fix: `Remove one "${key}".` }, ...inside];
  });
}

let validator: ValidateFunction | undefined;

function schemaErrors(value: unknown): readonly ErrorObject[] {
  validator ??= loadValidator('test');
  return validator(value) ? [] : (validator.errors ?? []);
}

function describeError({ keyword, instancePath, params, message = '', data, parentSchema }: ErrorObject): TestFinding {
  const part = (parentSchema ?? {}) as { description?: string; properties?: object; examples?: unknown[] };
  if (keyword === 'required') {
    const key = String(params.missingProperty);
    return { code: 'missing-key', pointer: instancePath, message: `"${key}" is missing.`, fix: `Add "${key}".` };
  }
  if (keyword === 'additionalProperties') {
    const key = String(params.additionalProperty);
    const known = Object.keys(part.properties ?? {});
    return {
      code: 'unknown-key',
      pointer: instancePath + pointerTo(key),
      at: 'key',
      message: `"${key}" is not a key here.${suggest(key, known)}`,
      fix: `Write one of: ${known.join(', ')}.`,
    };
  }
  const example = part.examples?.length ? ` For example ${JSON.stringify(part.examples[0])}.` : '';
  return {
    code: keyword === 'type' ? 'wrong-type' : 'bad-value',
    pointer: instancePath,
    message: `${showValue(data)} ${WORDS[keyword]?.(params) ?? message}.`,
    fix: `${part.description ?? 'Write another value.'}${example}`,
  };
}

type Words = (params: { readonly type?: string | readonly string[]; readonly limit?: number }) => string;

const TYPES: { readonly [type: string]: string } = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object { }',
  array: 'a list [ ]',
};
const WORDS: { readonly [keyword: string]: Words } = {
  type: ({ type }) =>
    `is not ${[type ?? []]
      .flat()
      .map((name) => TYPES[name] ?? name)
      .join(' or ')}`,
  minItems: () => 'is empty',
  minLength: () => 'is empty',
  maxItems: ({ limit }) => `has more than ${limit} items`,
  maxLength: ({ limit }) => `has more than ${limit} characters`,
  minimum: ({ limit }) => `is less than ${limit}`,
  maximum: ({ limit }) => `is more than ${limit}`,
  pattern: () => 'has another form',
};

// What the schema cannot say.
function findMistakes({ tests }: FlowTestFile): TestFinding[] {
  return tests.flatMap(({ name, steps, services = {} }, at) => {
    const found: TestFinding[] = [];
    const place = (...rest: readonly (string | number)[]) => pointerTo('tests', at, ...rest);
    const first = tests.findIndex((other) => other.name === name);
    if (first !== at) {
      const message = `Test ${first + 1} has the name ${showValue(name)} already.`;
      found.push({ code: 'duplicate-name', pointer: place('name'), message, fix: 'Say how they differ.' });
    }
    if (steps[0]!.in !== '') {
      const fix = 'Begin with { "in": "" }.';
      found.push({ code: 'no-dial', pointer: place('steps', 0, 'in'), message: 'The first step dials.', fix });
    }
    for (const [number, { match }] of steps.entries()) {
      const problem = match === undefined ? undefined : patternProblem(match);
      if (problem !== undefined) {
        const fix = 'Write a regular expression without look-around and back-references.';
        found.push({ code: 'bad-pattern', pointer: place('steps', number, 'match'), message: problem, fix });
      }
    }
    for (const [service, answers] of Object.entries(services))
      for (const [number, answer] of answers.entries())
        found.push(...answerProblems(answer, place('services', service, number)));
    return found;
  });
}

function answerProblems(answer: MockAnswer, pointer: string): TestFinding[] {
  if ('return' in answer === 'fail' in answer) {
    const message = `An answer has ${'fail' in answer ? 'either' : 'one of'} "return" ${'fail' in answer ? 'or' : 'and'} "fail".`;
    return [{ code: 'bad-answer', pointer, message, fix: 'Write { "return": … } or { "fail": "ERR_SERVICE" }.' }];
  }
  if (answer.fail === undefined || Object.hasOwn(ERROR_CODES, answer.fail)) return [];
  const known = Object.keys(ERROR_CODES);
  const message = `There is no code ${showValue(answer.fail)}.${suggest(answer.fail, known)} Other errors of services reach a flow as ERR_SERVICE.`;
  return [{ code: 'unknown-code', pointer: `${pointer}/fail`, message, fix: `Write one of: ${known.join(', ')}.` }];
}

function patternProblem(source: string): string | undefined {
  try {
    requireRe2().RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return `The pattern cannot be read: ${(error as Error).message}.`;
  }
}
