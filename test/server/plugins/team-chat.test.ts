// A team chat: only what it has signed is heard, each message is answered once in its thread, whatever is delivered twice.

import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSigned, readEvent } from '../../../server/plugins/team-chat/event.ts';
import { type Receiver, toHere, withReceiver } from '../support/receiver.ts';
import type { Served } from '../support/serve.ts';
import { withPlugins } from './users.ts';

const test = suite('team chat');

const SECRET = 'signing-secret-of-the-test';
const BOT = 'xoxb-token-of-the-test';
const seconds = () => String(Math.floor(Date.now() / 1_000));
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

const said = (text: string, more: object = {}, id = `Ev${Math.random()}`) => ({
  type: 'event_callback',
  event_id: id,
  team_id: 'T1',
  event: {
    type: 'app_mention',
    channel: 'C1',
    user: 'U1',
    ts: String(Math.random()),
    text: `<@U0BOT> ${text}`,
    ...more,
  },
});

const chatting = (
  work: (server: Served, receiver: Receiver) => Promise<void>,
  { plugins = ['team-chat'], env = {} }: { plugins?: string[]; env?: NodeJS.ProcessEnv } = {},
) =>
  withReceiver((receiver) =>
    withPlugins(
      plugins,
      {
        env: {
          TEAM_CHAT_SIGNING_SECRET: SECRET,
          TEAM_CHAT_BOT_TOKEN: BOT,
          TEAM_CHAT_REPLY_URL: receiver.url,
          LOG_LEVEL: 'trace',
          ...env,
        },
        webhookSender: { lookup: toHere, ca: receiver.ca },
      },
      (server) => work(server, receiver),
    ),
  );

const replies = ({ received }: Receiver) =>
  received.map(
    ({ body }) => JSON.parse(body) as { text: string; thread_ts: string; channel: string; client_msg_id: string },
  );

test('a message is answered in its thread, which is one conversation; no secret is logged', () =>
  chatting(async (server, receiver) => {
    assert.equal((await post(server, said('6', { ts: '1.0' }))).json(), { ok: true });
    await receiver.until(() => receiver.received.length === 1);
    await post(server, said('Tariro', { ts: '1.1', thread_ts: '1.0' }));
    await receiver.until(() => receiver.received.length === 2);
    await post(server, said('hello', { ts: '2.0' }));
    await receiver.until(() => receiver.received.length === 3);
    const [first, second, other] = replies(receiver);
    assert.match(first!.text, 'What shall I call you?');
    assert.match(second!.text, 'Hello, Tariro.');
    assert.not.match(other!.text, 'Tariro');
    assert.equal(
      [first, second, other].map((one) => [one!.channel, one!.thread_ts]),
      [
        ['C1', '1.0'],
        ['C1', '1.0'],
        ['C1', '2.0'],
      ],
    );
    assert.is(receiver.received[0]!.headers.authorization, `Bearer ${BOT}`);
    for (const secret of [SECRET, BOT]) assert.not.match(JSON.stringify(server.logged), secret);
  }));

test('what is delivered again is not answered again, at once or later, as another event or at the same time', () =>
  chatting(async (server, receiver) => {
    const event = said('hello', { ts: '3.0' }, 'Ev1');
    const twin = { ...said('hello', { ts: '3.0' }, 'Ev2') };
    await Promise.all([event, event, twin, event].map((one) => post(server, one)));
    await receiver.until(() => receiver.received.length > 0);
    assert.is((await post(server, event)).status, 200);
    await post(server, said('bye', { ts: '4.0' }));
    await receiver.until(() => replies(receiver).some(({ thread_ts }) => thread_ts === '4.0'));
    assert.is(receiver.received.length, 2);
  }));

test('a reply that the chat does not take is tried again by the sweep, without saying the message twice', () =>
  chatting(async (server, receiver) => {
    receiver.says = '{"ok":false,"error":"ratelimited"}';
    await post(server, said('hello', { ts: '5.0' }));
    await receiver.until(() => receiver.received.length === 1);
    receiver.says = '{"ok":true}';
    await receiver.until(() => receiver.received.length === 2);
    const [first, second] = replies(receiver);
    assert.equal(first, second);
    assert.match(first!.client_msg_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.ok(server.logged.some(({ plugin, msg }) => plugin === 'team-chat' && /not answered yet/.test(String(msg))));
  }));

test('gates speak in the chat, too: a team without credits is told so', () =>
  chatting(
    async (server, receiver) => {
      await post(server, said('hello'));
      await receiver.until(() => receiver.received.length === 1);
      assert.is(replies(receiver)[0]!.text, 'No subscription found, please subscribe to continue');
    },
    { plugins: ['team-chat', 'credits'] },
  ));

test('nothing is heard that is not signed, was changed, or is older than five minutes', () =>
  chatting(async (server, receiver) => {
    const event = said('hello');
    const old = String(Number(seconds()) - 400);
    const tries: Sent[] = [
      { signature: '' },
      { signature: 'v0=' },
      { signature: sign(seconds(), JSON.stringify(said('other'))) },
      { signature: sign(seconds(), JSON.stringify(event), 'another') },
      { timestamp: old },
      { timestamp: String(Number(seconds()) + 400) },
      { timestamp: `${seconds()}.5` },
      { timestamp: '' },
    ];
    for (const how of tries) assert.is((await post(server, event, how)).status, 401, JSON.stringify(how));
    const challenge = { type: 'url_verification', challenge: 'c-1' };
    assert.equal((await post(server, challenge)).json(), { challenge: 'c-1' });
    assert.is((await post(server, challenge, { signature: 'v0=00' })).status, 401);
    const bot = [
      { bot_id: 'B1' },
      { subtype: 'message_changed' },
      { text: '<@U0BOT>' },
      { channel: 7 },
      { type: 'reaction' },
    ];
    for (const more of bot) assert.is((await post(server, said('hello', more))).status, 200);
    await post(server, said('last', { ts: '9.0' }));
    await receiver.until(() => receiver.received.length > 0);
    assert.equal(
      replies(receiver).map(({ thread_ts }) => thread_ts),
      ['9.0'],
    );
  }));

test('replies do not go to private addresses', () =>
  chatting(
    async (server) => {
      await post(server, said('hello'));
      for (const end = performance.now() + 20_000; performance.now() < end; ) {
        if (server.logged.some(({ msg }) => /not answered yet/.test(String(msg)))) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      assert.unreachable('nothing was said about it');
    },
    { env: { TEAM_CHAT_REPLY_URL: 'https://127.0.0.1:9/x' } },
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
