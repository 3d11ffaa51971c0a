// The flows of a server under faults: one for phones that counts, logs in and calls a service, and one for chats.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const call = (
  service: string,
  given: object,
  { timeout, done = 'answered' as unknown }: { timeout: string; done?: unknown },
) => ({
  ...{ type: 'call', service, with: given, save: 'answer', timeout, retry: 1 },
  ...{ done, fail: 'failed' },
});
/** The service that the flows call. */
export interface ActService {
  readonly url: string;
  readonly callMs: number;
}

// The service sees who acts.
const act = ({ url, callMs }: ActService, who: string) =>
  call('http.post', { url: `${url}/act`, body: { who } }, { timeout: `${callMs}ms` });

// A turn that is lost or applied twice shows in the count.
function phoneFlow(service: ActService) {
  const account = (name: string, done: unknown) =>
    call(name, { phone: '=phoneNumber', pin: '=pin' }, { timeout: '4s', done });
  const pin = (to: string) => ({ type: 'input', text: 'PIN?', save: 'pin', to });
  const end = (text: string) => ({ type: 'end', text });
  return {
    flow: 'main',
    version: 1,
    start: 'count',
    vars: {
      phoneNumber: { type: 'string', max: 16 },
      n: { type: 'number', default: 0 },
      pin: { type: 'string', secret: true, max: 6 },
      answer: { type: 'object', sample: { ok: true, body: { said: 'fine' } } },
    },
    screens: {
      count: {
        type: 'menu',
        text: 'Count {{n}}',
        options: [
          { id: 'add', text: 'Add', set: { n: '=n + 1' }, to: 'count' },
          { id: 'new', text: 'New account', to: 'newPin' },
          { id: 'login', text: 'Log in', to: 'oldPin' },
          { id: 'act', text: 'Act', to: 'act' },
        ],
      },
      newPin: pin('create'),
      create: account('account.create', 'made'),
      made: end('Made'),
      oldPin: pin('verify'),
      verify: account('account.verifyPin', [{ when: 'answer.ok', to: 'in' }, { to: 'out' }]),
      in: end('In'),
      out: end('Out'),
      act: act(service, 'phone'),
      answered: end('Answered {{answer.body.said}}'),
      failed: end('Trouble'),
    },
  };
}

function chatFlow(service: ActService) {
  const say = (text: string) => ({ type: 'input', text, save: 'said', to: 'which' });
  return {
    flow: 'assistant',
    version: 1,
    start: 'ask',
    keys: { exit: '*' },
    vars: {
      said: { type: 'string', default: '', max: 16 },
      answer: { type: 'object', sample: { body: { said: 'fine' } } },
    },
    screens: {
      ask: say('What?'),
      which: { type: 'branch', branch: [{ when: "said == 'act'", to: 'act' }, { to: 'heard' }] },
      heard: say('Heard {{said}}'),
      act: act(service, 'chat'),
      answered: say('Answered {{answer.body.said}}'),
      failed: say('Trouble'),
    },
  };
}

/** Writes the flows into a folder. */
export function writeFlows(folder: string, service: ActService): void {
  for (const flow of [phoneFlow(service), chatFlow(service)])
    writeFileSync(join(folder, `${flow.flow}.flow.json`), JSON.stringify(flow));
}
