// A flow with every kind of screen, another one that it calls, and services that answer by their input alone.

import type { Service, Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';

const pay: Flow = {
  flow: 'pay',
  version: 1,
  start: 'amount',
  langs: ['en', 'sn'],
  vars: {
    lang: { type: 'string', default: 'en' },
    due: { type: 'number', default: 0 },
    given: { type: 'string', max: 6 },
    receipt: { type: 'object' },
  },
  screens: {
    amount: {
      type: 'input',
      text: { en: 'Pay {{due}}. How much?', sn: 'Bhadharai {{due}}. Marii?' },
      error: { en: 'A number.', sn: 'Nhamba.' },
      accept: { number: { min: 1, max: 999 } },
      attempts: 3,
      else: 'stopped',
      save: 'given',
      to: 'sure',
    },
    sure: {
      type: 'menu',
      text: 'Give {{given}}?',
      options: [
        { id: 'yes', text: 'Yes', to: 'charge' },
        { id: 'no', text: 'No', to: 'stopped' },
        { id: 'more', text: 'More', when: 'given < due', to: 'amount' },
      ],
    },
    charge: {
      type: 'call',
      service: 'charge',
      with: { amount: '=given', due: '=due' },
      save: 'receipt',
      done: [{ when: 'receipt.ok', to: 'paid' }, { to: 'amount' }],
      fail: [{ when: "error.code == 'ERR_NOT_FOUND'", set: { due: '=due + 1' }, to: 'amount' }, { to: 'stopped' }],
    },
    paid: { type: 'end', text: 'Paid', output: { paid: true, receipt: '=receipt' } },
    stopped: { type: 'end', text: 'Stopped', output: { paid: false } },
  },
};

const market: Flow = {
  flow: 'market',
  version: 1,
  start: 'home',
  langs: ['en', 'sn'],
  keys: { exit: '#' },
  vars: {
    lang: { type: 'string', default: 'en' },
    phoneNumber: { type: 'string', max: 16 },
    n: { type: 'number', default: 0 },
    name: { type: 'string', max: 8 },
    goods: { type: 'array', default: [] },
    good: { type: 'object' },
    payment: { type: 'object' },
  },
  screens: {
    home: {
      type: 'menu',
      text: { en: 'Market {{n}}', sn: 'Musika {{n}}' },
      track: 'home',
      options: [
        { id: 'buy', text: 'Buy', to: 'fetch' },
        { id: 'name', text: 'Name', to: 'name' },
        { id: 'lang', text: 'Language', set: { lang: "=lang == 'en' ? 'sn' : 'en'" }, to: 'home' },
        { id: 'regular', text: 'Regular', when: 'n > 2', to: 'thanks', key: '9', track: 'regular' },
        { id: 'out', text: 'Out', to: 'bye' },
      ],
    },
    name: {
      type: 'input',
      text: 'Your name?',
      save: 'name',
      accept: { length: { min: 2, max: 20 } },
      set: { n: '=n + 1' },
      to: 'greet',
    },
    greet: {
      type: 'branch',
      branch: [
        { when: "name == 'hello'", to: 'thanks', track: 'hello' },
        { when: 'n > 6', set: { n: 0 }, to: 'home' },
        { to: 'hi' },
      ],
    },
    hi: { type: 'menu', text: 'Hi {{name}}', back: 'home', options: [{ id: 'on', text: 'On', to: 'fetch' }] },
    fetch: {
      type: 'call',
      service: 'goods',
      with: { n: '=n', lang: '=lang' },
      save: 'goods',
      done: [{ when: 'len(goods) > 0', set: { n: '=n + 1' }, to: 'goods' }, { to: 'sorry' }],
      fail: 'sorry',
    },
    goods: {
      type: 'list',
      text: 'Goods',
      items: 'goods',
      row: '{{row.label}} {{row.price}}',
      empty: 'None',
      pick: { save: 'good', to: 'pay', track: 'picked' },
    },
    pay: {
      type: 'flow',
      flow: 'pay',
      with: { due: '=good.price' },
      save: 'payment',
      done: [{ when: 'payment.paid', set: { n: '=n + 1' }, to: 'thanks' }, { to: 'goods' }],
    },
    thanks: { type: 'menu', text: 'Thanks', back: false, options: [{ id: 'home', text: 'Home', to: 'home' }] },
    sorry: {
      type: 'menu',
      text: 'Nothing there',
      options: [{ id: 'again', text: 'Again', set: { n: '=n + 1' }, to: 'fetch' }],
    },
    bye: { type: 'end', text: { en: 'Bye {{name}}', sn: 'Chisarai {{name}}' }, track: 'bye' },
  },
};

/** A newly compiled flow. */
export const marketFlow = (): CompiledFlow => compileFlow(market, { flows: new Map([['pay', pay]]) });

export const marketServices: Services = {
  goods: async ({ n, lang }) => {
    const count = Number(n);
    if (count % 5 === 4) throw new TwinlineError('ERR_NOT_FOUND', 'No goods today.');
    return Array.from({ length: (count % 3) * 12 }, (_, i) => ({ label: `${lang} thing ${i}`, price: i + 1 }));
  },
  charge: async ({ amount, due }) => {
    if (Number(amount) === 7) throw new TwinlineError('ERR_NOT_FOUND', 'No such purse.');
    if (Number(amount) === 13) throw new Error('broken');
    return { ok: Number(amount) >= Number(due), left: Number(amount) - Number(due) };
  },
} satisfies { [name: string]: Service };
