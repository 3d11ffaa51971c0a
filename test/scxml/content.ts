// Executable content of SCXML as XState actions.

import { assign, cancel, type EventObject, enqueueActions, raise } from 'xstate';
import { delayMs, evaluate, type Now, perform, safeId } from './datamodel.ts';
import { childrenOf, type Element } from './document.ts';

export type Action = ReturnType<typeof assign>;

/** The actions of all elements inside `element`, in order. */
export function actionsIn(element: Element): Action[] {
  return element.children.flatMap(actionsOf);
}

const CONTENT: { readonly [name: string]: (element: Element) => readonly unknown[] } = {
  raise: ({ attributes }) => [raise({ type: attributes.event! })],
  log: () => [],
  assign: ({ attributes, text }) => [performing(`${attributes.location} = ${attributes.expr ?? text};`)],
  script: ({ text }) => [performing(text)],
  cancel: ({ attributes }) => [cancel(safeId(attributes.sendid!))],
  send: (element) => [sending(element)],
  if: (element) => [choosing(element)],
};

function actionsOf(element: Element): Action[] {
  const make = CONTENT[element.name];
  if (!make) throw new Error(`<${element.name}> is not converted`);
  return make(element) as Action[];
}

const performing = (statements: string) => assign((now) => perform(statements, now as Now));

/** `<elseif>` and `<else>` stand between the actions that they begin. */
function choosing(element: Element) {
  const branches = [{ cond: element.attributes.cond!, actions: [] as Action[] }];
  for (const child of element.children)
    if (child.name === 'elseif' || child.name === 'else')
      branches.push({ cond: child.attributes.cond ?? 'true', actions: [] });
    else branches.at(-1)!.actions.push(...actionsOf(child));
  return enqueueActions(({ context, event, enqueue }) => {
    const taken = branches.find(({ cond }) => evaluate(cond, { context, event }));
    for (const action of taken?.actions ?? []) enqueue(action as never);
  });
}

// Everything about a send is evaluated when it is sent, not when it arrives.
function sending(element: Element) {
  const { attributes } = element;
  return enqueueActions(({ context, event, enqueue, self }) => {
    const now = { context, event };
    const value = (name: string) => {
      const expression = attributes[`${name}expr`];
      return expression === undefined ? attributes[name] : (evaluate(expression, now) as string);
    };
    const params = childrenOf(element, 'param').map(({ attributes: a }) => [a.name!, evaluate(a.expr!, now)]);
    const sent: EventObject & { data?: unknown } = { type: value('event')! };
    if (params.length) sent.data = Object.fromEntries(params);
    const delay = value('delay');
    const options = {
      ...(attributes.id !== undefined && { id: safeId(attributes.id) }),
      ...(delay !== undefined && { delay: delayMs(delay) }),
    };
    const target = value('target') ?? '#_scxml_';
    if (target === '#_internal') enqueue.raise(sent as never);
    else if (target.startsWith('#_scxml_')) enqueue.sendTo(self, sent, options);
  });
}
