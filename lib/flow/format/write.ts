// Formats the JSON of flow and test files for people: two spaces of indentation, and lines of at most 120 characters where texts allow it.

import type { Json, JsonObject } from '../../json/json.ts';

/** The longest line, where texts allow it. */
export const LINE_CHARS = 120;

export interface ValuePlace {
  /** Before the line on which the value begins. @default '' */
  readonly indent?: string;
  /** Characters that precede and follow the value on its line, after the indentation. @default 0 */
  readonly taken?: number;
  /** The longest line. @default LINE_CHARS */
  readonly width?: number;
  /** One level of indentation. @default two spaces */
  readonly unit?: string;
}

/** The text of a file. */
export function formatFile(value: Json): string {
  return `${formatValue(value)}\n`;
}

/** A value that is broken into lines where it does not fit on one. */
export function formatValue(value: Json, place: ValuePlace = {}): string {
  const { indent = '', taken = 0, width = LINE_CHARS, unit = '  ' } = place;
  const line = formatOnLine(value);
  if (value === null || typeof value !== 'object' || indent.length + taken + line.length <= width) return line;
  const inside = indent + unit;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((item) => formatValue(item, { ...place, indent: inside, taken: 1 }))
    : Object.entries(value as JsonObject).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + formatValue(item, { ...place, indent: inside, taken: name.length + 1 });
      });
  return `${open}\n${parts.map((part) => inside + part).join(',\n')}\n${indent}${close}`;
}

/** A value on one line. */
export function formatOnLine(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatOnLine).join(', ')}]`;
  const members = Object.entries(value as JsonObject).map(
    ([key, item]) => `${JSON.stringify(key)}: ${formatOnLine(item)}`,
  );
  return members.length ? `{ ${members.join(', ')} }` : '{}';
}
