// How many files one has to read to follow a request: those of which a function runs. A walk may get shorter, not longer.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canCountFiles, filesRun } from '../../support/files-run.ts';
import { withFolder } from '../../support/process.ts';
import { COOKING, created, place, YES } from '../domain/place.ts';
import { withGateway } from '../gateway/place.ts';
import { newSession, newUser, ORACLE_KEY } from '../plugins/users.ts';
import { DIAL, withServer } from '../support/serve.ts';

const test = suite('walks through the files');
const { server, ask, domain, proposal } = place(test, { env: { ORACLE_KEY } });

/** Most files of each walk. */
const FILES_MAX = {
  'a USSD turn': 66,
  'POST /v1/domains': 44,
  'the deciding vote': 62,
  'the first frame of a reply': 103,
  'a query of the chain over grpc-js': 37,
  'a menu that is edited': 75,
} as const;

/** `timesMax`: how often the work may be done. */
async function walk(name: keyof typeof FILES_MAX, work: () => Promise<void>, timesMax?: number): Promise<void> {
  if (!canCountFiles) return work();
  const files = await filesRun(work, { wanted: FILES_MAX[name], timesMax });
  if (process.env.WALKS) console.log(`${name}: ${files.length}\n  ${files.join('\n  ')}`);
  assert.ok(files.length > 5, `${name} was not seen`);
  const words = `${name} runs through ${files.length} files, ${FILES_MAX[name]} at most: join what belongs together`;
  assert.ok(files.length <= FILES_MAX[name], `${words}.\n${files.join('\n')}`);
}

test('a USSD turn', async () => {
  let nth = 0;
  const dial = async (text: string) => {
    const caller = { ...DIAL, sessionId: `walk-${nth}`, phoneNumber: `+2609712400${10 + nth}` };
    assert.match(await server().ussd({ ...caller, text }), /^CON /);
  };
  await dial('');
  await dial('1');
  // Each choice is the second turn of a session of its own, which was begun before.
  for (nth = 1; nth <= 3; nth++) await dial('');
  nth = 0;
  await walk('a USSD turn', async () => {
    nth++;
    await dial('1');
  });
});

const NEW_DOMAIN = { type: 'Project', class: COOKING, metadata: { name: 'Stoves' } };

test('a domain is made', async () => {
  await domain(NEW_DOMAIN);
  await walk('POST /v1/domains', async () => void created(await ask('owner', 'POST /v1/domains', NEW_DOMAIN)));
});

test('the deciding vote', async () => {
  const ids: string[] = [];
  for (let nth = 0; nth < 4; nth++) {
    const { id } = await proposal((await domain()).did);
    created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES));
    ids.push(id);
  }
  const decide = async () => {
    const { status } = created(await ask('bob', `POST /v1/proposals/${ids.pop()}/votes`, YES));
    assert.is(status, 'executed');
  };
  await decide();
  await walk('the deciding vote', decide);
});

test('the first frame of a reply', async () => {
  const user = await newUser();
  const sessions: string[] = [];
  for (let nth = 0; nth < 4; nth++) sessions.push(await newSession(server(), user));
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const begin = async () => {
    const body = JSON.stringify({ message: 'hello', stream: true });
    const answer = await fetch(`${server().url}/messages/${sessions.pop()}`, {
      method: 'POST',
      headers: user.headers,
      body,
    });
    assert.is(answer.status, 200);
    const reader = answer.body!.getReader();
    readers.push(reader);
    assert.match(Buffer.from((await reader.read()).value!).toString(), /^event: /);
  };
  await begin();
  await walk('the first frame of a reply', begin);
  for (const reader of readers) while (!(await reader.read()).done);
});

test('a query of the chain', () =>
  withGateway({ channel: 'grpc-js' }, async (gateway) => {
    gateway.node.script = () => ({});
    const query = async () => {
      const answer = await gateway.server.ask('/grove/tree/abc');
      assert.is(answer.status, 200, answer.text);
    };
    await query();
    await walk('a query of the chain over grpc-js', query);
  }));

test('a menu that is edited', () =>
  withFolder(async (folder) => {
    let nth = 0;
    const write = () => {
      const end = { type: 'end', text: `Bye ${nth}` };
      const start = { type: 'menu', text: `Hello ${nth}`, options: [{ id: 'on', text: 'On', to: 'end' }] };
      const flow = { flow: 'main', version: 1, start: 'start', screens: { start, end } };
      writeFileSync(join(folder, '.new.tmp'), JSON.stringify(flow));
      renameSync(join(folder, '.new.tmp'), join(folder, 'main.flow.json'));
    };
    write();
    const tests = { flow: 'main', tests: [{ name: 'it dials', steps: [{ in: '', has: 'Hello' }] }] };
    writeFileSync(join(folder, 'main.test.json'), JSON.stringify(tests));
    await withServer({ env: { MENUS_DIR: folder } }, async (edited) => {
      const edit = async () => {
        nth++;
        write();
        await edited.refresh();
      };
      await edit();
      await walk('a menu that is edited', edit, 12);
      const screen = await edited.ussd({ ...DIAL, sessionId: 'edited' });
      assert.match(screen, new RegExp(`^CON Hello ${nth}`));
    });
  }));

test.run();
