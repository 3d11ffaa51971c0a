// A team chat: only what it has signed is heard, each message is answered once in its thread, whatever is delivered twice.

import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { isSigned, readEvent } from '../../../server/plugins/shipped/team-chat-event.ts';
import { until } from '../../support/until.ts';
import { type Receiver, toHere, withReceiver } from '../support/receiver.ts';
import type { Served } from '../support/serve.ts';
import { sharedBy, withPlugins } from './users.ts';

const test = suite('team chat');

const SECRET = 'signing-secret-of-the-test';
const BOT = 'xoxb-token-of-the-test';
const clock = new SimulatedClock(Date.now());
const seconds = () => String(Math.floor(clock.now() / 1_000));
const sign = (timestamp: string, body: string, secret = SECRET) =>
  `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;

interface Sent {
  readonly timestamp?: string;
  readonly signature?: string;
}

function post({ ask }: Served, event: unknown, { timestamp = seconds(), signature }: Sent = {}) {
  const body = JSON.stringify(event);
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': signature ?? sign(timestamp, body),
  };
  return ask('/team-chat/events', { method: 'POST', headers, body });
}

let events = 0;
const said = (text: string, more: object = {}, id = `Ev${++events}`) => ({
  type: 'event_callback',
  event_id: id,
  team_id: 'T1',
  event: { type: 'app_mention', channel: 'C1', user: 'U1', ts: `0.${events}`, text: `<@U0BOT> ${text}`, ...more },
});

type Work = (server: Served, receiver: Receiver) => Promise<void>;

const chatting = (work: Work, plugins = ['team-chat'], more: NodeJS.ProcessEnv = {}) =>
  withReceiver((receiver) => {
    const own = { TEAM_CHAT_SIGNING_SECRET: SECRET, TEAM_CHAT_BOT_TOKEN: BOT, TEAM_CHAT_REPLY_URL: receiver.url };
    const env = { ...own, LOG_LEVEL: 'trace', ...more };
    const webhookSender = { lookup: toHere, ca: receiver.ca };
    return withPlugins(plugins, { env, clock, webhookSender }, (server) => work(server, receiver));
  });

// For the tests that say things in threads of their own.
const shared = sharedBy<Parameters<Work>>(test, (use) => chatting((...opened) => use(opened)));

/** What was replied in the threads that begin so, once there are so many replies. */
async function repliesIn(thread: string, count: number) {
  const [, receiver] = shared();
  const own = () => replies(receiver).filter(({ thread_ts }) => thread_ts.startsWith(thread));
  await until(`${count} replies in ${thread}`, () => own().length >= count);
  return own();
}

const replies = ({ received }: Receiver) =>
  received.map(
    ({ body }) => JSON.parse(body) as { text: string; thread_ts: string; channel: string; client_msg_id: string },
  );

test('a message is answered in its thread, which is one conversation; no secret is logged', async () => {
  const [server, { received }] = shared();
  assert.equal((await post(server, said('6', { ts: '1.0' }))).json(), { ok: true });
  await repliesIn('1.', 1);
  await post(server, said('Tariro', { ts: '1.1', thread_ts: '1.0' }));
  const [first, second] = await repliesIn('1.', 2);
  await post(server, said('hello', { ts: '2.0' }));
  const [other] = await repliesIn('2.', 1);
  assert.match(first!.text, 'What shall I call you?');
  assert.match(second!.text, 'Hello, Tariro.');
  assert.not.match(other!.text, 'Tariro');
  for (const [one, thread] of [[first, '1.0'] as const, [second, '1.0'] as const, [other, '2.0'] as const])
    assert.equal([one!.channel, one!.thread_ts], ['C1', thread]);
  assert.is(received[0]!.headers.authorization, `Bearer ${BOT}`);
  for (const secret of [SECRET, BOT]) assert.not.match(JSON.stringify(server.logged), secret);
});

test('what is delivered again is not answered again, at once or later, as another event or at the same time', async () => {
  const [server] = shared();
  const event = said('hello', { ts: '3.0' }, 'one');
  const twin = said('hello', { ts: '3.0' }, 'another');
  await Promise.all([event, event, twin, event].map((one) => post(server, one)));
  await repliesIn('3.', 1);
  assert.is((await post(server, event)).status, 200);
  await post(server, said('bye', { ts: '4.0' }));
  await repliesIn('4.', 1);
  assert.is((await repliesIn('3.', 1)).length, 1);
});

test('a reply that the chat does not take is tried again by the sweep, without saying the message twice', async () => {
  const [server, receiver] = shared();
  receiver.says = '{"ok":false,"error":"ratelimited"}';
  await post(server, said('hello', { ts: '5.0' }));
  const isToldLate = () =>
    server.logged.some(({ plugin, msg }) => plugin === 'team-chat' && /could not answer/.test(String(msg)));
  await until('it is put off', isToldLate);
  receiver.says = '{"ok":true}';
  await until('the sweep has come by', async () => {
    await clock.advance(1_000);
    return replies(receiver).filter(({ thread_ts }) => thread_ts === '5.0').length >= 2;
  });
  const [first, second] = await repliesIn('5.', 2);
  assert.equal(first, second);
  assert.match(first!.client_msg_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test('nothing is heard that is not signed, was changed, or is older than five minutes', async () => {
  const [server, receiver] = shared();
  const event = said('hello', { ts: '6.0' });
  const at = (ms: number) => String(Number(seconds()) + ms);
  const tries: Sent[] = [
    { signature: '' },
    { signature: 'v0=' },
    { signature: sign(seconds(), JSON.stringify(said('other'))) },
    { signature: sign(seconds(), JSON.stringify(event), 'another') },
    ...[at(-400), at(400), `${seconds()}.5`, ''].map((timestamp) => ({ timestamp })),
  ];
  for (const how of tries) assert.is((await post(server, event, how)).status, 401, JSON.stringify(how));
  const challenge = { type: 'url_verification', challenge: 'c-1' };
  assert.equal((await post(server, challenge)).json(), { challenge: 'c-1' });
  assert.is((await post(server, challenge, { signature: 'v0=00' })).status, 401);
  const unheard = [{ bot_id: 'B1' }, { subtype: 'message_changed' }, { text: '<@U0BOT>' }, { channel: 7 }];
  for (const more of [...unheard, { type: 'reaction' }])
    assert.is((await post(server, said('hello', { ts: '6.1', ...more }))).status, 200);
  await post(server, said('last', { ts: '9.0' }));
  await repliesIn('9.', 1);
  assert.not.ok(replies(receiver).some(({ thread_ts }) => /^[06]\./.test(thread_ts)));
});

test('gates speak in the chat, too: a team without credits is told so', () =>
  chatting(
    async (server, receiver) => {
      await post(server, said('hello'));
      await receiver.until(() => receiver.received.length === 1);
      assert.is(replies(receiver)[0]!.text, 'No subscription found, please subscribe to continue');
    },
    ['team-chat', 'credits'],
  ));

test('replies do not go to private addresses', () =>
  chatting(
    async (server) => {
      await post(server, said('hello'));
      await until('the reply is put off', () => server.logged.some(({ msg }) => /could not answer/.test(String(msg))));
    },
    ['team-chat'],
    { TEAM_CHAT_REPLY_URL: 'https://127.0.0.1:9/x' },
  ));

test('a signature holds for one body, one time and one secret, and odd bodies are no events', () => {
  const word = fc.string({ minLength: 1, unit: 'binary' });
  fc.assert(
    fc.property(word, word, fc.nat(2_000_000_000), (body, other, at) => {
      const signed = { timestamp: String(at), signature: sign(String(at), body), body };
      assert.ok(isSigned(SECRET, signed, at * 1_000));
      assert.ok(isSigned(SECRET, signed, (at + 300) * 1_000));
      assert.not.ok(isSigned(SECRET, signed, (at + 301) * 1_000));
      assert.is(isSigned(SECRET, { ...signed, body: other }, at * 1_000), other === body);
      assert.not.ok(isSigned(`${SECRET}x`, signed, at * 1_000));
    }),
    { numRuns: 100 },
  );
  fc.assert(fc.property(fc.jsonValue(), (body) => void assert.is(readEvent(body).kind, 'other')));
});

test.run();
