// What a program gives a server besides its configuration: it is used in the place of ours, checked, and left open.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Responder } from '../../../lib/agent/index.ts';
import type { LintRule } from '../../../lib/flow/index.ts';
import type { LogStore } from '../../../lib/store/log-store.ts';
import { memoryDocuments, memoryLogs, memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../../lib/store/store.ts';
import type { ServerParts } from '../../../server/boot/running-server.ts';
import type { Plugin } from '../../../server/index.ts';
import { withFolder } from '../../support/process.ts';
import { newUser, ORACLE_KEY } from '../plugins/users.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('parts of a program');

/** A store as programs have them: a class with private state. */
class Sessions implements SnapshotStore {
  readonly name = 'drawer';
  readonly durability = 'memory';
  readonly #kept = memorySnapshots();
  commits = 0;
  isClosed = false;

  load(key: string) {
    return this.#kept.load(key);
  }
  commit(...given: Parameters<SnapshotStore['commit']>) {
    this.commits++;
    return this.#kept.commit(...given);
  }
  remove(key: string) {
    return this.#kept.remove(key);
  }
  list(...given: Parameters<SnapshotStore['list']>) {
    return this.#kept.list(...given);
  }
  due(now: number, limit: number) {
    return this.#kept.due(now, limit);
  }
  sweep(now: number, limit: number) {
    return this.#kept.sweep(now, limit);
  }
  ping() {
    return this.#kept.ping();
  }
  async close() {
    this.isClosed = true;
  }
}

const ECHO: Responder = {
  name: 'echo',
  isResumable: true,
  async *respond({ request }) {
    yield { type: 'text', text: `You said: ${request.message}` };
  },
};

const CLOCKWORK: Plugin = {
  name: 'clockwork',
  version: '1.0.0',
  routes: [
    {
      method: 'GET',
      path: '/clockwork',
      access: 'public',
      handle(koa) {
        koa.body = { path: koa.path, agent: koa.get('User-Agent') };
      },
    },
  ],
};

const FLOW = {
  flow: 'main',
  version: 1,
  start: 'ask',
  vars: { found: { type: 'object' } },
  screens: {
    ask: { type: 'call', service: 'weather.today', save: 'found', done: 'told', fail: 'told' },
    told: { type: 'end', text: 'It is {{found.is}}' },
  },
};

test('stores, services, a responder and a plugin of a program are used, and its stores are left open', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(FLOW));
    const snapshots = new Sessions();
    const [documents, logs] = [memoryDocuments(), memoryLogs()];
    const parts: ServerParts = {
      stores: { snapshots, documents, logs },
      services: { 'weather.today': async () => ({ is: 'dry' }) },
      responder: ECHO,
      plugins: [CLOCKWORK],
    };
    await withServer({ parts, env: { MENUS_DIR: folder, ORACLE_KEY } }, async (server) => {
      assert.is(await server.ussd(DIAL), 'END It is dry');
      assert.equal(
        server.places.map(({ keeps, program, place }) => `${keeps} in ${program}: ${place}`),
        [
          'sessions in drawer: given by the program',
          'documents in memory: given by the program',
          'logs in memory: given by the program',
        ],
      );
      assert.equal((await server.ask('/clockwork', { headers: { 'user-agent': 'me' } })).json(), {
        path: '/clockwork',
        agent: 'me',
      });
      const { headers } = await newUser();
      const { sessionId } = (await server.ask('/sessions', json({}, headers))).json() as { sessionId: string };
      const said = await server.ask(`/messages/${sessionId}`, json({ message: 'hello' }, headers));
      assert.is((said.json() as { message: { content: string } }).message.content, 'You said: hello');
    });
    assert.ok(snapshots.commits > 0);
    assert.is(snapshots.isClosed, false);
    assert.ok((await documents.lastChange()) > 0);
    await documents.ping();
    await logs.ping();
  }));

const SHOUTING: LintRule = {
  code: 'no-shouting',
  severity: 'error',
  means: 'a text is all capitals',
  *find({ flow }) {
    for (const [id, screen] of Object.entries(flow.screens))
      if (screen.type === 'end' && screen.text === 'GO AWAY')
        yield { pointer: `/screens/${id}/text`, message: 'This shouts.', fix: 'Say it calmly.' };
  },
};

test('rules of a program keep menus from being served; one that throws keeps none', () =>
  withFolder(async (folder) => {
    const end = (flow: string, text: string) => ({
      flow,
      version: 1,
      start: 'a',
      screens: { a: { type: 'end', text } },
    });
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(end('main', 'Hello')));
    writeFileSync(join(folder, 'loud.flow.json'), JSON.stringify(end('loud', 'GO AWAY')));
    const broken: LintRule = {
      ...SHOUTING,
      code: 'broken-rule',
      find() {
        throw new Error('no glasses');
      },
    };
    await withServer({ parts: { lintRules: [SHOUTING, broken] }, env: { MENUS_DIR: folder } }, async (server) => {
      assert.is(await server.ussd(DIAL), 'END Hello');
      const words = server.logged.map(({ msg }) => String(msg));
      assert.ok(words.some((line) => /loud\.flow\.json:1:\d+ error no-shouting: This shouts\./.test(line)));
      assert.ok(words.some((line) => /warning broken-rule: .*no glasses\. Fix: Correct the rule\./.test(line)));
    });
  }));

const refused = (parts: object) =>
  withServer({ parts: parts as ServerParts }, async () => '').catch((error: Error & { code?: string }) => {
    assert.is(error.code, 'ERR_CONFIG');
    return error.message;
  });

test('parts that are wrong: the start says everything that is', async () => {
  const half = { name: 'half', durability: 'ever', laod() {}, commit() {} };
  const stores = (await refused({ stores: { snapshots: half as never, logs: {} as LogStore } })).split('\n');
  assert.match(stores[0]!, /^stores\.snapshots has a wrong durability: it must be one of memory, process-crash,/);
  assert.match(stores[1]!, /^stores\.snapshots has no method "load"\. Did you mean "laod"\?/);
  assert.ok(stores.includes('stores.logs has no name.'));
  assert.ok(stores.includes('stores.logs has no method "append".'));
  assert.match(
    await refused({ stores: { sessions: memorySnapshots() } }),
    /^stores: there is none called "sessions"\./,
  );
  assert.match(await refused({ adapters: [{ name: 'zed' }] }), /^adapters\[0\] has/);
  assert.match(await refused({ plugins: [{ name: 'x' }] }), /^plugins\[0\] has an invalid "version"/);
  assert.match(
    await refused({ services: { 'account.exists': async () => true } }),
    /"account\.exists", which comes from twinline already/,
  );
  assert.match(
    await refused({ responder: { name: 'a b', isResumable: true } }),
    /^responder has an invalid name.*\nresponder has no method/,
  );
  assert.match(
    await refused({ lintRules: [{ ...SHOUTING, code: 'syntax' }] }),
    /^lintRules\[0\] has the code "syntax", which another rule has/,
  );
});

test('a store that does not answer ends the start', async () => {
  const [snapshots, logs] = [memorySnapshots(), memoryLogs()];
  await snapshots.close();
  const dead = { ...logs, ping: () => Promise.reject(new Error('no route')) };
  const started = withServer({ parts: { stores: { snapshots, logs: dead } } }, async () => {});
  const { code, message } = await started.then(
    () => assert.unreachable('it starts'),
    (error) => error,
  );
  assert.is(code, 'ERR_STORE');
  assert.is(
    message,
    'stores.snapshots does not answer: The memory store is closed. Open it again before use.\nstores.logs does not answer: no route',
  );
});

test.run();
