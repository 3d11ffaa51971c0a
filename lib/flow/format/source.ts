// Source positions in JSON files: lines and columns by JSON pointer.

import { type ArrayNode, type ObjectNode, parse as parseJson, type ValueNode } from '@humanwhocodes/momoa';
import { escapeStep } from '../../json/reader.ts';

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
}

export interface FlowSource {
  readonly file: string;
  readonly text: string;
  /**
   * The start of the value at a JSON pointer; with `'key'`, of its key; with a number, of that character of a string. A missing
   * value has the position of its nearest parent.
   */
  locate(pointer: string, at?: 'key' | number): Position;
  /** The range of the value at a JSON pointer in UTF-16 units; undefined if it does not exist. */
  span(pointer: string): { readonly from: number; readonly to: number } | undefined;
}

interface LocatedValue {
  readonly value: ValueNode;
  readonly key?: Position | undefined;
}

/** Parses the positions in `text`; if it is not JSON, all positions are its start. */
export function flowSource(file: string, text: string): FlowSource {
  try {
    return makeFlowSource(file, text, parseJson(text).body);
  } catch {
    return { file, text, locate: () => ({ line: 1, column: 1 }), span: () => undefined };
  }
}

/** The positions in a parsed text. */
export function makeFlowSource(file: string, text: string, root: ValueNode): FlowSource {
  const members = new Map<ValueNode, ReadonlyMap<string, LocatedValue>>();
  const inside = (node: ValueNode): ReadonlyMap<string, LocatedValue> => {
    const children = members.get(node);
    if (children) return children;
    const entries = readChildren(node);
    members.set(node, entries);
    return entries;
  };
  const find = (pointer: string): { readonly found: LocatedValue; readonly exact: boolean } => {
    let place: LocatedValue = { value: root };
    for (const step of parsePointer(pointer)) {
      const next = inside(place.value).get(step);
      if (!next) return { found: place, exact: false };
      place = next;
    }
    return { found: place, exact: true };
  };
  return {
    file,
    text,
    span: (pointer) => {
      const { found, exact } = find(pointer);
      return exact ? { from: found.value.loc.start.offset, to: found.value.loc.end.offset } : undefined;
    },
    locate: (pointer, at) => {
      const { found, exact } = find(pointer);
      const { line, column, offset } = found.value.loc.start;
      if (!exact || at === 'key') return found.key ?? { line, column };
      const ahead = at === undefined || found.value.type !== 'String' ? 0 : rawOffset(text, offset, at);
      return { line, column: column + ahead };
    },
  };
}

/** `/screens/pin` for `('screens', 'pin')`. */
export function pointerTo(...steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${escapeStep(String(step))}`).join('');
}

/** `['screens', 'pin']` for `/screens/pin`. */
export function parsePointer(pointer: string): string[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function readChildren(node: ValueNode): ReadonlyMap<string, LocatedValue> {
  if (node.type === 'Object') return readMembers(node);
  return node.type === 'Array' ? readElements(node) : new Map();
}

function readMembers(node: ObjectNode): Map<string, LocatedValue> {
  const children = new Map<string, LocatedValue>();
  for (const { name, value } of node.members) {
    const { line, column } = name.loc.start;
    if (name.type === 'String') children.set(name.value, { value, key: { line, column } });
  }
  return children;
}

function readElements(node: ArrayNode): Map<string, LocatedValue> {
  return new Map(node.elements.map(({ value }, at) => [String(at), { value }]));
}

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/y;

// Offset of a character of a string from its opening quote in the file, where escapes take more than one character.
function rawOffset(text: string, quote: number, character: number): number {
  let at = quote + 1;
  for (let count = 0; count < character; count++) {
    ESCAPE.lastIndex = at;
    at += ESCAPE.exec(text)?.[0].length ?? 1;
  }
  return at - quote;
}

/** Line and column of an offset. */
export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The offset of a line and column. */
export function offsetAt(text: string, { line, column }: Position): number {
  if (lines.text !== text) lines = { text, starts: findLineStarts(text) };
  return lines.starts[line - 1]! + column - 1;
}

// Cached, because many positions of one text are looked up in a row.
let lines: { readonly text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
