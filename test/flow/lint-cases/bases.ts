// The flows into which mistakes are put, each with what lint knows beside it: shipped ones, that of `twinline new ussd`, one that calls
// another, one of a clinic, and the worked example.

import { readFileSync } from 'node:fs';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { FLOW_LIMITS } from '../../../lib/flow/limits.ts';
import type { LintContext } from '../../../lib/flow/lint/lint.ts';
import type { ServiceContract } from '../../../lib/flow/lint/shapes.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';

export interface Base {
  readonly file: string;
  readonly text: string;
  readonly known: LintContext;
}

const ADDRESS: Flow = {
  flow: 'address',
  version: 1,
  timezone: 'Africa/Lusaka',
  start: 'ask',
  vars: { district: { type: 'string', max: 20 } },
  screens: {
    ask: { type: 'input', text: 'District?', save: 'district', to: 'done' },
    done: { type: 'end', text: 'Thanks', output: { district: '=district' } },
  },
};
const HISTORY: Flow = {
  flow: 'history',
  version: 1,
  start: 'list',
  vars: { phone: { type: 'string', max: 13 } },
  screens: { list: { type: 'input', text: 'Month?', save: 'phone', to: 'bye' }, bye: { type: 'end', text: 'Done' } },
};
const CIRCLE: Flow = {
  ...HISTORY,
  flow: 'circle',
  screens: { list: { type: 'flow', flow: 'wallet', done: 'bye' }, bye: { type: 'end', text: 'Done' } },
};
/** Flows that call each other, one more than a session may be in beside the one that calls the first. */
const CHAIN = [...Array(FLOW_LIMITS.flowLevels)].map((_, at, { length }): Flow => {
  const next =
    at + 1 < length ? ({ type: 'flow', flow: `chain${at + 1}`, done: 'bye' } as const) : HISTORY.screens.list!;
  return { ...HISTORY, flow: `chain${at}`, screens: { list: next, bye: HISTORY.screens.bye! } };
});

const text = { kind: 'text', about: 'a text' } as const;
const VERIFY: ServiceContract = {
  doc: 'Checks a PIN.',
  input: { msisdn: text, pin: { ...text, required: true }, name: text },
  answer: {
    ok: { kind: 'boolean', about: 'whether it is right' },
    name: text,
    balance: { kind: 'number', about: 'money' },
  },
};

const flowsOf = (...flows: readonly Flow[]) => new Map(flows.map((flow) => [flow.flow, flow]));
const OWN = ['farmers.find', 'payments.make', 'bills.find', 'patients.find', 'visits.days', 'visits.book'];
const KNOWN: LintContext = {
  services: new Set([...Object.keys(CONTRACTS), ...OWN]),
  flows: flowsOf(ADDRESS),
  contracts: CONTRACTS,
};

const readBase = (path: string, known = KNOWN): Base => {
  return { file: path.slice(path.lastIndexOf('/') + 1), text: readFileSync(path, 'utf8'), known };
};

const EXAMPLE = 'test/flow/lint-cases/wallet.flow.json';

export const BASES = {
  example: readBase(EXAMPLE, {
    services: new Set(['auth.verifyPin', 'wallet.history']),
    flows: flowsOf(HISTORY),
    contracts: { 'auth.verifyPin': VERIFY },
  }),
  /** Another flow calls it. */
  called: readBase(EXAMPLE, { flows: flowsOf(CIRCLE, ...CHAIN) }),
  /** Only another flow calls it, and nobody reads its end. */
  history: {
    file: 'history.flow.json',
    text: `{ "flow": "history", "version": 1, "start": "list", "vars": { "phone": { "type": "string", "max": 13, "sample": "1" } },
      "screens": { "list": { "type": "menu", "text": "{{phone}}", "options": [{ "id": "ok", "text": "OK", "to": "bye" }] },
        "bye": { "type": "end", "text": "" } } }`,
    known: {
      flows: flowsOf({
        ...CIRCLE,
        screens: { ...CIRCLE.screens, list: { type: 'flow', flow: 'history', with: { phone: '1' }, done: 'bye' } },
      }),
      doors: { textMode: 'latest', chats: [], dialled: ['circle'] },
    },
  },
  wallet: readBase('menus/wallet.flow.json'),
  main: readBase('menus/main.flow.json'),
  ussd: readBase('server/templates/ussd/menus/main.flow.json'),
  /** On a server that calls one host. */
  clinic: readBase('test/flow/lint-cases/clinic.flow.json', {
    ...KNOWN,
    doors: { textMode: 'cumulative', chats: [], serviceHosts: ['api.example', '*.clinic.example:8443'] },
  }),
  caller: readBase('test/flow/lint-cases/caller.flow.json', {
    ...KNOWN,
    doors: { textMode: 'cumulative', chats: [], sendsSms: false, hasAddress: false },
  }),
} satisfies { readonly [name: string]: Base };

export type BaseName = keyof typeof BASES;
