// Converts names to valid, unique names of a flow: a letter, then letters, digits and `_`.

import { isName } from '../format/flow.ts';

const NAME_CHARS = 40;
const RESERVED = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null', 'row', 'error', 'lang']);

/** `favorite_color` for `Favorite Color`; `fallback` if no character is usable. */
export function makeName(text: string, fallback: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '')
    .slice(0, NAME_CHARS)
    .replace(/_+$/, '');
  return isName(plain) && !RESERVED.has(plain.toLowerCase()) ? plain : fallback;
}

/** The variable name for a key, always the same; valid names are kept. */
export function makeVariableName(key: string): string {
  if (key === 'lang' || (isName(key) && !RESERVED.has(key.toLowerCase()))) return key;
  return makeName(key, `v_${makeName(`v${key}`, 'value')}`);
}

/** Makes names unique: `menu`, `menu_2`, `menu_3`. */
export function uniqueNames(names: Iterable<string> = []): (wish: string) => string {
  const reserved = new Set(names);
  const counts = new Map<string, number>();
  return (wish) => {
    let name = wish;
    let count = counts.get(wish) ?? 1;
    while (reserved.has(name)) name = `${wish.slice(0, 56)}_${++count}`;
    counts.set(wish, count);
    reserved.add(name);
    return name;
  };
}
