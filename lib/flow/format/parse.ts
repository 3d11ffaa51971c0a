// Parses the text of a flow file into a flow that conforms to the schema, with source positions.

import { basename } from 'node:path';
import { type DocumentNode, evaluate, type MemberNode, type ObjectNode, type ValueNode } from '@humanwhocodes/momoa';
import { requireGiven } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import { flawOfNumbers } from '../../json/reader.ts';
import { composeText, isRefusedName } from '../expression/values.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { Flow } from './flow.ts';
import { describePlace, locateProblem, type Problem, sortProblems, type TextEdit } from './problem.ts';
import { schemaFindings } from './schema.ts';
import { type FlowSource, flowSource, makeFlowSource, pointerTo } from './source.ts';
import { outline, parseDocument } from './syntax.ts';

export interface ParsedFlow {
  /** Present if it conforms to the schema; it may have other problems. */
  readonly flow?: Flow;
  readonly source: FlowSource;
  readonly problems: readonly Problem[];
}

/** The suffix of flow files: `wallet.flow.json`. */
export const FLOW_FILE = '.flow.json';

/**
 * Parses a flow. Reports syntax errors, duplicate keys, violations of the schema, and a name that differs from the file's. Never throws.
 * @example
 * const { flow, problems } = parseFlow('{ "flow": "hi", "version": 1 }', 'hi.flow.json');
 * flow; // → undefined
 * problems.map(({ code }) => code); // → ['missing-key', 'missing-key']
 */
export function parseFlow(text: string, file: string): ParsedFlow {
  requireGiven('read a flow', { text, file }, { text: 'text', file: 'text' });
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const bytes = Buffer.byteLength(plain);
  if (bytes > FLOW_LIMITS.flowFileBytes) {
    const message = `The file has ${bytes} bytes, and ${FLOW_LIMITS.flowFileBytes} is the most.`;
    return refuseFlow(file, '', {
      code: 'too-large',
      line: 1,
      column: 1,
      message,
      fix: 'Split it into several flows.',
    });
  }
  const shape = outline(plain);
  if (shape.depth > FLOW_LIMITS.flowFileDepth) {
    const message = `It nests ${shape.depth} levels deep, and ${FLOW_LIMITS.flowFileDepth} is the most.`;
    return refuseFlow(file, plain, { code: 'too-deep', line: 1, column: 1, message, fix: 'Flatten its values.' });
  }
  const { document, fault } = parseDocument(plain, shape);
  if (fault) return refuseFlow(file, plain, { code: 'syntax', ...fault });
  return read(document, makeFlowSource(file, plain, document.body));
}

function read(document: DocumentNode, source: FlowSource): ParsedFlow {
  const value = composeTexts(evaluate(document) as Json);
  const problems = [...keyProblems(document.body, source), ...numberProblems(source)];
  const findings = schemaFindings(value);
  for (const { code, ...finding } of findings)
    problems.push(locateProblem(source, finding, { code, severity: 'error' }));
  if (findings.length) return { source, problems: sortProblems(problems) };
  const flow = value as unknown as Flow;
  return { flow, source, problems: sortProblems([...problems, ...nameProblems(flow, source)]) };
}

/** The same value with its texts in composed form, as inputs are: see {@link composeText}. */
export function composeTexts(value: Json): Json {
  if (typeof value === 'string') return composeText(value);
  if (Array.isArray(value)) return value.map(composeTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, composeTexts(part as Json)]));
}

function refuseFlow(
  file: string,
  text: string,
  fault: Pick<Problem, 'code' | 'line' | 'column' | 'message' | 'fix'>,
): ParsedFlow {
  return { source: flowSource(file, text), problems: [{ file, pointer: '', severity: 'error', ...fault }] };
}

/** Reports the first number that cannot be represented exactly. */
function numberProblems(source: FlowSource): Problem[] {
  const flaw = flawOfNumbers(source.text);
  if (!flaw) return [];
  const fix = 'Write a smaller number, or a text.';
  const finding = { pointer: flaw.pointer, message: `The value ${flaw.words}.`, fix };
  return [locateProblem(source, finding, { code: 'bad-value', severity: 'error' })];
}

/** Reports duplicate keys, of which only the last would count, and forbidden keys. */
function keyProblems(root: ValueNode, source: FlowSource): Problem[] {
  const problems: Problem[] = [];
  const visit = (node: ValueNode, pointer: string): void => {
    if (node.type === 'Array') for (const [at, { value }] of node.elements.entries()) visit(value, `${pointer}/${at}`);
    if (node.type !== 'Object') return;
    const lines = new Map<string, MemberNode>();
    for (const [at, { name, value }] of node.members.entries()) {
      if (name.type !== 'String') continue;
      const key = name.value;
      const { line, column } = name.loc.start;
      const place = { file: source.file, line, column, pointer: pointer + pointerTo(key), severity: 'error' } as const;
      const first = lines.get(key);
      const owner = pointer === '' ? 'the flow' : describePlace(pointer);
      if (first !== undefined) {
        const message = `"${key}" stands twice in ${owner}, first in line ${first.loc.start.line}; only the last would count.`;
        const edit = removeRepeated(source.text, node, { first, at });
        const fix = `Remove or rename one "${key}".`;
        problems.push({ ...place, code: 'duplicate-key', message, fix, ...(edit && { edit }) });
      } else if (isRefusedName(key)) {
        const message = `The key "${key}" in ${owner} is refused, because it leads to a prototype.`;
        problems.push({ ...place, code: 'reserved-name', message, fix: `Rename "${key}".` });
      }
      lines.set(key, node.members[at]!);
      visit(value, place.pointer);
    }
  };
  visit(root, '');
  return problems;
}

/** The edit that removes a member with a duplicate key; undefined if the values differ. */
export function removeRepeated(
  text: string,
  node: ObjectNode,
  { first, at }: { readonly first: MemberNode; readonly at: number },
): TextEdit | undefined {
  const readRaw = ({ loc }: ValueNode) => text.slice(loc.start.offset, loc.end.offset);
  return readRaw(first.value) === readRaw(node.members[at]!.value) ? removeMember(node, at) : undefined;
}

// Removes a member that is not the first, with its separator.
function removeMember({ members }: ObjectNode, at: number): TextEdit {
  const next = members[at + 1];
  const { start, end } = members[at]!.loc;
  if (next) return { from: start.offset, to: next.loc.start.offset, insert: '' };
  return { from: members[at - 1]!.loc.end.offset, to: end.offset, insert: '' };
}

function nameProblems(flow: Flow, source: FlowSource): Problem[] {
  const file = basename(source.file);
  if (!file.endsWith(FLOW_FILE) || file === flow.flow + FLOW_FILE) return [];
  const message = `The file is ${file}, but its flow is named "${flow.flow}".`;
  const fix = `Write "flow": "${file.slice(0, -FLOW_FILE.length)}", or rename the file to ${flow.flow}${FLOW_FILE}.`;
  return [
    locateProblem(
      source,
      { pointer: '/flow', message, fix, mend: { old: flow.flow, text: file.slice(0, -FLOW_FILE.length) } },
      { code: 'name-mismatch', severity: 'error' },
    ),
  ];
}
