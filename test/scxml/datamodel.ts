// SCXML's ECMAScript datamodel over an XState context: expressions, statements, delays and the names of events.

import type { EventObject } from 'xstate';
import { childrenOf, type Element } from './document.ts';

export type Data = { readonly [name: string]: unknown };

export interface Now {
  readonly context: Data;
  readonly event: EventObject & { readonly data?: unknown };
}

/** The value of an expression over the variables and `_event`. */
export function evaluate(expression: string, now: Now): unknown {
  return program(`return (${expression});`)(scopeOf(now));
}

/** The variables after these statements. */
export function perform(statements: string, now: Now): Data {
  const scope = scopeOf(now);
  program(statements)(scope);
  return mapValues(scope, keep);
}

/** The variables as `<data>` elements begin them; without a value they are there and undefined. */
export function initialData(root: Element): Data {
  const data: Record<string, unknown> = {};
  for (const { attributes, text } of childrenOf(root, 'datamodel').flatMap((model) => childrenOf(model, 'data'))) {
    const source = attributes.expr ?? text.trim();
    data[attributes.id!] = source ? evaluate(source, { context: data, event: { type: '' } }) : undefined;
  }
  return mapValues(data, keep);
}

// A context holds no functions: one of the document is kept as its source, and made again where it is read.
const keep = (value: unknown) => (typeof value === 'function' ? { source: String(value) } : value);
const revive = (value: unknown) => (isSource(value) ? program(`return (${value.source});`)({}) : value);
const isSource = (value: unknown): value is { source: string } =>
  typeof value === 'object' && value !== null && 'source' in value;

const mapValues = (data: Data, change: (value: unknown) => unknown): Data =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, change(value)]));

/** Milliseconds of `10ms`, `1.5s` or `.5s`. */
export function delayMs(text: string): number {
  const match = /^([\d.]+)(ms|s)$/.exec(text);
  if (!match) throw new Error(`"${text}" is not a delay`);
  return Number(match[1]) * (match[2] === 's' ? 1000 : 1);
}

/** `done.state.a` is `xstate.done.state.a` here. */
export const toXState = (name: string) => (name.startsWith('done.state.') ? `xstate.${safeId(name)}` : name);

/** XState reads dots in ids as paths. */
export const safeId = (id: string) => (id.startsWith('done.state.') ? `done.state.${safe(id.slice(11))}` : safe(id));
const safe = (id: string) => id.replaceAll('.', '_');

const SESSION = 'session';
/** What `_ioprocessors` says: both processors lead back to this session, no HTTP is spoken. */
const LOCATION = `#_scxml_${SESSION}`;
const SYSTEM = {
  _sessionid: SESSION,
  _ioprocessors: { scxml: { location: LOCATION }, basichttp: { location: LOCATION } },
};

// The variables are own properties; what SCXML gives stands behind them, out of reach of assignments.
function scopeOf({ context, event }: Now): Data {
  const _event = { name: event.type.replace(/^xstate\./, ''), data: event.data };
  return Object.assign(Object.create({ ...SYSTEM, _event }), mapValues(context, revive));
}

const programs = new Map<string, (scope: Data) => unknown>();

function program(source: string): (scope: Data) => unknown {
  const known = programs.get(source);
  if (known) return known;
  const made = new Function('$', `with ($) { ${source} }`) as (scope: Data) => unknown;
  programs.set(source, made);
  return made;
}
