// Places of a flow in words, and what stands there. Works on flows with errors.

import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { parsePointer, pointerTo } from '../format/source.ts';
import { sayExpression } from './plain-words.ts';

/** A screen and the first words that it says, or its type. */
export function describeScreen(root: JsonObject, id: string): { readonly value: string; readonly about: string } {
  const screen = valueAt(root, pointerTo('screens', id));
  const text = isObject(screen) ? screen.text : undefined;
  const words = typeof text === 'string' ? text : isObject(text) ? Object.values(text)[0] : undefined;
  const type = isObject(screen) ? String(screen.type ?? '') : '';
  return { value: id, about: typeof words === 'string' ? words.split('\n')[0]!.slice(0, 40) : type };
}

/** The place of a reference in words: `home › “About us”`, `check › done, where check.ok is true`. */
export function describeReference(root: JsonObject, pointer: string): string {
  const steps = parsePointer(pointer);
  if (steps[0] !== 'screens') return steps.join(' › ');
  const [, id, ...rest] = steps;
  const owner = valueAt(root, pointerTo(...steps.slice(0, -1)));
  const when = isObject(owner) && typeof owner.when === 'string' ? owner.when : undefined;
  const where = when === undefined ? '' : `, where ${sayExpression(when) ?? when}`;
  const text = isObject(owner) && rest[0] === 'options' ? owner.text : undefined;
  const words = typeof text === 'string' ? text : isObject(text) ? Object.values(text)[0] : undefined;
  if (typeof words === 'string') return `${id} › “${words}”${where}`;
  const isLast = where === '' && rest.length === 3;
  return `${id} › ${rest[0]}${where}${isLast ? ', else' : ''}`;
}

/** The value at a pointer; undefined if there is none. */
export function valueAt(root: Json | undefined, pointer: string): Json | undefined {
  return parsePointer(pointer).reduce<Json | undefined>((value, step) => {
    if (Array.isArray(value)) return value[Number(step)];
    return isObject(value) && Object.hasOwn(value, step) ? (value[step] as Json) : undefined;
  }, root);
}
