// A machine of your own for tests, as a module of MACHINES: cups are ordered and paid for by a service, beside a bell that rings by itself.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = new URL('../../../lib/index.ts', import.meta.url).href;

/** What nobody but the caller may see. */
export const PRIVATE = 'Mukamuri Close 7';

/** The text of the module; `library` is the address of lib/index. */
export const orderModule = (library: string = SOURCE): string => `
import { machineConversation } from ${JSON.stringify(library)};
import { assign, setup } from ${JSON.stringify(import.meta.resolve('xstate'))};

const order = setup({
  guards: { isAny: ({ context }) => context.cups > 0 },
  actions: { addCup: assign({ cups: ({ context }) => context.cups + 1 }) },
}).createMachine({
  id: 'order',
  type: 'parallel',
  context: ({ input }) => ({ phone: input.phoneNumber, cups: 0, street: '' }),
  states: {
    bell: { initial: 'still', states: { still: { on: { RING: 'ringing' } }, ringing: { after: { 600000: 'still' } } } },
    table: {
      initial: 'choosing',
      states: {
        choosing: { on: { ADD: { actions: 'addCup' }, PAY: { guard: 'isAny', target: 'asking' } } },
        asking: {
          on: { STREET: { target: 'paying', actions: assign({ street: ({ event }) => event.street }) } },
        },
        paying: {
          invoke: {
            id: 'pay',
            src: 'till.pay',
            input: ({ context }) => ({ cups: context.cups, phone: context.phone }),
            onDone: 'paid',
            onError: 'choosing',
          },
        },
        paid: {},
      },
    },
  },
});

const KEYS = { 1: 'ADD', 2: 'PAY', 3: 'RING' };

export default machineConversation(order, {
  read: (snapshot, text) => {
    if (snapshot.matches({ table: 'asking' })) return { type: 'STREET', street: text };
    const event = { type: KEYS[text] ?? text };
    return snapshot.can(event) ? event : KEYS[text] ? 'Not now.' : 'There is 1, 2 and 3.';
  },
  render: ({ value, context }) => {
    if (value.table === 'asking') return 'Which street?';
    if (value.table === 'paid') return { kind: 'end', text: context.cups + ' cups to ' + context.street };
    return 'Cups: ' + context.cups + '\\n1. One more\\n2. Pay\\n3. Ring';
  },
  shown: ['cups'],
});
`;

/** Services of a module of SERVICES. */
export const TILL = `export default { 'till.pay': async ({ cups }) => ({ paid: cups }) };\n`;

/** Writes order.mjs and till.mjs, and names them in settings. */
export function writeOrder(folder: string, library?: string) {
  const [machines, services] = [join(folder, 'order.mjs'), join(folder, 'till.mjs')];
  writeFileSync(machines, orderModule(library));
  writeFileSync(services, TILL);
  return { MACHINES: machines, SERVICES: services, USSD_FLOW: 'order' };
}
