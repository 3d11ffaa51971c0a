// Where things stand in a flow file: lines and columns by JSON pointer.

import { type ArrayNode, type ObjectNode, parse, type ValueNode } from '@humanwhocodes/momoa';

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
   * Where the value at a JSON pointer begins; with `'key'` its key, with a number that character of a text. What does
   * not exist stands where its nearest parent does.
   */
  locate(pointer: string, at?: 'key' | number): Position;
}

interface Found {
  readonly value: ValueNode;
  readonly key?: Position | undefined;
}

/** The positions in `text`; in a text that is no JSON everything stands at the beginning. */
export function flowSource(file: string, text: string): FlowSource {
  try {
    return sourceOf(file, text, parse(text).body);
  } catch {
    return { file, text, locate: () => ({ line: 1, column: 1 }) };
  }
}

/** The positions in a text that has been parsed already. */
export function sourceOf(file: string, text: string, root: ValueNode): FlowSource {
  const members = new Map<ValueNode, ReadonlyMap<string, Found>>();
  const inside = (node: ValueNode): ReadonlyMap<string, Found> => {
    const known = members.get(node);
    if (known) return known;
    const found = childrenOf(node);
    members.set(node, found);
    return found;
  };
  return {
    file,
    text,
    locate: (pointer, at) => {
      let found: Found = { value: root };
      let exact = true;
      for (const step of stepsOf(pointer)) {
        const next = inside(found.value).get(step);
        if (!next) exact = false;
        if (!next) break;
        found = next;
      }
      const { line, column, offset } = found.value.loc.start;
      if (!exact || at === 'key') return found.key ?? { line, column };
      const ahead = at === undefined || found.value.type !== 'String' ? 0 : rawOffset(text, offset, at);
      return { line, column: column + ahead };
    },
  };
}

/** `/screens/pin` for `('screens', 'pin')`. */
export function pointerTo(...steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}

/** `['screens', 'pin']` for `/screens/pin`. */
export function stepsOf(pointer: string): string[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function childrenOf(node: ValueNode): ReadonlyMap<string, Found> {
  if (node.type === 'Object') return membersOf(node);
  return node.type === 'Array' ? elementsOf(node) : new Map();
}

function membersOf(node: ObjectNode): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const { name, value } of node.members) {
    const { line, column } = name.loc.start;
    if (name.type === 'String') found.set(name.value, { value, key: { line, column } });
  }
  return found;
}

function elementsOf(node: ArrayNode): Map<string, Found> {
  return new Map(node.elements.map(({ value }, at) => [String(at), { value }]));
}

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/y;

// How far behind its opening quote the given character of a text stands in the file, where escapes are longer.
function rawOffset(text: string, quote: number, character: number): number {
  let at = quote + 1;
  for (let seen = 0; seen < character; seen++) {
    ESCAPE.lastIndex = at;
    at += ESCAPE.exec(text)?.[0].length ?? 1;
  }
  return at - quote;
}
