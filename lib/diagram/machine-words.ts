// Events, guards and actions of a machine in few words, as labels show them.

import type { AnyTransitionDefinition } from 'xstate';

type Named = { readonly type: string; readonly params?: unknown };

/** `CAST`, `execute done`, `execute failed`, `after votingPeriod`; '' for a transition that needs no event. */
export function eventWords({ eventType, source }: AnyTransitionDefinition): string {
  const [, kind, name = ''] = /^xstate\.(done\.actor|error\.actor|done\.state|after)\.(.+)$/.exec(eventType) ?? [];
  switch (kind) {
    case 'done.actor':
      return `${shortOf(name)} done`;
    case 'error.actor':
      return `${shortOf(name)} failed`;
    case 'done.state':
      return 'done';
    case 'after': {
      const delay = name.endsWith(`.${source.id}`) ? name.slice(0, -source.id.length - 1) : name;
      return `after ${/^\d+$/.test(delay) ? `${delay} ms` : delay}`;
    }
    default:
      return eventType;
  }
}

// XState names a call without an id after its state: `0.machine.state`.
function shortOf(name: string): string {
  return /^\d+\./.test(name) ? 'call' : name;
}

/** `mayVote`, `outcome voting passes`: a guard with its parameters, or undefined when there is none. */
export function guardWords(guard: unknown): string | undefined {
  if (guard === undefined || guard === null) return undefined;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return nameOf(guard) ?? 'guard';
  const { type, params } = guard as Named;
  const values = params && typeof params === 'object' ? Object.values(params).filter(isShort) : [];
  return [type, ...values].join(' ');
}

/** The names of actions; a function without a name is `action`. */
export function namesOf(actions: readonly unknown[]): string[] {
  return actions.map((action) => {
    if (typeof action === 'string') return action;
    if (typeof action === 'function') return nameOf(action) ?? 'action';
    const { type } = action as { readonly type: unknown };
    return typeof type === 'string' ? type : 'action';
  });
}

const isShort = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

function nameOf(made: unknown): string | undefined {
  const { name } = made as { readonly name?: string };
  return name === undefined || name === '' ? undefined : name;
}
