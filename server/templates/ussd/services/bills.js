// The services that menus/main.flow.json calls. This one looks into a table; yours asks a database or another system.

const BILLS = new Map([
  ['100200', { name: 'Wanjiku Otieno', due: 1250 }],
  ['100201', { name: 'Baraka Mwangi', due: 0 }],
]);

/** @satisfies {import('twinline').Services} */
const services = {
  // `signal` aborts when the caller has waited long enough; the same `idempotencyKey` means the same call once more.
  'bills.find': async ({ meter }) => {
    const bill = BILLS.get(String(meter));
    return bill ? { found: true, ...bill } : { found: false };
  },
};

/**
 * What they take and answer: `twinline lint`, the tests beside menus and the studio compare calls with it.
 * @type {import('twinline/flow').Contracts}
 */
export const contracts = {
  'bills.find': {
    doc: 'The open bill of a meter.',
    input: { meter: { kind: 'text', about: '6 digits', required: true } },
    answer: {
      found: { kind: 'boolean', about: 'whether there is such a meter' },
      name: { kind: 'text', about: 'of the customer' },
      due: { kind: 'number', about: 'in KES' },
    },
  },
};

export default services;
