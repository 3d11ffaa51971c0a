// Credits: what is added and spent is counted once, by however many processes, whatever breaks in between; and the gate.

import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RunReport } from '../../../lib/agent/options.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import type { PluginContext } from '../../../server/plugins/plugin.ts';
import { ACCOUNT, accounts, bookingMutex, ENTRY, MICRO } from '../../../server/plugins/shipped/credit-account.ts';
import { creditsPlugin } from '../../../server/plugins/shipped/credits.ts';
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

const test = suite('credits');
const clock = new SimulatedClock();
const TOKEN = 'operators-of-the-test';
const OPERATOR = { authorization: `Bearer ${TOKEN}` };

async function declared(): Promise<DocumentStore> {
  const documents = memoryDocuments({ clock });
  await documents.declare([ACCOUNT, ENTRY]);
  return documents;
}

/** A store whose calls break as `breaks` says: before they do anything, or after they have. */
function breaking(documents: DocumentStore, breaks: () => 'before' | 'after' | undefined): DocumentStore {
  const broken = (): never => {
    throw new TwinlineError('ERR_STORE', 'the process has died');
  };
  const around =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const when = breaks();
      if (when === 'before') broken();
      const done = await call(...args);
      return when === 'after' ? broken() : done;
    };
  const { insert, get, replace } = documents;
  return {
    ...documents,
    insert: around(insert) as never,
    get: around(get) as never,
    replace: around(replace) as never,
  };
}

const ANN = 'did:key:ann';
const SETTINGS = { perMillionInput: 1_000_000, perMillionOutput: 0, perRun: 2, heldPerRun: 4 };

/** Three processes on one store whose calls break, and every balance that was written. */
async function processes(breaks: () => 'before' | 'after' | undefined) {
  const documents = await declared();
  const balances: number[] = [];
  const noting =
    (write: DocumentStore['insert'] | DocumentStore['replace']) =>
    (kind: Kind, ...rest: never[]) => {
      if (kind === ACCOUNT) balances.push((rest.at(-1) as unknown as { balance: number }).balance);
      return (write as (...args: unknown[]) => Promise<unknown>)(kind, ...rest);
    };
  const noted = { ...documents, insert: noting(documents.insert), replace: noting(documents.replace) };
  const broken = breaking(noted as unknown as DocumentStore, breaks);
  const refuse = (status: number) => Object.assign(new Error('refused'), { status });
  const ctx = { documents: broken, clock, refuse } as unknown as PluginContext;
  const audit = { append: async () => ({}) as never };
  const one = () => ({ ...creditsPlugin(SETTINGS, audit), ...accounts({ documents: broken, clock }, bookingMutex()) });
  return { documents, balances, ctx, all: [one(), one(), one()] };
}

/** Tries until the store does it, as runs do. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry)) throw error;
    }
  }
}

test('runs at once on three processes that die at any write cost what they cost, once, and never more than is left', async () => {
  const run = fc.record({
    id: fc.integer({ min: 0, max: 12 }),
    tokens: fc.integer({ min: 0, max: 7 }),
    status: fc.constantFrom('finished' as const, 'failed' as const),
    // The process dies while it begins, and the run is aborted before another one does.
    isAborted: fc.boolean(),
  });
  const breaks = fc.infiniteStream(
    fc.constantFrom(undefined, undefined, undefined, 'before' as const, 'after' as const),
  );
  const runs = fc.uniqueArray(run, { maxLength: 12, selector: ({ id }) => id });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 40 }), runs, breaks, async (credits, list, stream) => {
      const { documents, balances, ctx, all } = await processes(() => stream.next().value);
      const grant = { id: 'grant', did: ANN, amount: credits * MICRO, without: 'refuse' } as const;
      await untilDone(() => all[0]!.book(grant));
      const outcomes = list.map(async ({ id, tokens, status, isAborted }, at) => {
        const start = { runId: String(id), owner: ANN, session: 's', requestId: 'r' };
        const begin = (by: number) => untilDone(async () => all[by % 3]!.begin!(start, ctx));
        const settle = (report: Pick<RunReport, 'status' | 'usage'>) => (by: number) =>
          untilDone(async () => all[(at + by) % 3]!.settle!({ ...start, frames: 1, ...report }, ctx));
        if (isAborted) {
          await Promise.allSettled([all[at % 3]!.begin!(start, ctx)]);
          await Promise.all([0, 2].map(settle({ status: 'aborted', usage: { inputTokens: 0, outputTokens: 0 } })));
          return 0;
        }
        // The second is that of a process that takes the run over.
        const [first, second] = await Promise.allSettled([begin(at), begin(at + 1)]);
        assert.is(first.status, second.status, 'both are let in, or none');
        const isIn = first.status === 'fulfilled';
        const usage = { inputTokens: isIn ? tokens : 0, outputTokens: 0 };
        await Promise.all([0, 2].map(settle({ status: isIn ? status : 'failed', usage })));
        return isIn ? tokens + (status === 'finished' ? SETTINGS.perRun : 0) : 0;
      });
      const costs = await Promise.all(outcomes);
      for (const balance of balances) assert.ok(balance >= 0, String(balance));
      const left = (await accounts({ documents, clock }, bookingMutex()).read(ANN))!.balance / MICRO;
      const cost = costs.reduce((sum, one) => sum + one, 0);
      // Only what a run has cost beyond what it held may be waived, and only when nothing else was left then.
      const beyond = costs.reduce((sum, one) => sum + Math.max(0, one - SETTINGS.heldPerRun), 0);
      assert.ok(left >= credits - cost && left <= credits - cost + beyond, `${left} of ${credits} after ${cost}`);
      const { items } = await documents.find<{ amount: number }>(ENTRY, {
        index: 'account',
        where: { did: ANN },
        limit: 100,
      });
      const sum = items.reduce((all, { body }) => all + body.amount, 0);
      assert.is(sum / MICRO, left, 'the entries say what was counted');
    }),
    { numRuns: 40, seed: Number(process.env.TEST_SEED ?? 1) },
  );
});

test('a booking that comes again after a hundred others is still known', async () => {
  const documents = await declared();
  const one = accounts({ documents, clock }, bookingMutex());
  const book = (at: number) => one.book({ id: `run/${at}`, did: ANN, amount: 1, without: 'cut' });
  for (let at = 0; at < 100; at++) await book(at);
  for (let at = 0; at < 100; at++) await book(at);
  const account = await one.read(ANN);
  assert.is(account?.balance, 100);
  assert.ok(account!.counted.length < 64);
});

const give = ({ ask }: Pick<Served, 'ask'>, did: string, body: object, headers: object = {}) =>
  ask(`/credits/${encodeURIComponent(did)}`, json(body, { ...OPERATOR, ...headers }));
const left = async ({ ask }: Pick<Served, 'ask'>, { headers }: User) =>
  ((await ask('/credits', { headers })).json() as { totalCredits: number }).totalCredits;
const env = {
  OPERATOR_TOKEN: TOKEN,
  CREDITS_PER_RUN: '1',
  CREDITS_HELD_PER_RUN: '1',
  PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
};

const shared = sharedBy<Served>(test, (use) => withPlugins(['credits'], { env }, use));

test('an account begins with nothing; the words and the claims of each refusal are those that clients know', async () => {
  const server = shared();
  const { ask } = server;
  const user = await newUser();
  const refusal = async () => {
    const { status, text } = await ask('/sessions', { method: 'POST', headers: user.headers });
    return [status, ...(status === 201 ? [] : [JSON.parse(text)])];
  };
  const because = (message: string, claims: string[]) => [
    402,
    { statusCode: 402, message, claims, outstandingClaims: claims },
  ];
  assert.equal(await refusal(), because('No subscription found, please subscribe to continue', []));
  assert.equal((await ask('/credits', { headers: user.headers })).json(), {
    did: user.did,
    totalCredits: 0,
    status: 'none',
    currentPlan: null,
    claims: [],
  });
  assert.is((await give(server, user.did, { amount: 10, claims: ['claim-1'] })).status, 201);
  const few = 'User has less than 10 credits, please top up to continue';
  assert.equal(await refusal(), because(few, ['claim-1']));
  await give(server, user.did, { amount: 0.000001, status: 'inactive' });
  assert.equal(await refusal(), because('User has inactive subscription, please subscribe to continue', ['claim-1']));
  await give(server, user.did, { amount: 0, status: 'trial', plan: 'starter', claims: [] });
  assert.equal(await refusal(), [201]);
  assert.equal((await ask('/credits', { headers: user.headers })).json(), {
    did: user.did,
    totalCredits: 10.000001,
    status: 'trial',
    currentPlan: 'starter',
    claims: [],
  });
});

const ANOTHER_AMOUNT = 'This Idempotency-Key has already added 50 credits. Use another key.';

test('only operators add credits, and everything that is wrong is told', async () => {
  const server = shared();
  const { ask } = server;
  const [user, other] = [await newUser(), await newUser()];
  const path = `/credits/${encodeURIComponent(user.did)}`;
  for (const headers of [{}, user.headers, { authorization: 'Bearer another' }])
    assert.is((await ask(path, json({ amount: 1_000 }, headers))).status, 401);
  assert.is((await ask(path, { headers: other.headers })).status, 402, 'an account is not read by its address');
  const wrong = await give(server, 'nobody', { amount: 'x', colour: 1 }, { 'idempotency-key': 'a b' });
  const { message } = wrong.json() as { message: string[] };
  assert.equal([wrong.status, message.length], [400, 4]);
  for (const body of [{}, { amount: 1e12 }, { amount: 1, status: 'rich' }, [], { amount: null }])
    assert.is((await give(server, user.did, body)).status, 400, JSON.stringify(body));
  assert.is(await left(server, user), 0);
  await Promise.all([1, 2, 3].map(() => give(server, user.did, { amount: 50 }, { 'idempotency-key': 'one' })));
  await give(server, other.did, { amount: 20 }, { 'idempotency-key': 'one' });
  const differs = await give(server, user.did, { amount: 60 }, { 'idempotency-key': 'one' });
  assert.equal([differs.status, (differs.json() as { message: string }).message], [422, ANOTHER_AMOUNT]);
  assert.is((await give(server, other.did, { amount: 1e9 })).status, 422, 'beyond what is counted exactly');
  assert.equal([await left(server, user), await left(server, other)], [50, 20]);
  assert.not.match(JSON.stringify(server.logged), TOKEN);
});

test('runs on two instances at once spend what they cost, and the account is empty on both', () => {
  const documents = memoryDocuments();
  const stores = (opened: object) => ({ ...opened, documents }) as never;
  return withPlugins(['credits'], { env, stores }, (one) =>
    withPlugins(['credits'], { env, stores }, async (two) => {
      const user = await newUser();
      await give(one, user.did, { amount: 22 });
      const sessions = await Promise.all(Array.from({ length: 12 }, () => newSession(one, user)));
      await Promise.all(sessions.map((session, at) => say(at % 2 ? one : two, user, session, 'hello')));
      assert.equal([await left(one, user), await left(two, user)], [10, 10]);
      const words = async (server: Served) => (await server.ask('/sessions', { headers: user.headers })).status;
      assert.equal([await words(one), await words(two)], [402, 402]);
      await give(two, user.did, { amount: 5 });
      assert.equal([await words(one), await words(two)], [200, 200]);
      // Two grants, and for each run what was held and what it has cost.
      const entries = await documents.find(ENTRY, { index: 'account', where: { did: user.did }, limit: 100 });
      assert.is(entries.items.length, 26);
    }),
  );
});

// Answers when the test lets it.
const WAITING: (() => void)[] = [];
Object.assign(globalThis, { WAITING });
const SLOW = `export default {
  name: 'slow', version: '1.0.0',
  tools: [{
    name: 'wait', description: 'Waits', schema: { type: 'object' },
    handler: () => new Promise((resolve) => { WAITING.push(() => resolve('done')); }),
  }],
};`;

test('runs at once hold what they may cost: an account pays for as many as it can, and the others are not answered', () =>
  withModules({ 'slow.js': SLOW }, (path) =>
    withFlow(toolFlow('wait', {}), (menus) => {
      const more = { ...env, CREDITS_HELD_PER_RUN: '10', MENUS_DIR: menus };
      return withPlugins(['credits', path('slow.js')], { env: more }, async (server) => {
        const user = await newUser();
        await give(server, user.did, { amount: 35 });
        const sessions = await Promise.all(Array.from({ length: 12 }, () => newSession(server, user)));
        const body = JSON.stringify({ message: 'hello' });
        const statuses: number[] = [];
        const ask = async (session: string) => {
          const reply = await server.ask(`/messages/${session}`, { method: 'POST', headers: user.headers, body });
          if (reply.status === 402) assert.match(reply.text, /less than 10 credits/);
          statuses.push(reply.status);
          // All others were refused: those that go on may end.
          if (statuses.length === 9) for (const end of WAITING) end();
        };
        await Promise.all(sessions.map(ask));
        assert.equal(statuses, [...Array(9).fill(402), ...Array(3).fill(200)]);
        // What was held is given back, but for what three replies have cost.
        assert.is(await left(server, user), 32);
      });
    }),
  ));

test('tokens cost what the prices say, to a millionth', async () => {
  const one = accounts({ documents: await declared(), clock }, bookingMutex());
  const booking = { did: ANN, without: 'cut' } as const;
  await one.book({ id: 'grant', amount: MICRO, ...booking });
  const { account } = await one.book({ id: 'run/1', amount: -(3 * 4_800 + 7 * 24_000), ...booking });
  assert.is(account.balance / MICRO, 1 - 0.1824);
});

test.run();
