// A machine as the JSON config that createMachine and Stately's tools open: states, events, names. Code stays behind.

import type { AnyStateMachine } from 'xstate';
import type { Json, JsonObject } from '../store/store.ts';

// Their values are data of the author, to be kept as they are.
const VALUES = new Set(['meta', 'context', 'tags', 'output']);

/**
 * The config of a machine: functions among its parameters, inputs and contexts are left out, functions in the place of
 * actions and guards become `{ type }` with their name.
 */
export function machineConfig({ config }: AnyStateMachine): JsonObject {
  return (jsonOf(config, undefined) ?? {}) as JsonObject;
}

const NAMED = new Set(['actions', 'entry', 'exit', 'guard']);

function jsonOf(value: unknown, key: string | undefined): Json | undefined {
  if (typeof value === 'function') return key !== undefined && NAMED.has(key) ? { type: nameOf(value) } : undefined;
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, key)).filter((item) => item !== undefined);
  if (typeof value !== 'object' || value === null) return value as Json | undefined;
  if (key !== undefined && VALUES.has(key)) return JSON.parse(JSON.stringify(value)) as Json;
  const entries = Object.entries(value).map(([name, item]) => [name, jsonOf(item, name)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as JsonObject;
}

function nameOf(made: unknown): string {
  const { type, name } = made as { readonly type?: unknown; readonly name?: string };
  return typeof type === 'string' ? type : name || 'inline';
}
