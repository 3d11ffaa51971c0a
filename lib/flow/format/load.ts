// Loads flow files: one, or a folder of flows that call each other.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { applyRules, checkFlow, type LintContext } from '../lint/lint.ts';
import type { Flow } from './flow.ts';
import { FLOW_FILE, type ParsedFlow, parseFlow } from './parse.ts';
import { locateProblem, type Problem, problemLine, sortProblems } from './problem.ts';
import { flowSource, pointerTo, positionAt } from './source.ts';

export { parseFlow } from './parse.ts';

/** The flows of a folder, and the problems of its files. */
export interface LoadedFlows {
  /** The flows without errors, by name. */
  readonly flows: ReadonlyMap<string, Flow>;
  /** Problems of all files, in file order; flows with errors are not in `flows`. */
  readonly problems: readonly Problem[];
  /** Paths of the files that were read, sorted. */
  readonly files: readonly string[];
}

/**
 * Reads and checks one flow file. Throws ERR_FLOW_INVALID with all problems in its message and in `cause: { problems }`.
 * @example
 * const flow = await loadFlow('hello.flow.json', { services: new Set(['bills.find']) });
 * flow.flow; // → 'hello'
 */
export async function loadFlow(file: string, context: LintContext = {}): Promise<Flow> {
  requireGiven('load a flow', { file, ...context }, { file: 'text', services: 'names?', flows: 'flows?' });
  const text = await readText(file);
  const { flow, problems } = typeof text === 'string' ? checkFlow(text, file, context) : text;
  if (flow && !problems.some(isError)) return flow;
  throw invalidFlow(`Cannot load the flow ${file}.`, problems);
}

/** ERR_FLOW_INVALID with one problem per line, and the problems as `cause`. */
export function invalidFlow(what: string, problems: readonly Problem[]): TwinlineError {
  const lines = problems.map(problemLine);
  return new TwinlineError('ERR_FLOW_INVALID', [what, ...lines].join('\n'), { cause: { problems } });
}

/**
 * Reads and checks all `*.flow.json` files of a folder, which may call each other. Problems are returned, not thrown.
 * Throws ERR_CONFIG when the folder cannot be read.
 * @example
 * const { flows, problems } = await loadFlows('.');
 * [...flows.keys()]; // → ['hello']
 * problems.length; // → 0
 */
export async function loadFlows(folder: string, context: Omit<LintContext, 'flows'> = {}): Promise<LoadedFlows> {
  requireGiven('load flows', { folder, ...context }, { folder: 'text', services: 'names?' });
  return checkFlows(await readFlowFiles(folder), context);
}

/** The text of each file by path, or the problem that prevented reading it. */
export type FlowTexts = ReadonlyMap<string, string | ParsedFlow>;

/** Reads all `*.flow.json` files of a folder, sorted. Throws ERR_CONFIG if the folder cannot be read. */
export async function readFlowFiles(folder: string): Promise<FlowTexts> {
  const texts = new Map<string, string | ParsedFlow>();
  for (const name of await listFlowFiles(folder)) texts.set(join(folder, name), await readText(join(folder, name)));
  return texts;
}

/** Checks the flows of a folder together. */
export function checkFlows(texts: FlowTexts, context: Omit<LintContext, 'flows'>): LoadedFlows {
  const files = [...texts.keys()];
  const parsed = [...texts].map(([file, text]) => (typeof text === 'string' ? parseFlow(text, file) : text));
  const flows = new Map(parsed.flatMap(({ flow }) => (flow ? [[flow.flow, flow]] : [])));
  return { ...dropBroken(parsed.map((one) => applyRules(one, { ...context, flows }))), files };
}

/** Removes flows with errors, and flows that call them. */
function dropBroken(parsedFlows: readonly ParsedFlow[]): Omit<LoadedFlows, 'files'> {
  const problems = parsedFlows.map((one) => [...one.problems]);
  const flows = new Map<string, Flow>();
  for (const [at, { flow }] of parsedFlows.entries())
    if (flow && !problems[at]!.some(isError)) flows.set(flow.flow, flow);
  for (let before = -1; before !== flows.size; ) {
    before = flows.size;
    for (const [at, { flow, source }] of parsedFlows.entries()) {
      if (!flow || flows.get(flow.flow) !== flow) continue;
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'flow' || flows.has(screen.flow)) continue;
        const message = `Screen "${id}" calls the flow "${screen.flow}", which has errors of its own.`;
        const finding = { pointer: pointerTo('screens', id, 'flow'), message, fix: `Correct "${screen.flow}" first.` };
        problems[at]!.push(locateProblem(source, finding, { code: 'broken-flow', severity: 'error' }));
        flows.delete(flow.flow);
      }
    }
  }
  return { flows, problems: problems.flatMap(sortProblems) };
}

async function listFlowFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(FLOW_FILE) && !name.startsWith('.')).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = WHY[code ?? ''] ?? `it cannot be read (${code})`;
    throw new TwinlineError(
      'ERR_CONFIG',
      `Cannot load flows from the folder ${folder}: ${why}. Create it, or name the folder that holds your *${FLOW_FILE} files.`,
      { cause: error },
    );
  }
}

function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

const WHY: { readonly [code: string]: string } = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is a file',
  EACCES: 'this process may not read it',
};

/** The text of a file, or the problem that prevented reading it. */
export async function readText(file: string): Promise<string | ParsedFlow> {
  const fault = (fields: Pick<Problem, 'code' | 'message' | 'fix'> & Partial<Problem>): ParsedFlow => {
    const problem: Problem = { file, line: 1, column: 1, pointer: '', severity: 'error', ...fields };
    return { source: flowSource(file, ''), problems: [problem] };
  };
  let bytes: Buffer;
  try {
    const { size } = await stat(file);
    // Refuse to read very large files; a slightly too large one is read and reported later.
    if (size > FLOW_LIMITS.flowFileBytes * 2) {
      const message = `The file has ${size} bytes, and ${FLOW_LIMITS.flowFileBytes} is the most.`;
      return fault({ code: 'too-large', message, fix: 'Split it into several flows.' });
    }
    bytes = await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `The file cannot be read (${code}).`;
    return fault({ code: 'unreadable', message, fix: 'Check its path and its permissions.' });
  }
  const text = bytes.toString('utf8');
  const wrong = bytes.equals(Buffer.from(text)) ? -1 : text.indexOf('\uFFFD');
  if (wrong < 0) return text;
  const message = 'The file is not UTF-8 from here on.';
  const fix = 'Save it in the encoding UTF-8.';
  return fault({ code: 'encoding', ...positionAt(text, wrong), message, fix });
}
