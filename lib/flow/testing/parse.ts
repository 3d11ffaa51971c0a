// Parses test files: JSON of the right shape, and problems: duplicate keys, values of the wrong shape, and what no schema can
// express.

import { evaluate, type MemberNode, type ValueNode } from '@humanwhocodes/momoa';
import type { ErrorObject } from 'ajv';
import { RE2JS } from 're2js';
import { ERROR_CODES } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import { findNearest, suggest } from '../expression/suggest.ts';
import { checkFlowTests } from '../format/checks.ts';
import { composeTexts, removeRepeated } from '../format/parse.ts';
import { type Finding, locateProblem, type Mend, type Problem, showValue, sortProblems } from '../format/problem.ts';
import { type FlowSource, flowSource, makeFlowSource, pointerTo } from '../format/source.ts';
import { outline, parseDocument } from '../format/syntax.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { Contracts } from '../lint/shapes.ts';
import type { FlowTestFile, MockAnswer } from './file.ts';
import { listWrongMocks } from './mocks.ts';

interface TestFinding extends Finding {
  readonly code: string;
}

interface ReadTests {
  readonly value: unknown;
  readonly contracts: Contracts | undefined;
}

/** Problems of a parsed test file. */
function findTestProblems(source: FlowSource, root: ValueNode, { value, contracts }: ReadTests): Problem[] {
  const errors = schemaErrors(value);
  const findings = errors.length
    ? errors.map(describeError)
    : [...findMistakes(value as FlowTestFile), ...listWrongMocks(value as FlowTestFile, contracts)];
  return [
    ...findRepeatedKeys(source, root, ''),
    ...findings.map(({ code, ...finding }) => locateProblem(source, finding, { code, severity: 'error' })),
  ];
}

// JSON.parse drops the first of two equal keys, so its expectation would never be checked.
function findRepeatedKeys(source: FlowSource, node: ValueNode, pointer: string): Problem[] {
  if (node.type === 'Array')
    return node.elements.flatMap(({ value }, at) => findRepeatedKeys(source, value, `${pointer}/${at}`));
  if (node.type !== 'Object') return [];
  const keys = new Map<string, MemberNode>();
  return node.members.flatMap((member, at) => {
    const { name, value } = member;
    const key = name.type === 'String' ? name.value : '';
    const place = pointer + pointerTo(key);
    const inside = findRepeatedKeys(source, value, place);
    const first = keys.get(key);
    if (!first) {
      keys.set(key, member);
      return inside;
    }
    const message = `"${key}" stands twice in one object; only the last would count.`;
    const finding = { pointer: place, at: 'key', message, fix: `Remove one "${key}".` } as const;
    const problem = locateProblem(source, finding, { code: 'duplicate-key', severity: 'error' });
    const edit = removeRepeated(source.text, node, { first, at });
    return [{ ...problem, ...(edit && { edit }) }, ...inside];
  });
}

function schemaErrors(value: unknown): readonly ErrorObject[] {
  return checkFlowTests(value) ? [] : (checkFlowTests.errors ?? []);
}

function describeError({ keyword, instancePath, params, message = '', data, parentSchema }: ErrorObject): TestFinding {
  const part = (parentSchema ?? {}) as SchemaPart;
  if (keyword === 'required') {
    const key = String(params.missingProperty);
    return { code: 'missing-key', pointer: instancePath, message: `"${key}" is missing.`, fix: `Add "${key}".` };
  }
  if (keyword === 'additionalProperties') {
    const key = String(params.additionalProperty);
    const keys = Object.keys(part.properties ?? {});
    return {
      code: 'unknown-key',
      pointer: instancePath + pointerTo(key),
      at: 'key',
      message: `"${key}" is not a key here.${suggest(key, keys)}`,
      fix: `Write one of: ${keys.join(', ')}.`,
      ...mendName(key, keys, (name) => (Object.hasOwn(data as object, name) ? undefined : name)),
    };
  }
  const example = part.examples?.length ? ` For example ${JSON.stringify(part.examples[0])}.` : '';
  return {
    code: keyword === 'type' ? 'wrong-type' : 'bad-value',
    pointer: instancePath,
    message: `${showValue(data)} ${WORDS[keyword]?.(params) ?? message}.`,
    fix: `${part.description ?? 'Write another value.'}${example}`,
    ...(keyword === 'type' && mendType(instancePath, data, part.type)),
  };
}

interface SchemaPart {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: object;
  readonly examples?: readonly unknown[];
}

type Mended = { readonly mend?: Mend };

/** The single known name that was probably meant; `write` formats it, or returns undefined if it cannot be used there. */
function mendName(name: string, names: readonly string[], write: (name: string) => string | undefined): Mended {
  const nearest = findNearest(name, names);
  const text = nearest?.isAlone ? write(nearest.name) : undefined;
  return text === undefined ? {} : { mend: { old: name, text } };
}

// Input or text that was written as a number.
const SPOKEN = /\/(?:in|text|has)$/;
const UNQUOTED: { readonly [type: string]: RegExp } = { boolean: /^(?:true|false)$/, integer: /^\d{1,9}$/ };

function mendType(pointer: string, value: unknown, type: SchemaPart['type']): Mended {
  if (typeof value === 'number' && SPOKEN.test(pointer)) return { mend: { text: JSON.stringify(String(value)) } };
  const isQuoted = typeof value === 'string' && typeof type === 'string' && UNQUOTED[type]?.test(value);
  return isQuoted ? { mend: { text: value } } : {};
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

// Rules that the schema cannot express.
function findMistakes({ tests }: FlowTestFile): TestFinding[] {
  return tests.flatMap(({ name, steps, services = {} }, at) => {
    const findings: TestFinding[] = [];
    const place = (...rest: readonly (string | number)[]) => pointerTo('tests', at, ...rest);
    const first = tests.findIndex((other) => other.name === name);
    if (first !== at) {
      const message = `Test ${first + 1} has the name ${showValue(name)} already.`;
      findings.push({ code: 'duplicate-name', pointer: place('name'), message, fix: 'Say how they differ.' });
    }
    if (steps[0]!.in !== '') {
      const message = 'The first step dials.';
      const fix = 'Begin with { "in": "" }.';
      findings.push({
        code: 'no-dial',
        pointer: place('steps', 0, 'in'),
        message,
        fix,
        mend: mendDial(steps[0]!.in, at),
      });
    }
    for (const [number, { match, dial, in: input }] of steps.entries()) {
      if (number > 0 && dial !== undefined && input !== '') {
        const message = 'A step that dials types nothing.';
        const pointer = place('steps', number, 'in');
        findings.push({ code: 'no-dial', pointer, message, fix: 'Write "in": "".', mend: { text: '""' } });
      }
      const problem = match === undefined ? undefined : patternProblem(match);
      if (problem !== undefined) {
        const fix = 'Write a regular expression without look-around and back-references.';
        findings.push({ code: 'bad-pattern', pointer: place('steps', number, 'match'), message: problem, fix });
      }
    }
    for (const [service, answers] of Object.entries(services))
      for (const [number, answer] of answers.entries())
        findings.push(...answerProblems(answer, place('services', service, number)));
    return findings;
  });
}

// A dialled code means the dial; any other answer needs a dial before it.
function mendDial(input: string, test: number): Mend {
  if (/^\*[\d*]+#$/.test(input)) return { text: '""' };
  return { old: '{', text: '{ "in": "" }, {', place: { pointer: pointerTo('tests', test, 'steps', 0) } };
}

function answerProblems(answer: MockAnswer, pointer: string): TestFinding[] {
  const kinds = ['return', 'fail', 'callback'].filter((kind) => kind in answer);
  if (kinds.length !== 1) {
    const message = kinds.length
      ? `An answer has either ${kinds.map((kind) => `"${kind}"`).join(' or ')}.`
      : 'An answer has one of "return", "fail" and "callback".';
    const fix = 'Write { "return": … }, { "fail": "ERR_SERVICE" } or { "callback": … }.';
    return [{ code: 'bad-answer', pointer, message, fix }];
  }
  if (answer.fail === undefined || Object.hasOwn(ERROR_CODES, answer.fail)) return [];
  const codes = Object.keys(ERROR_CODES);
  const message = `There is no code ${showValue(answer.fail)}.${suggest(answer.fail, codes)} Other errors of services reach a flow as ERR_SERVICE.`;
  const mend = mendName(answer.fail, codes, (name) => name);
  const fix = `Write one of: ${codes.join(', ')}.`;
  return [{ code: 'unknown-code', pointer: `${pointer}/fail`, message, fix, ...mend }];
}

function patternProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return `The pattern cannot be read: ${(error as Error).message}.`;
  }
}

export interface ParsedFlowTests {
  /** Present if there are no problems. */
  readonly file?: FlowTestFile;
  readonly source: FlowSource;
  readonly problems: readonly Problem[];
}

/** Beside the tests: what is omitted is not checked. */
export interface FlowTestContext {
  /** Inputs and outputs of services, to which mocked answers are compared. */
  readonly contracts?: Contracts | undefined;
}

/**
 * Reads the tests of a flow. Never throws.
 * @example
 * const text = '{ "flow": "hello", "tests": [{ "name": "leaves", "steps": [{ "in": "" }, { "in": "1", "text": "Bye" }] }] }';
 * const { file, problems } = parseFlowTests(text, 'hello.test.json');
 * problems.length; // → 0
 * file?.tests[0]?.name; // → 'leaves'
 */
export function parseFlowTests(text: string, file: string, { contracts }: FlowTestContext = {}): ParsedFlowTests {
  requireGiven('read tests', { text, file }, { text: 'text', file: 'text' });
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const shape = outline(plain);
  if (shape.depth > FLOW_LIMITS.flowFileDepth || plain.length > FLOW_LIMITS.flowFileBytes) {
    const message = `The file is larger than ${FLOW_LIMITS.flowFileBytes} bytes or deeper than ${FLOW_LIMITS.flowFileDepth} levels.`;
    return refuseTests(file, { code: 'too-large', line: 1, column: 1, message, fix: 'Split its tests.' });
  }
  const { document, fault } = parseDocument(plain, shape);
  if (fault) return refuseTests(file, { code: 'syntax', ...fault }, plain);
  const source = makeFlowSource(file, plain, document.body);
  const value = composeTexts(evaluate(document) as Json) as unknown;
  const problems = sortProblems(findTestProblems(source, document.body, { value, contracts }));
  return problems.length ? { source, problems } : { file: value as FlowTestFile, source, problems };
}

function refuseTests(
  file: string,
  fault: Pick<Problem, 'code' | 'line' | 'column' | 'message' | 'fix' | 'edit'>,
  text = '',
): ParsedFlowTests {
  return { source: flowSource(file, text), problems: [{ file, pointer: '', severity: 'error', ...fault }] };
}
