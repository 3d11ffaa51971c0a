// A small flow for tests of PINs: opens an account, logs in, and says in one word what came of it.

import { until } from '../../support/until.ts';

const input = (to: string) => ({ type: 'input', text: 'PIN?', save: 'pin', to });
export const LOGIN = {
  flow: 'main',
  version: 1,
  start: 'first',
  vars: {
    phoneNumber: { type: 'string', max: 16 },
    pin: { type: 'string', secret: true, max: 6 },
    account: { type: 'object', sample: { ok: false } },
  },
  screens: {
    first: {
      type: 'menu',
      text: 'Account',
      options: [
        { id: 'new', text: 'New', to: 'newPin' },
        { id: 'login', text: 'Log in', to: 'pin' },
      ],
    },
    newPin: input('create'),
    create: {
      type: 'call',
      service: 'account.create',
      with: { phone: '=phoneNumber', pin: '=pin' },
      timeout: '10s',
      done: 'made',
      fail: 'trouble',
    },
    made: { type: 'end', text: 'Made' },
    pin: input('verify'),
    verify: {
      type: 'call',
      service: 'account.verifyPin',
      with: { phone: '=phoneNumber', pin: '=pin' },
      timeout: '10s',
      save: 'account',
      done: [{ when: 'account.ok', to: 'in' }, { when: "account.reason == 'locked'", to: 'locked' }, { to: 'wrong' }],
      fail: 'trouble',
    },
    in: { type: 'end', text: 'In' },
    wrong: { type: 'end', text: 'Wrong' },
    locked: { type: 'end', text: 'Locked' },
    trouble: { type: 'end', text: 'Trouble' },
  },
};

/** What a caller hears in the end who goes on as long as the check takes; `say` sends the text with this behind it. */
export async function pastWaiting(said: string, say: (more: string) => Promise<string>): Promise<string> {
  let last = said;
  let more = '';
  return until('the PIN to be checked', async () => {
    if (!last.startsWith('CON Please wait')) return last;
    more += '*1';
    last = await say(more);
    return false;
  });
}
