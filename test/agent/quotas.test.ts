// What users may store: bytes of a day, sessions, and sessions that nobody uses any more.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_KINDS, SESSION, USAGE } from '../../lib/agent/kinds.ts';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import { quotaGuard } from '../../lib/agent/session/quota.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { ANN, BOB, endless, ground, newSession, say, saying } from './ground.ts';

const test = suite('quotas');

const DAY_MS = 86_400_000;
const QUOTAS = { userBytesPerDay: 1_000, bytesPerDay: 3_000, sessionsPerUser: 3 };

async function place() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(AGENT_KINDS);
  return { clock, documents, process: () => quotaGuard({ documents, clock }, QUOTAS) };
}

const isRefused = (work: Promise<unknown>) =>
  work.then(
    () => false,
    ({ code }: TwinlineError) => code === 'ERR_QUOTA',
  );

test('a user sends so much in a day through all processes, and as much again on the next', async () => {
  const { clock, documents, process } = await place();
  const [one, two] = [process(), process()];
  const tries = Array.from({ length: 30 }, (_, at) =>
    isRefused([one, two][at % 2]!.countBytes({ owner: ANN, bytes: 100 })),
  );
  assert.is((await Promise.all(tries)).filter((refused) => !refused).length, 10);
  // After a restart, too.
  assert.ok(await isRefused(process().countBytes({ owner: ANN, bytes: 1 })));
  await process().countBytes({ owner: BOB, bytes: 1_000 });
  await clock.advance(DAY_MS);
  await one.countBytes({ owner: ANN, bytes: 1_000 });
  assert.is(await one.sweep(100), 0, 'who has sent something is known for some days');
  await clock.advance(AGENT_LIMITS.knownUserDays * DAY_MS);
  assert.is(await one.sweep(100), 1, 'the one who has been silent since');
  assert.is(await documents.count(USAGE), 1);
});

test('all users together send so much to a process in a day; what was refused is not counted', async () => {
  const { clock, process } = await place();
  const [one, other] = [process(), process()];
  const known = ['did:key:a', 'did:key:b', 'did:key:c', 'did:key:d'];
  for (const owner of known) await other.countBytes({ owner, bytes: 1 });
  await clock.advance(DAY_MS);
  assert.ok(await isRefused(one.countBytes({ owner: 'did:key:a', bytes: 1_200 })));
  for (const owner of known.slice(0, 3)) await one.countBytes({ owner, bytes: 1_000 });
  assert.ok(await isRefused(one.countBytes({ owner: 'did:key:d', bytes: 1 })));
  await clock.advance(DAY_MS);
  await one.countBytes({ owner: 'did:key:d', bytes: 1 });
});

test('one address with many identities leaves three quarters of the day to others, and all newcomers half to those who came before', async () => {
  const { clock, process } = await place();
  await process().countBytes({ owner: ANN, bytes: 1 });
  await clock.advance(DAY_MS);
  const one = process();
  const flood = async (client: string) => {
    const tries = Array.from({ length: 40 }, (_, at) =>
      isRefused(one.countBytes({ owner: `did:key:${client}-${at}`, bytes: 50, client })),
    );
    return (await Promise.all(tries)).filter((refused) => !refused).length;
  };
  assert.is(await flood('192.0.2.1'), 15, 'a quarter of the bytes');
  assert.is(await flood('192.0.2.2'), 15);
  assert.is(await flood('192.0.2.3'), 0, 'newcomers have their half');
  assert.ok(await isRefused(one.countBytes({ owner: BOB, bytes: 1 })));
  await one.countBytes({ owner: ANN, bytes: 750, client: '192.0.2.4' });
  assert.ok(
    await isRefused(one.countBytes({ owner: ANN, bytes: 50, client: '192.0.2.4' })),
    'an address is one of all users',
  );
  await one.countBytes({ owner: ANN, bytes: 50, client: '192.0.2.5' });
  await clock.advance(DAY_MS);
  await one.countBytes({ owner: BOB, bytes: 750, client: '192.0.2.1' });
});

test('what the store fails to count does not count for all users either', async () => {
  const { clock, documents } = await place();
  let isAway = true;
  const get: typeof documents.get = (...given) =>
    isAway ? Promise.reject(new Error('the store is away')) : documents.get(...given);
  const one = quotaGuard({ documents: { ...documents, get }, clock }, QUOTAS);
  for (let tries = 0; tries < 3; tries++) await one.countBytes({ owner: ANN, bytes: 900 }).catch(() => undefined);
  isAway = false;
  await one.countBytes({ owner: ANN, bytes: 900 });
});

test('a message beyond the quota is refused and leaves nothing; a session beyond it too, until one is deleted', async () => {
  const here = ground();
  const agent = await here.agent(saying('yes'), { quotas: QUOTAS });
  const sessions = [await newSession(agent), await newSession(agent), await newSession(agent)];
  assert.ok(await isRefused(agent.sessions.create(ANN)));
  await agent.deleteSession(ANN, sessions.pop()!);
  await newSession(agent);
  await newSession(agent, BOB);
  await say(agent, sessions[0]!, 'x'.repeat(800));
  await agent.idle();
  assert.ok(await isRefused(say(agent, sessions[0]!, 'y'.repeat(800))));
  assert.is((await agent.transcript.all(sessions[0]!)).length, 2);
  await here.clock.advance(DAY_MS);
  await say(agent, sessions[0]!, 'y'.repeat(800));
});

test('sessions that are asked for at once, of two processes, are never more than a user may have', async () => {
  const here = ground();
  const agents = [
    await here.agent(saying('yes'), { quotas: QUOTAS }),
    await here.agent(saying('yes'), { quotas: QUOTAS }),
  ];
  const refused = await Promise.all(
    Array.from({ length: 12 }, (_, at) => isRefused(agents[at % 2]!.sessions.create(ANN))),
  );
  const { total } = await agents[0]!.sessions.list(ANN);
  assert.is(total, refused.filter((one) => !one).length);
  assert.ok(total <= QUOTAS.sessionsPerUser, String(total));
  while (!(await isRefused(agents[0]!.sessions.create(ANN))));
  assert.is((await agents[0]!.sessions.list(ANN)).total, QUOTAS.sessionsPerUser);
  assert.is(await isRefused(agents[0]!.sessions.create(BOB)), false);
});

test('a session has so many messages in line; one that finds no room, or is too long, is not counted', async () => {
  const agent = await ground().agent(endless('x'), { quotas: { ...QUOTAS, userBytesPerDay: 400 } });
  const session = await newSession(agent);
  const more = { owner: ANN, session, requestId: 'r', multitask: 'enqueue' } as const;
  for (let at = 0; at < AGENT_LIMITS.runsPerSession; at++) await say(agent, session, `${at}`, more);
  for (let at = 0; at < 3; at++)
    assert.is((await agent.send({ ...more, request: { message: 'x'.repeat(100) } })).kind, 'full');
  const other = await newSession(agent);
  const long = {
    owner: ANN,
    session: other,
    requestId: 'r',
    request: { message: 'x'.repeat(AGENT_LIMITS.agentRequestBytes) },
  };
  assert.is(await agent.send(long).catch((error) => error.code), 'ERR_INPUT');
  await say(agent, other, 'x'.repeat(100));
  for (const of of [session, other]) await agent.deleteSession(ANN, of);
  await agent.idle();
});

test('a session that nobody has used for so long is deleted with its messages; without a setting, none is', async () => {
  const here = ground();
  const keeping = await here.agent(saying('yes'));
  const [old, used] = [await newSession(keeping), await newSession(keeping)];
  for (const session of [old, used]) await say(keeping, session, 'hello');
  await keeping.idle();
  await here.clock.advance(50 * DAY_MS);
  await say(keeping, used, 'again');
  await keeping.idle();
  await here.clock.advance(50 * DAY_MS);
  await keeping.sweep();
  assert.is((await keeping.sessions.list(ANN)).total, 2);
  const forgetting = await here.agent(saying('yes'), { keepSessionsMs: 90 * DAY_MS });
  await forgetting.sweep();
  assert.equal(
    (await forgetting.sessions.list(ANN)).sessions.map(({ sessionId }) => sessionId),
    [used],
  );
  assert.equal(await forgetting.transcript.all(old), []);
  await here.clock.advance(2 * 60_000);
  for (let round = 0; round < 3; round++) await forgetting.sweep();
  assert.is(await here.documents.count(SESSION), 1);
});

test.run();
