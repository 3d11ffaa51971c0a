// The studio's phone says why it shows what it shows, and no secret.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TurnReasons } from '../../../server/web/studio/reasons.ts';
import { json, sharedServer } from '../support/serve.ts';

const test = suite('reasons of a dialled draft');
const server = sharedServer(test, {});

const CARD = '884213771';
const PIN = '48291';
const DRAFT = {
  ...{ flow: 'clinic', version: 1, start: 'home' },
  vars: {
    card: { type: 'string', private: true, max: 9 },
    pin: { type: 'string', secret: true, max: 6 },
    visits: { type: 'number', default: 0 },
    answer: { type: 'object' },
  },
  screens: {
    home: {
      type: 'menu',
      text: 'Clinic',
      options: [{ id: 'card', text: 'My card', to: 'card', set: { visits: '=visits + 1' } }],
    },
    card: { type: 'input', text: 'Card?', save: 'card', to: 'many' },
    many: { type: 'branch', branch: [{ when: 'visits >= 1', to: 'pin' }, { to: 'home' }] },
    pin: { type: 'input', text: 'PIN?', save: 'pin', accept: { digits: { min: 4, max: 6 } }, to: 'verify' },
    verify: {
      ...{ type: 'call', service: 'account.verifyPin', with: { pin: '=pin' }, save: 'answer', fail: 'sorry' },
      done: [{ when: 'answer.ok', to: 'sorry' }, { to: 'ask' }],
    },
    ask: {
      ...{ type: 'call', service: 'http.get', save: 'answer', done: 'sorry', fail: 'sorry' },
      with: { url: "='http://127.0.0.1:9/' + card", query: { from: 'clinic' } },
    },
    sorry: { type: 'end', text: 'Try later.' },
  },
};

async function dial(typed: string): Promise<{ text: string; why: TurnReasons }> {
  const phone = { sessionId: 'reasons-1', phoneNumber: '+260971230001', serviceCode: '*2233#', typed };
  const body = { flow: 'clinic', text: JSON.stringify(DRAFT), ...phone };
  const answer = await server().ask('/studio/dial', json(body, { origin: server().url }));
  assert.not.match(answer.text, PIN);
  assert.not.match(answer.text, CARD);
  return answer.json() as { text: string; why: TurnReasons };
}

test('ways with the conditions that opened them, calls with what they got and the words of their refusal, and what changed', async () => {
  assert.is((await dial('')).why.screen, 'home');
  const chosen = (await dial('1')).why;
  assert.equal(
    chosen.ways.map(({ from, to, way }) => [from, way, to]),
    [['home', 'opt.card', 'card']],
  );
  assert.equal(chosen.changed, [{ name: 'visits', before: 0, after: 1 }]);
  const branched = (await dial(`1*${CARD}`)).why;
  assert.equal([branched.screen, branched.ways.at(-1)!.because], ['pin', 'visits is at least 1']);
  const { text, why } = await dial(`1*${CARD}*${PIN}`);
  assert.is(text, 'Try later.');
  assert.is(why.screen, 'sorry');
  assert.equal(
    why.ways.map(({ from, to }) => `${from} ${to}`),
    ['pin verify', 'verify ask', 'ask sorry'],
  );
  const [verified, asked] = why.calls;
  assert.equal([verified!.screen, verified!.input], ['verify', { pin: '••••' }]);
  assert.equal((verified!.output as { ok: boolean }).ok, false);
  assert.equal(asked!.input, { url: '••••', query: { from: 'clinic' } });
  assert.is(asked!.failure!.code, 'ERR_SERVICE');
  assert.match(asked!.failure!.message, /is not allowed/);
});

test.run();
