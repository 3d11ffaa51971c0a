// The machines that tests of diagrams draw: what is shipped, one of every construct, and a large one.

import { readdirSync, readFileSync } from 'node:fs';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
import { parseFlow } from '../../lib/flow/format/load.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { flowOf, menuTo } from '../flow/phone.ts';

const MENUS = new URL('../../menus/', import.meta.url);

/** The flows of the package, by name. */
export const shipped: ReadonlyMap<string, CompiledFlow> = new Map(
  readdirSync(MENUS)
    .filter((name) => name.endsWith('.flow.json'))
    .map((name) => {
      const flow = parseFlow(readFileSync(new URL(name, MENUS), 'utf8'), name).flow!;
      return [flow.flow, compileFlow(flow)];
    }),
);

const pay = flowOf(
  {
    amount: { ...{ type: 'input', text: 'How much?', save: 'amount', accept: { digits: 2 } }, ...ways('send') },
    send: { type: 'call', service: 'pay.send', timeout: '3s', retry: 1, done: 'paid', fail: 'sorry' },
    paid: { type: 'end', text: 'Paid' },
    sorry: { type: 'end', text: 'Sorry' },
  },
  { flow: 'pay', vars: { amount: { type: 'string' } } },
);

function ways(to: string) {
  return { attempts: 3, else: 'sorry', to };
}

/** A flow with every kind of screen, which calls another one twice. */
export const everything: CompiledFlow = compileFlow(
  flowOf(
    {
      first: menuTo('pay', 'rows', 'asks', 'again'),
      pay: { type: 'flow', flow: 'pay', done: [{ when: 'a == 1', to: 'rows' }, { to: 'first' }] },
      again: { type: 'flow', flow: 'pay', done: 'first' },
      rows: { type: 'list', text: 'Rows', items: 'd', row: '{{row.name}}', pick: { save: 'c', to: 'which' } },
      which: { type: 'branch', branch: [{ when: 'a == 1', to: 'asks' }, { to: 'bye' }] },
      asks: {
        type: 'call',
        service: 'x.y',
        save: 'c',
        done: 'first',
        fail: [{ when: 'error.code', to: 'which' }, { to: 'lost' }],
      },
      lost: { type: 'menu', text: 'Lost', back: 'first', options: [{ id: 'b', text: 'Bye', to: 'bye', when: 'a' }] },
      bye: { type: 'end', text: 'Bye' },
    },
    {
      flow: 'everything',
      keys: { exit: '*' },
      vars: { a: { type: 'number' }, c: { type: 'object' }, d: { type: 'array' } },
    },
  ),
  { flows: new Map<string, Flow>([['pay', pay]]) },
);

/** A flow of so many menus, each leading to the next `fan` ones and to two far ones. */
export function largeFlow(count: number, fan = 2): CompiledFlow {
  const screens: Record<string, Screen> = {};
  for (let at = 0; at < count; at++) {
    const targets = [...Array(fan)].map((_, step) => (at * fan + step + 1) % count);
    const far = [(at * 7919 + 13) % count, (at * 104_729 + 7) % count];
    screens[`s${at}`] = menuTo(...new Set([...targets, ...far].map((to) => `s${to}`)));
  }
  return compileFlow(flowOf(screens, { flow: 'large', keys: { exit: '*' } }));
}

/** The machine itself and all of its states. */
export function nodesOf(machine: AnyStateMachine): AnyStateNode[] {
  const inside = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(inside)];
  return inside(machine.root);
}
