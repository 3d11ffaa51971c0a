// From SCXML to XState: states, transitions, history and final states become a machine config.

import { type AnyStateMachine, createMachine, not, stateIn } from 'xstate';
import { actionsIn } from './content.ts';
import { evaluate, initialData, type Now, safeId, toXState } from './datamodel.ts';
import { childrenOf, type Element } from './document.ts';

/** A new machine of the document. */
export function toMachine(root: Element): AnyStateMachine {
  const { id: _, ...config } = stateOf(root);
  return createMachine({ ...config, id: 'scxml', context: initialData(root) } as never) as AnyStateMachine;
}

const STATES = ['state', 'parallel', 'final', 'history'];
type Config = { readonly [key: string]: unknown };

function stateOf(element: Element): Config {
  const id = safeId(element.attributes.id ?? '');
  if (childrenOf(element, 'invoke').length) throw new Error('<invoke> is not converted');
  if (element.name === 'history') return historyOf(element, id);
  const states = childrenOf(element, ...STATES);
  const transitions = childrenOf(element, 'transition');
  const isNamed = (transition: Element) => transition.attributes.event !== undefined;
  return {
    id,
    ...(element.name === 'parallel' && { type: 'parallel' }),
    ...(element.name === 'final' && { type: 'final' }),
    ...(states.length && {
      states: Object.fromEntries(states.map((child) => [safeId(child.attributes.id!), stateOf(child)])),
    }),
    ...(states.length && element.name !== 'parallel' && { initial: initialOf(element, states[0]!) }),
    entry: childrenOf(element, 'onentry').flatMap(actionsIn),
    exit: childrenOf(element, 'onexit').flatMap(actionsIn),
    always: transitions.filter((transition) => !isNamed(transition)).map(transitionOf),
    on: byDescriptor(transitions.filter(isNamed)),
  };
}

function historyOf({ attributes, children }: Element, id: string): Config {
  const [initial] = children;
  return {
    id,
    type: 'history',
    history: attributes.type ?? 'shallow',
    ...(initial && { target: targetsOf(initial) }),
  };
}

function initialOf(element: Element, first: Element): Config {
  const [transition] = childrenOf(element, 'initial').flatMap((initial) => childrenOf(initial, 'transition'));
  const target = transition?.attributes.target ?? element.attributes.initial ?? first.attributes.id!;
  return { target: safeId(target), actions: transition ? actionsIn(transition) : [] };
}

// An event descriptor matches its own name and every name that begins with it and a dot.
function byDescriptor(transitions: readonly Element[]): { [descriptor: string]: Config[] } {
  const on: { [descriptor: string]: Config[] } = {};
  for (const transition of transitions)
    for (const descriptor of transition.attributes.event!.split(/\s+/)) {
      const name = toXState(descriptor.replace(/\.\*?$/, ''));
      for (const key of name === '*' ? ['*'] : [name, `${name}.*`]) {
        on[key] ??= [];
        on[key].push(transitionOf(transition));
      }
    }
  return on;
}

function transitionOf(element: Element): Config {
  const { cond, target, type } = element.attributes;
  return {
    ...(target !== undefined && { target: targetsOf(element), reenter: type !== 'internal' }),
    ...(cond !== undefined && { guard: guardOf(cond) }),
    actions: actionsIn(element),
  };
}

const targetsOf = ({ attributes }: Element) => attributes.target!.split(/\s+/).map((id) => `#${safeId(id)}`);

// Only XState's own guard sees the configuration, so In() stands alone or after a `!`.
function guardOf(cond: string): unknown {
  const inState = /^(!?)In\('([^']+)'\)$/.exec(cond.trim());
  if (!inState) return (now: Now) => Boolean(evaluate(cond, now));
  const isIn = stateIn(`#${safeId(inState[2]!)}`);
  return inState[1] ? not(isIn) : isIn;
}
