// Values of variables as trees: what is large is closed until it is opened.

import { element } from './element.ts';

/** Parts that are open from the beginning. */
const OPEN_PARTS = 4;

/** A value as text, or as a tree of its parts. */
export function valueTree(value: unknown, depth = 0): Node {
  if (value === null || typeof value !== 'object')
    return document.createTextNode(typeof value === 'string' && depth === 0 ? value : JSON.stringify(value));
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((part, at) => [String(at + 1), part])
    : Object.entries(value);
  if (parts.length === 0) return document.createTextNode(Array.isArray(value) ? 'an empty list' : 'empty');
  const count = `${parts.length} ${Array.isArray(value) ? (parts.length === 1 ? 'item' : 'items') : parts.length === 1 ? 'field' : 'fields'}`;
  const lines = parts.map(([name, part]) =>
    element('li', {}, [element('span', { class: 'name', text: `${name}: ` }), valueTree(part, depth + 1)]),
  );
  return element('details', { class: 'tree', is: { open: depth === 0 && parts.length <= OPEN_PARTS } }, [
    element('summary', { text: count }),
    element('ul', {}, lines),
  ]);
}
