// JSON Pointers (RFC 6901): read into steps, and written. Steps lead through own members only.

import type { Json } from '../store/store.ts';

/** A list or an object that may be changed. */
export type Container = Json[] | { [name: string]: Json };

/** The steps of a pointer, such as `['metadata', 'name']`; undefined for a text that is no pointer. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** One step as it is written in a pointer. */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether this is a list or an object. */
export function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

/** The position that a step names in a list of this length, the place behind its end included; else undefined. */
export function readIndex(step: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d{0,15})$/.test(step)) return undefined;
  return Number(step) <= length ? Number(step) : undefined;
}

/** The own member or item at a step; undefined when there is none. */
export function childAt(container: Container, step: string): Json | undefined {
  if (!Array.isArray(container)) return Object.hasOwn(container, step) ? container[step] : undefined;
  const index = readIndex(step, container.length - 1);
  return index === undefined ? undefined : container[index];
}
