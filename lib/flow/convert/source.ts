// Parses a file of another program, and reads its values defensively: nothing is assumed to have the right type.

import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import { type Problem, problemLine } from '../format/problem.ts';
import { outline, parseDocument } from '../format/syntax.ts';
import { FLOW_LIMITS } from '../limits.ts';

export type Foreign = { readonly [name: string]: unknown };

/** Maximum number of nodes in a file. */
export const NODES_MAX = 10_000;
/** Maximum nesting; exports nest deeper than flows. */
const DEPTH_MAX = FLOW_LIMITS.flowFileDepth * 2;
export const FILE_BYTES_MAX = FLOW_LIMITS.flowFileBytes * 4;

/** Parses a JSON object. Throws ERR_INPUT with the position and the reason. */
export function readForeign(text: string, file: string): Foreign {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const bytes = Buffer.byteLength(plain);
  if (bytes > FILE_BYTES_MAX)
    throw refuseFile(file, `it has ${bytes} bytes, and ${FILE_BYTES_MAX} is the most. Export fewer flows at once`);
  const shape = outline(plain);
  if (shape.depth > DEPTH_MAX)
    throw refuseFile(file, `it nests ${shape.depth} levels deep, and ${DEPTH_MAX} is the most. Flatten its values`);
  const value = parseJson(plain, file);
  if (!isObject(value)) throw refuseFile(file, 'it holds no JSON object. Give the file as its program exported it');
  return value;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The other parser reports the position.
    const { fault } = parseDocument(text, outline(text));
    const where = fault && `line ${fault.line}, column ${fault.column}: ${fault.message} ${fault.fix}`;
    throw refuseFile(file, where?.replace(/\.$/, '') ?? 'it is not JSON');
  }
}

/** ERR_INPUT about a file that cannot be converted. */
export function refuseFile(file: string, why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `Cannot convert ${file}: ${why}.`);
}

/** ERR_INPUT for a flow that cannot be converted, with its problems. */
export function refuseFlow(flow: string, problems: readonly Problem[]): TwinlineError {
  const errors = problems.filter(({ severity }) => severity === 'error').map(problemLine);
  return new TwinlineError('ERR_INPUT', [`Cannot make a sound flow of "${flow}".`, ...errors].join('\n'));
}

/** The value if it is an object, else an empty object. */
export function asObject(value: unknown): Foreign {
  return isObject(value) ? value : {};
}

/** The objects in a list; other items are skipped. */
export function asObjects(value: unknown): Foreign[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The value if it is a non-empty text. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An own property of an object, or undefined. */
export function getOwn(object: Foreign, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
