// A file of flow tests as text, the way that people write one: a step in a line where it fits.

import type { Json, JsonObject } from '../../store/store.ts';
import type { FlowTestFile } from './file.ts';

const WIDTH = 120;

/** The JSON of flow tests, with two spaces of indentation and lines of at most 120 characters where texts allow it. */
export function writeFlowTests(file: FlowTestFile): string {
  return `${write(file as unknown as Json, '', 0)}\n`;
}

// `taken` is what stands before the value and behind it in its line.
function write(value: Json, indent: string, taken: number): string {
  const line = valueText(value);
  if (value === null || typeof value !== 'object' || indent.length + taken + line.length <= WIDTH) return line;
  const inside = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, inside, 1))
    : Object.entries(value as JsonObject).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + write(item, inside, name.length + 1);
      });
  return `${open}\n${parts.map((part) => inside + part).join(',\n')}\n${indent}${close}`;
}

/** A value in one line, as it stands in such a file. */
export function valueText(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  const members = Object.entries(value as JsonObject).map(
    ([key, item]) => `${JSON.stringify(key)}: ${valueText(item)}`,
  );
  return members.length ? `{ ${members.join(', ')} }` : '{}';
}
