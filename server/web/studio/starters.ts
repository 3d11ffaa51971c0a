// Starters for new flows: a few screens, and a test of them.

import { formatFile } from '../../../lib/flow/format/write.ts';
import type { Json } from '../../../lib/json/json.ts';

interface Starter {
  /** Description for authors. */
  readonly summary: string;
  readonly screens: { readonly [id: string]: Json };
  readonly more?: { readonly [key: string]: Json };
  readonly start: string;
  readonly tests: readonly Json[];
}

const BYE = { type: 'end', text: 'Goodbye.' };

/** By name. */
export const STARTERS: { readonly [name: string]: Starter } = {
  menu: {
    summary: 'a menu with two lines',
    start: 'home',
    screens: {
      home: {
        type: 'menu',
        text: 'Welcome',
        options: [
          { id: 'about', text: 'About us', to: 'about' },
          { id: 'exit', text: 'Exit', to: 'bye' },
        ],
      },
      about: { type: 'end', text: 'We answer your call.' },
      bye: BYE,
    },
    tests: [
      {
        name: 'about us',
        steps: [
          { in: '', screen: 'home', text: 'Welcome\n1. About us\n2. Exit' },
          { in: '1', screen: 'about', text: 'We answer your call.', end: true },
        ],
      },
    ],
  },
  blank: {
    summary: 'one screen to build on',
    start: 'home',
    screens: { home: { type: 'menu', text: 'Welcome', options: [{ id: 'exit', text: 'Exit', to: 'bye' }] }, bye: BYE },
    tests: [{ name: 'a dial', steps: [{ in: '', screen: 'home' }] }],
  },
  form: {
    summary: 'two questions, and a menu to confirm',
    start: 'name',
    more: {
      vars: {
        name: { type: 'string', max: 30, sample: 'Tariro Moyo' },
        bags: { type: 'number', sample: 12 },
      },
    },
    screens: {
      name: { type: 'input', text: 'Your name?', save: 'name', accept: { length: { min: 2, max: 30 } }, to: 'bags' },
      bags: {
        type: 'input',
        text: 'How many bags?',
        save: 'bags',
        accept: { number: { min: 1, max: 500, integer: true } },
        error: 'A number from 1 to 500.',
        to: 'confirm',
      },
      confirm: {
        type: 'menu',
        text: '{{name}}, {{bags}} bags?',
        options: [
          { id: 'yes', text: 'Yes', to: 'thanks' },
          { id: 'no', text: 'No', to: 'bye' },
        ],
      },
      thanks: { type: 'end', text: 'Thank you, {{name}}.' },
      bye: BYE,
    },
    tests: [
      {
        name: 'an order',
        steps: [
          { in: '', screen: 'name' },
          { in: 'Ann Banda', screen: 'bags' },
          { in: '12', screen: 'confirm', has: 'Ann Banda, 12 bags?' },
          { in: '1', screen: 'thanks', text: 'Thank you, Ann Banda.', end: true },
        ],
      },
    ],
  },
  service: {
    summary: 'a question that a service over HTTP answers',
    start: 'place',
    more: {
      vars: {
        place: { type: 'string', max: 30, sample: 'Chongwe' },
        answer: { type: 'object', sample: { status: 200, body: { price: 145.5 } } },
      },
    },
    screens: {
      place: {
        type: 'input',
        text: 'Which market?',
        save: 'place',
        accept: { length: { min: 2, max: 30 } },
        to: 'ask',
      },
      ask: {
        type: 'call',
        service: 'http.get',
        with: { url: 'https://prices.example.com/maize', query: { place: '=place' } },
        save: 'answer',
        timeout: '4s',
        done: 'price',
        fail: 'sorry',
      },
      price: { type: 'end', text: '{{place}}: {{answer.body.price|money}}' },
      sorry: { type: 'end', text: 'We have no price now. Please try later.' },
    },
    tests: [
      {
        name: 'a price',
        services: { 'http.get': [{ return: { status: 200, body: { price: 145.5 } } }] },
        steps: [
          { in: '', screen: 'place' },
          { in: 'Chongwe', screen: 'price', text: 'Chongwe: 145.50', end: true },
        ],
      },
      {
        name: 'the service is away',
        services: { 'http.get': [{ fail: 'ERR_TIMEOUT' }] },
        steps: [
          { in: '', screen: 'place' },
          { in: 'Chongwe', screen: 'sorry', end: true },
        ],
      },
    ],
  },
};

/** The texts of both files. */
export function writeStarter(flow: string, { start, screens, more, tests }: Starter): { flow: string; tests: string } {
  const whole = { $schema: './flow.schema.json', flow, version: 1, start, ...more, screens };
  const file = { $schema: './test.schema.json', flow, tests };
  return { flow: formatFile(whole), tests: formatFile(file as Json) };
}
