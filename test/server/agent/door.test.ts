// The door of the agent service: who comes in, what is answered, what can be read again, and what does not exist for others.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { INVALID, MISSING } from '../../../server/user/authenticate.ts';
import { newKey } from '../../delegation/keys.ts';
import { withFolder } from '../../support/process.ts';
import { type Served, withServer } from '../support/serve.ts';

type Ask = Served['ask'];

const test = suite('agent door');
const ORACLE_KEY = makeOracleKey();
const oracle = parseOracleKey(ORACLE_KEY);
const capability = { can: '*', with: 'ixo:oracle' };

interface User {
  readonly did: string;
  readonly headers: { readonly [name: string]: string };
  delegation(): Promise<string>;
}

async function newUser(): Promise<User> {
  const key = newKey();
  const token = await mintInvocation({ key, audience: oracle.did, capability, expiresIn: 600 });
  return {
    did: key.did,
    headers: { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' },
    delegation: () => mintDelegation({ key, audience: oracle.did, capabilities: [capability], expiresIn: 3_600 }),
  };
}

const served = (work: (ask: Ask) => Promise<void>, env: NodeJS.ProcessEnv = {}) =>
  withServer({ env: { ORACLE_KEY, ...env } }, ({ ask }) => work(ask));

async function begin(ask: Ask, { headers }: User): Promise<string> {
  const made = await ask('/sessions', { method: 'POST', headers });
  assert.is(made.status, 201);
  return (made.json() as { sessionId: string }).sessionId;
}

const send = (ask: Ask, { headers }: User, session: string, body: object) =>
  ask(`/messages/${session}`, { method: 'POST', headers, body: JSON.stringify(body) });

interface Frame {
  readonly event: string;
  readonly id: number;
  readonly data: { readonly [name: string]: unknown };
}

function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((part) => part.startsWith('event: ') && !part.startsWith('event: shutdown'))
    .map((part) => {
      const [event, id, data] = part.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
      return { event: event!, id: Number(id), data: JSON.parse(data!) };
    });
}

test('nobody comes in without a token, and the two refusals are worded as clients expect', () =>
  served(async (ask) => {
    const user = await newUser();
    const { authorization } = user.headers;
    const message = async (headers: object) => {
      const { status, text } = await ask('/sessions', { headers: headers as never });
      return [status, JSON.parse(text)];
    };
    const missing = [401, { statusCode: 401, message: MISSING }];
    const invalid = [401, { statusCode: 401, message: INVALID }];
    assert.equal(await message({}), missing);
    assert.equal(await message({ authorization }), missing);
    assert.equal(await message({ 'x-did': user.did }), missing);
    assert.equal(await message({ authorization: 'Bearer nonsense', 'x-auth-type': 'ucan' }), invalid);
    const delegation = await user.delegation();
    assert.equal(
      await message({ authorization: 'Bearer nonsense', 'x-auth-type': 'ucan', 'x-ucan-delegation': delegation }),
      invalid,
    );
    assert.is((await message({ 'x-ucan-delegation': delegation }))[0], 200);
    assert.is((await message({ authorization, 'x-auth-type': 'ucan', 'x-ucan-delegation': 'bad' }))[0], 200);
    for (const path of ['/', '/health', '/docs', '/openapi.json'])
      assert.is((await ask(path, { headers: { authorization: 'Bearer x', 'x-auth-type': 'ucan' } })).status, 200, path);
  }));

test('a delegation alone is let in only where that is on', () =>
  served(
    async (ask) => {
      const headers = { 'x-ucan-delegation': await (await newUser()).delegation() };
      assert.is((await ask('/sessions', { headers })).status, 401);
    },
    { UCAN_DELEGATION_AUTH: 'off' },
  ));

test('a message is answered as JSON and as frames that can be read again from any number on', () =>
  served(async (ask) => {
    const user = await newUser();
    const session = await begin(ask, user);
    const first = (await send(ask, user, session, { message: 'hello', returnAllMessages: true })).json() as {
      message: { type: string; content: string; id: string };
      messages: { type: string }[];
    };
    assert.is(first.message.type, 'ai');
    assert.match(first.message.content, /1\. /);
    assert.equal(
      first.messages.map(({ type }) => type),
      ['human', 'ai'],
    );
    const streamed = await send(ask, user, session, { message: '1', stream: true });
    assert.match(streamed.headers['content-type']!, 'text/event-stream');
    const run = streamed.headers['x-run-id']!;
    const frames = framesOf(streamed.text);
    assert.equal(
      frames.map(({ id }) => id),
      frames.map((_, at) => at + 1),
    );
    assert.equal([frames[0]!.event, frames.at(-1)!.event], ['run', 'done']);
    assert.is(frames.at(-1)!.data.status, 'finished');
    for (const { data } of frames)
      assert.is(data.requestId ?? streamed.headers['x-request-id'], streamed.headers['x-request-id']);
    for (let after = 0; after <= frames.length; after++) {
      const again = await ask(`/runs/${run}?after=${after}`, { headers: user.headers });
      assert.equal(framesOf(again.text), frames.slice(after));
      assert.is(again.headers['x-request-id'], streamed.headers['x-request-id']);
    }
    const rejoined = await ask(`/runs/${run}`, { headers: { ...user.headers, 'last-event-id': '2' } });
    assert.equal(framesOf(rejoined.text), frames.slice(2));
    assert.is((await ask(`/runs/${run}?after=x`, { headers: user.headers })).status, 400);
    assert.equal((await ask(`/sessions/${session}/run`, { headers: user.headers })).json(), { run: null });
    const page = (await ask(`/sessions/${session}/messages?limit=3`, { headers: user.headers })).json() as {
      messages: unknown[];
      hasOlder: boolean;
    };
    assert.equal([page.messages.length, page.hasOlder], [3, true]);
    const { sessions, total } = (await ask('/sessions', { headers: user.headers })).json() as {
      sessions: { title: string }[];
      total: number;
    };
    assert.equal([sessions[0]!.title, total], ['hello', 1]);
  }));

test('a body with mistakes is told all of them, and an unknown field is one', () =>
  served(async (ask) => {
    const user = await newUser();
    const session = await begin(ask, user);
    const wrong = {
      message: 1,
      colour: 'red',
      stream: 'yes',
      attachments: [{}],
      tools: [{ name: '' }],
      timezone: 'Mars/Base',
    };
    const { status, text } = await send(ask, user, session, wrong);
    const body = JSON.parse(text) as { message: string[]; error: string };
    assert.equal([status, body.error], [400, 'Bad Request']);
    for (const part of [
      'property colour should not exist',
      'message must be a string',
      'stream must be a boolean',
      'attachments.0.filename',
      'attachments.0 must have mxcUri or eventId',
      'tools.0.name',
      'timezone',
    ])
      assert.ok(
        body.message.some((line) => line.includes(part)),
        part,
      );
    const many = Array.from({ length: 11 }, () => ({ eventId: '$1', filename: 'a', mimetype: 'b' }));
    assert.is((await send(ask, user, session, { message: 'x', attachments: many })).status, 400);
    assert.is((await ask(`/messages/${session}`, { method: 'POST', headers: user.headers, body: '{' })).status, 400);
  }));

test('what belongs to one user does not exist for another', () =>
  served(async (ask) => {
    const [owner, other] = [await newUser(), await newUser()];
    const session = await begin(ask, owner);
    const run = (await send(ask, owner, session, { message: 'hello' })).headers['x-run-id']!;
    const tries: readonly [string, string, object?][] = [
      ['GET', `/messages/${session}`],
      ['POST', `/messages/${session}`, { message: 'mine' }],
      ['GET', `/sessions/${session}/run`],
      ['GET', `/sessions/${session}/messages`],
      ['GET', `/runs/${run}`],
      ['POST', '/messages/abort', { sessionId: session }],
      ['DELETE', `/sessions/${session}`],
    ];
    for (const [method, path, body] of tries) {
      const how = { method, headers: other.headers, ...(body && { body: JSON.stringify(body) }) };
      assert.is((await ask(path, how)).status, 404, `${method} ${path}`);
    }
    assert.equal((await ask('/sessions', { headers: other.headers })).json(), { sessions: [], total: 0 });
    assert.is((await ask(`/messages/${session}`, { headers: owner.headers })).status, 200);
    assert.is((await ask(`/sessions/${session}`, { method: 'DELETE', headers: owner.headers })).status, 200);
    assert.is((await ask(`/messages/${session}`, { headers: owner.headers })).status, 404);
  }));

test('a delegation is stored for its user, and revoked at once', () =>
  served(async (ask) => {
    const [user, other] = [await newUser(), await newUser()];
    const raw = await user.delegation();
    const store = (who: User, body: object) =>
      ask('/delegation', { method: 'POST', headers: who.headers, body: JSON.stringify(body) });
    assert.is((await store(other, { raw })).status, 400);
    const { expiration } = (await store(user, { raw, expiration: 1 })).json() as { expiration: number };
    assert.equal((await ask('/delegation', { headers: user.headers })).json(), { authorized: true, expiration });
    assert.is((await ask('/sessions', { headers: { 'x-ucan-delegation': raw } })).status, 200);
    await ask('/delegation', { method: 'DELETE', headers: user.headers });
    assert.equal((await ask('/delegation', { headers: user.headers })).json(), { authorized: false });
    const reencoded = Buffer.from(raw, 'base64').toString('base64url');
    for (const token of [raw, reencoded])
      assert.is((await ask('/sessions', { headers: { 'x-ucan-delegation': token } })).status, 401);
    assert.is((await store(user, { raw })).status, 400);
  }));

test('a flow that asks for secrets cannot answer chats', async () => {
  await served(async () => {}, { AGENT_FLOW: 'main' }).then(
    () => assert.unreachable('it started'),
    (error: Error) => assert.match(error.message, /asks for the secret "pin"|asks for the secret/),
  );
});

test('addresses of attachments lead out of no folder and hold no control character', () =>
  served(async (ask) => {
    const user = await newUser();
    const session = await begin(ask, user);
    const status = async (mxcUri: string) => {
      const attachments = [{ mxcUri, filename: 'a', mimetype: 'image/png' }];
      return (await send(ask, user, session, { message: 'hi', attachments })).status;
    };
    const evil = [
      'mxc://h/a\n/../x',
      'mxc://h/../x',
      'mxc://h/a/..',
      'mxc://h/%2e%2E/x',
      'https://h\\..\\x',
      'mxc://h/a\u0000b',
    ];
    for (const uri of [...evil, 'mxc://h\n/a', 'ftp://h/a', 'mxc:///'])
      assert.is(await status(uri), 400, JSON.stringify(uri));
    for (const uri of ['mxc://h/abc', 'https://h.example/a..b?c=1', 'http://h/..a'.replace('..', '.')])
      assert.is(await status(uri), 200, uri);
  }));

test('a body of another type than JSON is not read as JSON', () =>
  served(async (ask) => {
    const user = await newUser();
    const session = await begin(ask, user);
    const body = JSON.stringify({ message: 'hi' });
    const status = async (type?: string) => {
      const { 'content-type': _, ...rest } = user.headers;
      const headers = { ...rest, ...(type !== undefined && { 'content-type': type }) };
      return (await ask(`/messages/${session}`, { method: 'POST', headers, body })).status;
    };
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'nonsense'])
      assert.is(await status(type), 415, type);
    const json = ['application/json', 'application/json; charset=utf-8', 'application/ld+json'];
    // curl says that any data is a form.
    for (const type of [undefined, 'application/x-www-form-urlencoded', ...json])
      assert.is(await status(type), 200, type);
  }));

test('an edited flow answers chats from then on', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'main.flow.json');
    const write = (version: number, text: string) =>
      writeFileSync(
        file,
        JSON.stringify({ flow: 'main', version, start: 'hi', screens: { hi: { type: 'end', text } } }),
      );
    write(1, 'As it was.');
    const env = { ORACLE_KEY, MENUS_DIR: folder, AGENT_FLOW: 'main' };
    await withServer({ env }, async ({ ask, refresh }) => {
      const user = await newUser();
      const hear = async () => (await send(ask, user, await begin(ask, user), { message: 'hello' })).text;
      assert.match(await hear(), 'As it was.');
      write(2, 'As it is.');
      await refresh();
      assert.match(await hear(), 'As it is.');
    });
  }));

test.run();
