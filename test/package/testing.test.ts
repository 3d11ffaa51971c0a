// twinline/testing as others use it: a file of node:test runs the checks of a store of its own and finds what is broken in it, and the
// gateways of all dialects dial a server.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryLogs, memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import {
  adapterChecks,
  type Check,
  logStoreChecks,
  snapshotStoreChecks,
  TELECOM_DIALECTS,
  telecomGateway,
} from '../../lib/testing/index.ts';
import type { AdapterName } from '../../lib/ussd/adapters.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import { DIAL, withServer } from '../server/support/serve.ts';

const test = suite('what others test with');

/** Names of the checks that fail. */
async function findBroken(checks: readonly Check[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, run, skip } of checks) if (skip === undefined) await run().catch(() => broken.push(name));
  return broken;
}

test('stores that break a promise are found out, each by its sentence', async () => {
  const breaks: Readonly<Record<string, (store: SnapshotStore) => Partial<SnapshotStore>>> = {
    'forgets to compare': ({ commit, load }) => ({
      commit: async (key, _expected, next) => commit(key, (await load(key))?.revision ?? 0, next),
    }),
    'shows what has expired': (store) => {
      const kept = new Map<string, Awaited<ReturnType<SnapshotStore['load']>>>();
      return {
        load: async (key) => (await store.load(key)) ?? kept.get(key),
        commit: async (key, expected, next) => {
          const result = await store.commit(key, expected, next);
          if (result.kind === 'committed') kept.set(key, { ...next, revision: result.revision });
          return result;
        },
      };
    },
    'lists the ended': ({ list }) => ({ list: async (how) => ({ ...(await list(how)), keys: ['x'] }) }),
    'takes any key': ({ load }) => ({ load: (key) => (key.length > 256 ? undefined : load(key)) }),
    'is never due': () => ({ due: async () => [] }),
    'lives after close': () => ({ close: async () => {} }),
  };
  const open = ({ clock }: { clock: { now(): number } }) => memorySnapshots({ clock });
  assert.equal(await findBroken(snapshotStoreChecks(open)), []);
  for (const [what, change] of Object.entries(breaks)) {
    const broken = await findBroken(
      snapshotStoreChecks((where) => {
        const store = open(where);
        return { ...store, ...change(store) };
      }),
    );
    assert.ok(broken.length > 0, `a store that ${what} passes`);
  }
});

test('a log store that does not know a repeat of its last append is found out by name', async () => {
  const broken = await findBroken(
    logStoreChecks((where) => {
      const store = memoryLogs(where);
      return {
        ...store,
        append: async (log, frames, options) => {
          const result = await store.append(log, frames, options);
          if (result.kind !== 'appended' || options.end) return result;
          const state = await store.state(log).catch(() => undefined);
          return state?.ended && state.last === result.last ? { kind: 'ended', last: result.last } : result;
        },
      };
    }).filter(({ name }) => !name.startsWith('any order')),
  );
  assert.equal(broken, ['a repeat is answered also when the log has ended since, or would end with it']);
});

test('a failure says which call was accepted, or refused in another way', async () => {
  const fail = async (change: Partial<SnapshotStore>, name: string) => {
    const checks = snapshotStoreChecks((where) => ({ ...memorySnapshots(where), ...change }));
    const check = checks.find((one) => one.name === name)!;
    return check.run().then(
      () => 'nothing',
      ({ message }: Error) => message,
    );
  };
  const name = 'a malformed key, limit or cursor is refused with ERR_INPUT';
  assert.is(
    await fail({ load: async () => undefined }, name),
    "load('') must be refused with ERR_INPUT; it was accepted.",
  );
  const load = async () => {
    throw new RangeError('no');
  };
  const other = "load('') must be refused with a TwinlineError of code ERR_INPUT; it was refused with RangeError: no.";
  assert.is(await fail({ load }, name), other);
});

test('the seed of a failure makes the same calls again', async () => {
  const run = async (replay: { readonly seed?: number; readonly path?: string }) => {
    const due: SnapshotStore['due'] = async () => ['x'];
    const checks = snapshotStoreChecks((where) => ({ ...memorySnapshots(where), due }), replay);
    return checks
      .at(-1)!
      .run()
      .then(
        () => '',
        ({ message }: Error) => message,
      );
  };
  const first = await run({});
  const [, seed, path] = /seed: (-?\d+), path: "([\d:]+)"/.exec(first) ?? [];
  assert.ok(seed !== undefined && path !== undefined, first);
  const again = await run({ seed: Number(seed), path });
  assert.match(again, `seed: ${seed}, path: "${path}"`);
  assert.match(again, 'after 1 tests');
});

test('an adapter that breaks a promise is found out', async () => {
  const { hubtel } = createAdapters('cumulative');
  const request = {
    method: 'POST',
    path: '/',
    body: '{"SessionId":"h1","Mobile":"233241234567","ServiceCode":"713","Type":"Initiation","Message":"*713#","Sequence":1}',
  };
  const raw = { method: 'POST', path: [], query: new URLSearchParams(), headers: {}, body: request.body };
  const [read, reply] = [hubtel.read(raw), { kind: 'continue', text: 'Hi' } as const];
  const turns = [{ what: 'the dial', request, read, reply, answer: hubtel.write(reply, read) }];
  const samples = { dialogue: { source: 'a test', turns, refused: [] }, client: TELECOM_DIALECTS.hubtel.read };
  assert.equal(await findBroken(adapterChecks(hubtel, samples)), []);
  const deaf = { ...hubtel, read: () => ({ ...read, sessionId: '' }) };
  assert.ok((await findBroken(adapterChecks(deaf, samples))).length > 1);
  const cutting = {
    ...hubtel,
    write: (...[{ kind, text }, asked]: Parameters<typeof hubtel.write>) =>
      hubtel.write({ kind, text: text.slice(0, 2) }, asked),
  };
  const broken = await findBroken(adapterChecks(cutting, samples));
  assert.ok(broken.includes('any text comes back whole from the answer, whatever is in it'), broken.join());
});

test('a gateway of each dialect dials, types, retries and hangs up', () =>
  withServer({}, async (server) => {
    for (const name of Object.keys(TELECOM_DIALECTS) as AdapterName[]) {
      const caller = telecomGateway(name, { url: server.url }).caller({ sessionId: `of ${name}` });
      const first = await caller.dial();
      assert.is(first.kind, 'continue', name);
      assert.match(first.text, /^Welcome to Twinline\n/);
      const second = await caller.type('1');
      assert.match(second.text, /^Know more/);
      if (name === 'africastalking' || name === 'hubtel') assert.equal(await caller.retry(), second, name);
      const { count } = (await server.ask('/api/ussd/sessions')).json() as { count: number };
      await caller.hangUp();
      const after = (await server.ask('/api/ussd/sessions')).json() as { count: number };
      const canTell = name !== 'nalo' && name !== 'arkesel';
      assert.is(after.count, canTell ? count - 1 : count, name);
    }
    const nowhere = telecomGateway({ ...TELECOM_DIALECTS.hubtel, name: 'nobody' }, { url: server.url });
    await nowhere
      .caller()
      .dial()
      .then(
        () => assert.unreachable('it dialled'),
        ({ message }: Error) =>
          assert.match(message, /^POST \/api\/ussd\/nobody was answered with 404 and no screen\./),
      );
    assert.match(await server.ussd(DIAL), /^CON/);
  }));

test.run();
