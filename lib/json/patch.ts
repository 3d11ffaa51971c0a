// JSON Pointers (RFC 6901), whose steps lead through own members only, and JSON Patch (RFC 6902), which applies operations to a
// copy within a budget of bytes that `copy` may add.

import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json.ts';

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

/** Whether this is a list or an object. */
export function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

/** The position that a step names in a list of this length, the place behind its end included; else undefined. */
function readIndex(step: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d{0,15})$/.test(step)) return undefined;
  return Number(step) <= length ? Number(step) : undefined;
}

/** The own member or item at a step; undefined when there is none. */
export function childAt(container: Container, step: string): Json | undefined {
  if (!Array.isArray(container)) return Object.hasOwn(container, step) ? container[step] : undefined;
  const index = readIndex(step, container.length - 1);
  return index === undefined ? undefined : container[index];
}

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

/** Why an operation cannot be applied. Only `test` says that a value is another one. */
export interface PatchFault {
  readonly kind: 'test' | 'operation';
  /** The number of the operation, from 0. */
  readonly at: number;
  /** The end of a sentence about the operation. */
  readonly error: string;
}

export type PatchResult = { readonly value: Json } | { readonly fault: PatchFault };

/** `target` after all operations, or why one of them fails; `target` stays. Copies take `copyBytes` of JSON together. */
export function applyJsonPatch(
  target: Json,
  operations: readonly Operation[],
  { copyBytes }: { readonly copyBytes: number },
): PatchResult {
  const document: PatchedDocument = { root: structuredClone(target), bytesLeft: copyBytes };
  for (const [at, operation] of operations.entries()) {
    const error = APPLY[operation.op](document, operation);
    if (error !== undefined) return { fault: { kind: error === DIFFERS ? 'test' : 'operation', at, error } };
  }
  return { value: document.root };
}

interface PatchedDocument {
  root: Json;
  /** Bytes of JSON that further copies may take. */
  bytesLeft: number;
}

const MISSING = 'there is no such place';
const DIFFERS = 'does not hold';
const NO_VALUE = 'needs a value';
const NO_SOURCE = 'needs from';
const REFUSED = 'leads through __proto__, which is no name in a record';
const NO_POINTER = 'is no JSON pointer';

/** Undefined: it is applied. Else what is wrong. */
type Apply = (document: PatchedDocument, operation: Operation) => string | undefined;

const APPLY: { readonly [op in Operation['op']]: Apply } = {
  add: (document, { path, value }) => (value === undefined ? NO_VALUE : change(document, path, insertion(value))),
  remove: (document, { path }) => change(document, path, REMOVAL),
  replace: (document, { path, value }) => (value === undefined ? NO_VALUE : change(document, path, replacement(value))),
  test(document, { path, value }) {
    if (value === undefined) return NO_VALUE;
    const found = find(document, path);
    if ('error' in found) return found.error === MISSING ? DIFFERS : found.error;
    return isDeepStrictEqual(found.value, value) ? undefined : DIFFERS;
  },
  copy(document, { from, path }) {
    if (from === undefined) return NO_SOURCE;
    const found = find(document, from);
    if ('error' in found) return `cannot copy from ${from}: ${found.error}`;
    document.bytesLeft -= countBytes(found.value);
    if (document.bytesLeft < 0) return 'copies more than a record may hold';
    return change(document, path, insertion(structuredClone(found.value)));
  },
  move(document, { from, path }) {
    if (from === undefined) return NO_SOURCE;
    const found = find(document, from);
    if ('error' in found) return `cannot move from ${from}: ${found.error}`;
    if (path === from) return undefined;
    if (path.startsWith(`${from}/`)) return 'moves a value into itself';
    return change(document, from, REMOVAL) ?? change(document, path, insertion(found.value));
  },
};

function countBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function find(document: PatchedDocument, pointer: string): { value: Json } | { error: string } {
  const steps = parsePointer(pointer);
  if (!steps) return { error: NO_POINTER };
  let value: Json | undefined = document.root;
  for (const step of steps) {
    if (step === '__proto__') return { error: REFUSED };
    value = isContainer(value) ? childAt(value, step) : undefined;
    if (value === undefined) return { error: MISSING };
  }
  return { value };
}

/** What becomes of a place in a list, in an object, and of the whole document. False: there is no such place. */
interface PlaceChange {
  readonly inList: (list: Json[], step: string) => boolean;
  readonly inObject: (object: { [name: string]: Json }, name: string) => boolean;
  readonly whole: Json;
}

const insertion = (value: Json): PlaceChange => ({
  whole: value,
  inList(list, step) {
    const index = step === '-' ? list.length : readIndex(step, list.length);
    if (index !== undefined) list.splice(index, 0, value);
    return index !== undefined;
  },
  inObject(object, name) {
    object[name] = value;
    return true;
  },
});

const replacement = (value: Json): PlaceChange => ({
  whole: value,
  inList(list, step) {
    const index = readIndex(step, list.length - 1);
    if (index !== undefined) list[index] = value;
    return index !== undefined;
  },
  inObject(object, name) {
    if (!Object.hasOwn(object, name)) return false;
    object[name] = value;
    return true;
  },
});

const REMOVAL: PlaceChange = {
  whole: null,
  inList(list, step) {
    const index = readIndex(step, list.length - 1);
    if (index !== undefined) list.splice(index, 1);
    return index !== undefined;
  },
  inObject: (object, name) => Object.hasOwn(object, name) && delete object[name],
};

function change(
  document: PatchedDocument,
  pointer: string,
  { whole, inList, inObject }: PlaceChange,
): string | undefined {
  const steps = parsePointer(pointer);
  if (!steps) return NO_POINTER;
  const last = steps.pop();
  if (last === undefined) {
    document.root = whole;
    return undefined;
  }
  if (last === '__proto__') return REFUSED;
  const found = find(document, pointer.slice(0, pointer.lastIndexOf('/')));
  if ('error' in found) return found.error;
  if (!isContainer(found.value)) return MISSING;
  const parent: Container = found.value;
  const isDone = Array.isArray(parent) ? inList(parent, last) : inObject(parent, last);
  return isDone ? undefined : MISSING;
}
