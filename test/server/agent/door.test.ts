// The door of the agent service: who comes in, what is answered, and what can be read again.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { soundLog } from '../../agent/ground.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { newSession, newUser, ORACLE_KEY, say, type User } from '../plugins/users.ts';
import { openTab } from '../sockets/ground.ts';
import { json, sharedServer, withServer } from '../support/serve.ts';
import { readFrames } from './chats.ts';

const test = suite('agent door');
const server = sharedServer(test, { env: { ORACLE_KEY } });

const ask: ReturnType<typeof server>['ask'] = (path, how) => server().ask(path, how);
const get = (user: User, path: string) => ask(path, { headers: user.headers });
const send = ({ headers }: User, session: string, body: object) => ask(`/messages/${session}`, json(body, headers));

test('a delegation alone is let in only where that is on, over HTTP and by socket', () =>
  withServer({ env: { ORACLE_KEY, UCAN_DELEGATION_AUTH: 'off' } }, async (strict) => {
    const user = await newUser();
    const sessionId = await newSession(strict, user);
    const delegation = await user.delegation();
    assert.is((await strict.ask('/sessions', { headers: { 'x-ucan-delegation': delegation } })).status, 401);
    const tab = openTab(strict.url, { query: { sessionId }, auth: { ucanDelegation: delegation } });
    await until('the socket is sent away', () => tab.states.length > 1);
    assert.equal(tab.heard, []);
  }));

test('a message is answered as JSON and as frames that can be read again from any number on', async () => {
  const user = await newUser();
  const session = await newSession(server(), user);
  const first = (await send(user, session, { message: 'hello', returnAllMessages: true })).json() as {
    message: { type: string; content: string };
    messages: { type: string }[];
  };
  assert.is(first.message.type, 'ai');
  assert.match(first.message.content, /1\. /);
  assert.equal(
    first.messages.map(({ type }) => type),
    ['human', 'ai'],
  );
  const streamed = await send(user, session, { message: '1', stream: true });
  assert.match(streamed.headers['content-type']!, 'text/event-stream');
  const run = streamed.headers['x-run-id']!;
  const requestId = streamed.headers['x-request-id'];
  const frames = readFrames(streamed.text);
  soundLog(frames);
  assert.equal([frames[0]!.event, frames.at(-1)!.json.status], ['run', 'finished']);
  for (const { json: data } of frames) assert.is(data.requestId ?? requestId, requestId);
  for (let after = 0; after <= frames.length; after++) {
    const again = await get(user, `/runs/${run}?after=${after}`);
    assert.equal(readFrames(again.text), frames.slice(after));
    assert.is(again.headers['x-request-id'], requestId);
  }
  const rejoined = await ask(`/runs/${run}`, { headers: { ...user.headers, 'last-event-id': '2' } });
  assert.equal(readFrames(rejoined.text), frames.slice(2));
  assert.is((await get(user, `/runs/${run}?after=x`)).status, 400);
  assert.equal((await get(user, `/sessions/${session}/run`)).json(), { run: null });
  const page = (await get(user, `/sessions/${session}/messages?limit=3`)).json() as Record<string, unknown[]>;
  assert.equal([page.messages!.length, page.hasOlder], [3, true]);
  const { sessions, total } = (await get(user, '/sessions')).json() as { sessions: { title: string }[]; total: number };
  assert.equal([sessions[0]!.title, total], ['hello', 1]);
});

test('a delegation is stored for its user, and revoked at once', async () => {
  const [user, other] = [await newUser(), await newUser()];
  const raw = await user.delegation();
  const store = (who: User, body: object) => ask('/delegation', json(body, who.headers));
  assert.is((await store(other, { raw })).status, 400);
  const { expiration } = (await store(user, { raw, expiration: 1 })).json() as { expiration: number };
  assert.equal((await get(user, '/delegation')).json(), { authorized: true, expiration });
  const withToken = async (token: string) =>
    (await ask('/sessions', { headers: { 'x-ucan-delegation': token } })).status;
  assert.is(await withToken(raw), 200);
  await ask('/delegation', { method: 'DELETE', headers: user.headers });
  assert.equal((await get(user, '/delegation')).json(), { authorized: false });
  for (const token of [raw, Buffer.from(raw, 'base64').toString('base64url')]) assert.is(await withToken(token), 401);
  assert.is((await store(user, { raw })).status, 400);
});

test('a flow that asks for secrets cannot answer chats', async () => {
  const started = withServer({ env: { ORACLE_KEY, AGENT_FLOW: 'main' } }, async () => undefined);
  assert.match(String(await started.catch((error: Error) => error)), 'asks for the secret');
});

test('an edited flow answers chats from then on', () =>
  withFolder(async (folder) => {
    const write = (version: number, text: string) => {
      const flow = { flow: 'main', version, start: 'hi', screens: { hi: { type: 'end', text } } };
      writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    };
    write(1, 'As it was.');
    await withServer({ env: { ORACLE_KEY, MENUS_DIR: folder, AGENT_FLOW: 'main' } }, async (edited) => {
      const user = await newUser();
      const hear = async () => say(edited, user, await newSession(edited, user), 'hello');
      assert.match(await hear(), 'As it was.');
      write(2, 'As it is.');
      await edited.refresh();
      assert.match(await hear(), 'As it is.');
    });
  }));

test.run();
