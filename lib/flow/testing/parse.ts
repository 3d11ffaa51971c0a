// How a file of tests is read: JSON of the right shape, and what is wrong with it.

import { requireMomoa } from '../../packages.ts';
import { dropWrongEdits } from '../format/edits.ts';
import { type Problem, sortProblems } from '../format/problem.ts';
import { type FlowSource, flowSource, makeFlowSource } from '../format/source.ts';
import { outline, parseDocument } from '../format/syntax.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { FlowTestFile } from './file.ts';
import { findTestProblems } from './findings.ts';

export interface ParsedFlowTests {
  /** There when nothing is wrong. */
  readonly file?: FlowTestFile;
  readonly source: FlowSource;
  readonly problems: readonly Problem[];
}

/**
 * Reads the tests of a flow; each edit of its problems mends one. Never throws.
 * @example
 * const text = '{ "flow": "hello", "tests": [{ "name": "leaves", "steps": [{ "in": "" }, { "in": "1", "text": "Bye" }] }] }';
 * const { file, problems } = parseFlowTests(text, 'hello.test.json');
 * problems.length; // → 0
 * file?.tests[0]?.name; // → 'leaves'
 */
export function parseFlowTests(text: string, file: string): ParsedFlowTests {
  const parsed = readFlowTests(text, file);
  return {
    ...parsed,
    problems: dropWrongEdits(parsed.source.text, parsed, (mended) => readFlowTests(mended, file)),
  };
}

function readFlowTests(text: string, file: string): ParsedFlowTests {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const seen = outline(plain);
  if (seen.depth > FLOW_LIMITS.flowFileDepth || plain.length > FLOW_LIMITS.flowFileBytes) {
    const message = `The file is larger than ${FLOW_LIMITS.flowFileBytes} bytes or deeper than ${FLOW_LIMITS.flowFileDepth} levels.`;
    return refuseTests(file, { code: 'too-large', line: 1, column: 1, message, fix: 'Split its tests.' });
  }
  const { document, fault } = parseDocument(plain, seen);
  if (fault) return refuseTests(file, { code: 'syntax', ...fault }, plain);
  const source = makeFlowSource(file, plain, document.body);
  const value = requireMomoa().evaluate(document) as unknown;
  const problems = sortProblems(findTestProblems(source, document.body, value));
  return problems.length ? { source, problems } : { file: value as FlowTestFile, source, problems };
}

function refuseTests(
  file: string,
  fault: Pick<Problem, 'code' | 'line' | 'column' | 'message' | 'fix' | 'edit'>,
  text = '',
): ParsedFlowTests {
  return { source: flowSource(file, text), problems: [{ file, pointer: '', severity: 'error', ...fault }] };
}
