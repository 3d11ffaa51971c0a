// A service of your own: a screen of the flow calls it by its name and says what it answered, or goes to "fail" where it rejects.

import { compileFlow, createEngine, memorySnapshots, takeTurn } from 'twinline';
import { loadFlow } from 'twinline/flow';

const prices = new Map([['tea', 12.5]]);

/** @satisfies {import('twinline').Services} */
const services = {
  // `signal` aborts when the answer comes too late to be read.
  'tea.price': async ({ drink }, { signal }) => {
    signal.throwIfAborted();
    const amount = prices.get(String(drink));
    if (amount === undefined) throw new Error(`no price of ${drink}`);
    return { amount };
  },
};

const flow = await loadFlow('tea.flow.json', { services: new Set(Object.keys(services)) });
const engine = createEngine({ store: memorySnapshots(), services, conversations: [compileFlow(flow)] });

async function visit(guest) {
  const decide = () => /** @type {const} */ ({ kind: 'begin', conversation: 'tea', inputs: ['1'] });
  const { reply } = await takeTurn(engine, { key: guest, decide });
  console.log(reply?.text);
}

await visit('ann');
prices.clear();
await visit('ben');

// Prints:
//   A cup is ZMW 12.50.
//   Nobody knows today.
