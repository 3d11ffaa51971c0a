// What the inspector hides: no phone number leaves whole, and of chats and tokens nothing does.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InspectionEvent } from '../../lib/engine/conversation.ts';
import { INSPECTION_LIMITS } from '../../lib/inspection/limits.ts';
import { lifecycleContext, maskEvent, maskNumbers, maskNumbersIn, maskTexts } from '../../lib/inspection/trace.ts';
import type { Json } from '../../lib/json/json.ts';

const test = suite('inspector masks');

const digits = fc.stringMatching(/^\+?[0-9]{9,15}$/);
const words = fc.stringMatching(/^[a-z ]{0,12}$/);

test('a phone number is masked wherever it stands', () => {
  assert.is(maskNumbers('+260971230045'), '+2609••••••45');
  assert.is(maskNumbers('Send 5 to 0971230045?'), 'Send 5 to 09712•••45?');
  fc.assert(
    fc.property(digits, words, words, (number, before, behind) => {
      const shown = maskNumbers(`${before}${number}${behind}`);
      assert.not.ok(shown.includes(number));
      assert.is(shown.length, before.length + number.length + behind.length);
    }),
  );
});

test('what is no phone number stays: amounts, times, short codes', () => {
  for (const text of ['12345678', '*2233#', '1250.00', '2026-11-22T02:23:00Z', '']) assert.is(maskNumbers(text), text);
});

test('no phone number is left in a value, however deep, as text, as number, or as name', () => {
  fc.assert(
    fc.property(digits, fc.jsonValue({ maxDepth: 3 }), (number, rest) => {
      const plain = Number(number.replace('+', ''));
      const value = { [number]: [number, { deep: `call ${number}` }], rest: rest as Json, plain } as Json;
      const text = JSON.stringify(maskNumbersIn(value));
      assert.not.ok(text.includes(number));
      if (plain >= 1e8) assert.not.ok(text.includes(String(plain)));
    }),
  );
});

test('of what is written to the agent nothing is left', () => {
  const shown = maskTexts({ question: 'my secret wish', n: 3, list: ['a', true] });
  assert.equal(shown, { question: '••••••••', n: 3, list: ['•', true] });
});

test('sealed tokens and what calls of the user say are left out of lifecycles', () => {
  const sealed = { sealed: 'v1.token', keys: ['k'], expiresAt: 5, storedAt: 1 };
  assert.equal(lifecycleContext('delegation', sealed), { expiresAt: 5, storedAt: 1 });
  const run = { session: 's', calls: [{ id: 'c', result: { ok: true, output: 'private' } }], turn: 2, holder: 'h' };
  assert.equal(lifecycleContext('agent-stream', run), { session: 's', turn: 2 });
});

const secret = Buffer.alloc(32, 7);
const sighting = (changes: Partial<InspectionEvent>): InspectionEvent => ({
  kind: 'turn',
  machine: 'main',
  version: 1,
  key: 'ussd:africastalking:s-260971230001',
  revision: 1,
  at: 5,
  rest: { state: 'home', context: {} },
  ended: false,
  transitions: [],
  turn: {
    startedAt: 1,
    door: { sessionId: 's-260971230001', phoneNumber: '+260971230001', marks: '3:turn-key;' },
    reply: 'Hello',
    waiting: false,
    typed: [{ text: 'to +260971230002', at: 'home' }],
    answers: [{ call: 'c', service: 's', outcome: { output: { phone: '+260971230003' } } }],
  },
  ...changes,
});

test('a moment names its session without its number, the same each time, and nothing of the door but that', () => {
  const moment = maskEvent(sighting({}), { id: '1', secret });
  const text = JSON.stringify(moment);
  for (const number of ['260971230001', '260971230002', '260971230003', 'turn-key'])
    assert.not.ok(text.includes(number));
  assert.is(moment.caller, '+2609••••••01');
  assert.is(maskEvent(sighting({ revision: 2 }), { id: '2', secret }).actor, moment.actor);
  assert.is.not(maskEvent(sighting({ key: 'ussd:africastalking:s2' }), { id: '2', secret }).actor, moment.actor);
});

test('of a chat are shown its states and events, and no words', () => {
  const chat = sighting({ key: 'agent/5', rest: { state: 'ask', context: { question: 'a private matter' } } });
  const text = JSON.stringify(maskEvent(chat, { id: '1', secret }));
  for (const word of ['private', 'Hello', '+2609712']) assert.not.ok(text.includes(word), word);
});

test('a moment that is too large comes without its context', () => {
  const large = sighting({
    rest: { state: 'home', context: { list: 'x '.repeat(INSPECTION_LIMITS.inspectorMomentChars) } },
  });
  const moment = maskEvent(large, { id: '1', secret });
  assert.equal(Object.keys(moment.context), ['$left']);
  assert.is(moment.state, 'home');
});

test('of states beside each other an event tells those that it has changed', () => {
  const from = { bell: 'still', table: { corner: 'free' } };
  const to = { bell: 'still', table: { corner: 'taken' } };
  const moved = sighting({ transitions: [{ event: 'SIT', from, to }], rest: { state: to, context: {} } });
  const seen = maskEvent(moved, { id: '1', secret });
  assert.equal(seen.edges, [{ event: 'SIT', from: 'table.corner.free', to: 'table.corner.taken' }]);
  assert.is(seen.state, 'bell.still + table.corner.taken');
});

test.run();
