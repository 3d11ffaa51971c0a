// Claims: submitted by users, seen by nobody else, evaluated once by a service, however many jobs come at once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import type { Service } from '../../../lib/engine/service.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { PluginContext } from '../../../server/plugins/plugin.ts';
import { CLAIM, claims, processClaims } from '../../../server/plugins/shipped/claim.ts';
import { createLog } from '../../../server/telemetry/log.ts';
import { json, type Served } from '../support/serve.ts';
import {
  newSession,
  newUser,
  say,
  sharedBy,
  toolFlow,
  type User,
  withFlow,
  withModules,
  withPlugins,
} from './users.ts';

const test = suite('claims');

const SECRET = 'cron-secret-of-the-test';
const RULES = `export default {
  'claims.evaluate': async ({ data }) => ({ approved: data.burners > 1, reason: data.burners > 1 ? null : 'Too few burners' }),
};`;

const FLOW = toolFlow('submit_claim', { collection: '=said', data: { burners: 3 } });

const claiming = (work: (server: Served) => Promise<void>, more: NodeJS.ProcessEnv = {}) =>
  withModules({ 'rules.js': RULES }, (path) =>
    withFlow(FLOW, (menus) => {
      const own = { CLAIMS_SECRET: SECRET, CLAIMS_SERVICE: 'claims.evaluate', SERVICES: path('rules.js') };
      return withPlugins(['claims'], { env: { ...own, MENUS_DIR: menus, ...more } }, work);
    }),
  );
const shared = sharedBy(test, (use) => claiming(use));

const submit = ({ ask }: Served, { headers }: User, data: unknown) =>
  ask('/claims', json({ collection: 'stoves', data }, headers));
const run = ({ ask }: Served, authorization = `Bearer ${SECRET}`) =>
  ask('/claims/process', { method: 'POST', headers: authorization ? { authorization } : {} });

test('claims are submitted, evaluated by a job, and read by who submitted them', async () => {
  const server = shared();
  const ann = await newUser();
  const made = await submit(server, ann, { burners: 2 });
  assert.is(made.status, 201);
  const { id, status } = made.json() as { id: string; status: string };
  assert.is(status, 'pending');
  await submit(server, ann, { burners: 1 });
  const none = { processed: 0, approved: 0, rejected: 0, failed: 0, postponed: 0, remaining: 0 };
  assert.equal((await run(server)).json(), { ...none, processed: 2, approved: 1, rejected: 1 });
  assert.equal((await run(server)).json(), none);
  const read = (who: User, path: string) => server.ask(path, { headers: who.headers });
  assert.is(((await read(ann, `/claims/${id}`)).json() as { status: string }).status, 'approved');
  const { claims: listed } = (await read(ann, '/claims')).json() as { claims: { reason: string | null }[] };
  assert.equal(listed.map(({ reason }) => reason).sort(), [null, 'Too few burners'].sort());
});

test('the job shows its secret, and a token of a user is none', async () => {
  const server = shared();
  const user = await newUser();
  for (const wrong of ['', 'Bearer ', `Bearer ${SECRET}x`, SECRET, user.headers.authorization!]) {
    const { status, headers } = await run(server, wrong);
    assert.equal([status, headers['www-authenticate']], [401, 'Bearer realm="claims"'], wrong.slice(0, 20));
  }
  assert.not.match(JSON.stringify(server.logged), SECRET);
  const bad = await server.ask('/claims', json({ collection: '', more: 1 }, user.headers));
  assert.equal([bad.status, (bad.json() as { message: string[] }).message.length], [400, 3]);
});

test('an agent submits a claim for its user', async () => {
  const server = shared();
  const ann = await newUser();
  assert.match(await say(server, ann, await newSession(server, ann), 'stoves'), 'Done.');
  const { claims: own } = (await server.ask('/claims', { headers: ann.headers })).json() as { claims: object[] };
  assert.equal(
    own.map((claim) => (claim as { collection: string }).collection),
    ['stoves'],
  );
});

test('a start is refused when the service is none', async () => {
  const failed = await claiming(async () => {}, { CLAIMS_SERVICE: 'claims.other' }).catch((error: Error) => error);
  assert.match(String(failed), 'CLAIMS_SERVICE="claims.other" is not a service');
});

async function place() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([CLAIM]);
  const log = createLog({ logLevel: 'silent' });
  const ctx = { clock, documents, log, closing: new AbortController().signal } as unknown as PluginContext;
  return { ctx, clock, store: claims(ctx) };
}

test('jobs at the same time share the work: every claim is evaluated once', async () => {
  const { ctx, store } = await place();
  for (let at = 0; at < 150; at++) await store.submit('did:key:ann', { collection: 'c', data: { at } });
  const asked: string[] = [];
  const service: Service = async (_input, { idempotencyKey }) => {
    asked.push(idempotencyKey);
    await new Promise(setImmediate);
    return { approved: true };
  };
  let processed = 0;
  for (let round = 0; round < 2; round++)
    for (const counts of await Promise.all([1, 2, 3].map(() => processClaims(ctx, service))))
      processed += counts.processed;
  assert.equal([processed, asked.length, new Set(asked).size], [150, 150, 150]);
});

test('what fails is tried again later under the same key, and given up in the end', async () => {
  const { ctx, clock, store } = await place();
  const { id } = await store.submit('did:key:ann', { collection: 'c', data: {} });
  const keys = new Set<string>();
  const service: Service = async (_input, { idempotencyKey }) => {
    keys.add(idempotencyKey);
    return 'no verdict';
  };
  for (let tries = 1; tries <= 5; tries++) {
    const counts = await processClaims(ctx, service);
    assert.equal([counts.postponed, counts.failed], tries < 5 ? [1, 0] : [0, 1]);
    assert.is((await processClaims(ctx, service)).postponed, 0, 'not at once');
    await clock.advance(1_000_000);
  }
  assert.equal([...keys], [id]);
  assert.is((await store.get('did:key:ann', id))!.body.status, 'failed');
  assert.is(await store.get('did:key:bob', id), undefined);
});

test('a claim of one key is submitted once', async () => {
  const { store } = await place();
  const all = await Promise.all(
    [1, 2, 3].map(() => store.submit('did:key:ann', { collection: 'c', data: {}, key: 'k' })),
  );
  await store.submit('did:key:bob', { collection: 'c', data: {}, key: 'k' });
  assert.is(new Set(all.map(({ id }) => id)).size, 1);
  assert.equal([(await store.list('did:key:ann')).length, (await store.list('did:key:bob')).length], [1, 1]);
});

test.run();
