// A lifecycle in MongoDB: a machine that lives in a document for as long as the document is kept. State, timers and calls change in
// one write, so that any number of processes may look after it. MONGODB_URL names a replica set.

import { compileMachine, lifecycle, SimulatedClock } from 'twinline';
import { mongoDocuments } from 'twinline/store/mongo';
import { assign, createMachine } from 'xstate';

const ORDER = { name: 'order', indexes: { due: { fields: ['dueAt'] }, state: { fields: ['status', 'dueAt'] } } };
const order = createMachine({
  id: 'order',
  initial: 'placed',
  context: { receipt: null },
  states: {
    placed: { on: { PAY: 'paying' }, after: { 86400000: 'forgotten' } },
    paying: {
      invoke: {
        id: 'pay',
        src: 'bank.pay',
        onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output.receipt }) },
        onError: 'placed',
      },
    },
    paid: { type: 'final' },
    forgotten: { type: 'final' },
  },
});

const clock = new SimulatedClock();
const documents = mongoDocuments({ url: process.env.MONGODB_URL ?? '', prefix: 'example', clock });
await documents.declare([ORDER]);
const orders = lifecycle({
  documents,
  kind: ORDER,
  machine: compileMachine(order),
  clock,
  services: { 'bank.pay': async () => ({ receipt: 'R-17' }) },
  fields: ({ state }) => ({ status: String(state) }),
});

await orders.begin('first', { input: {}, body: { goods: 'tea' } });
await orders.begin('second', { input: {}, body: { goods: 'coffee' } });
const pay = { key: 'request-1', decide: () => ({ type: 'PAY' }) };
const { instance, repeated } = await orders.take('first', pay);
console.log(instance.body.goods, 'is', instance.state, 'by', instance.context.receipt, '- again:', repeated);
console.log('again:', (await orders.take('first', pay)).repeated);
// A day later nobody has paid for the second one. Every process may sweep.
await clock.advance(86_400_000);
console.log('due:', await orders.sweep());
console.log('the second is', (await orders.read('second'))?.state);
const { items } = await documents.find(ORDER, { index: 'state', where: { status: 'paid' } });
console.log('paid:', items.map(({ id }) => id).join());
await documents.close();

// Prints:
//   tea is paid by R-17 - again: false
//   again: true
//   due: 1
//   the second is forgotten
//   paid: first
