// The same promises on stores that are shared by processes: files, Redis, and a process that is killed with -9.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { type Agent, openAgent, type Sent } from '../../lib/agent/agent.ts';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import { flowResponder } from '../../lib/agent/responders/flow.ts';
import { SimulatedClock, systemClock } from '../../lib/clock.ts';
import { loadFlow } from '../../lib/flow/format/load.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { lmdbLogs, lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { redisChannel } from '../../lib/store/redis/channel.ts';
import { redisLogs } from '../../lib/store/redis/logs.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { builtFile } from '../support/build.ts';
import { startRedis } from '../support/redis-server.ts';
import { suite } from '../support/suites.ts';
import {
  ANN,
  asleep,
  endless,
  framesOf,
  type Ground,
  ground,
  newSession,
  say,
  saying,
  shownText,
  soundLog,
} from './ground.ts';
import { effectsIn, folderStores, shopResponder } from './killed-place.ts';

const test = suite('agent runs on shared stores');

const redis = await startRedis();
test.after(() => redis.stop());

/** Two processes on one place: each has connections of its own. */
type Place = readonly [Ground, Ground];

const PLACES: { readonly [name: string]: (folder: string, clock: SimulatedClock) => Place } = {
  files: (folder, clock) => {
    const documents = sqliteDocuments({ path: join(folder, 'documents.db'), clock });
    const logs = lmdbLogs({ path: join(folder, 'logs'), clock });
    const snapshots = lmdbSnapshots({ path: join(folder, 'snapshots'), clock });
    const one = ground({ clock, documents, logs, snapshots });
    return [one, one];
  },
  Redis: (folder, clock) => {
    const open = () => {
      const prefix = `${folder.slice(-6)}:`;
      return { logs: redisLogs({ url: redis.url, prefix, clock }), channel: redisChannel({ url: redis.url, prefix }) };
    };
    const one = ground({ clock, ...open() });
    return [one, ground({ clock, documents: one.documents, snapshots: one.snapshots, ...open() })];
  },
};

for (const [name, open] of Object.entries(PLACES))
  test(`${name}: answered and read elsewhere, aborted from elsewhere, taken over`, () =>
    within(async (folder) => {
      const clock = new SimulatedClock();
      const [here, there] = open(folder, clock);
      const agents: Agent[] = [];
      const begin = async (...given: Parameters<Ground['agent']>) => {
        agents.push(await (agents.length % 2 ? there : here).agent(...given));
        return agents.at(-1)!;
      };
      try {
        const store = here.snapshots;
        const flow = await loadFlow('menus/assistant.flow.json');
        const talking = await begin(
          flowResponder({ store, clock, flow: flow.flow, conversations: [compileFlow(flow)] }),
        );
        const waiting = await begin(endless('half'));
        const session = await newSession(talking);
        await answersAndAborts({ talking, waiting, session });
        const sleeper = await begin(endless('so'), { clock: asleep(clock) });
        const runId = await say(sleeper, session, 'again');
        await until(waiting, { runId, event: 'message' });
        await clock.advance(AGENT_LIMITS.runLeaseMs);
        const heir = await begin(saying('so ', 'it is'));
        await heir.sweep();
        const frames = await framesOf(waiting, runId);
        soundLog(frames);
        assert.is(shownText(frames), 'so it is');
        await heir.idle();
        assert.equal([...here.problems, ...there.problems], []);
      } finally {
        for (const { logs, channel, documents, snapshots } of new Set([here, there]))
          for (const store of [logs, channel, documents, snapshots]) await store.close();
      }
    }));

async function answersAndAborts({ talking, waiting, session }: { talking: Agent; waiting: Agent; session: string }) {
  const first = await say(talking, session, 'dialling');
  const frames = await framesOf(waiting, first);
  soundLog(frames);
  assert.match(shownText(frames), /^Dial the code/);
  await talking.idle();
  const second = await say(waiting, session, 'more');
  await until(talking, { runId: second, event: 'message' });
  assert.is(await talking.abort({ owner: ANN, session }), true);
  const aborted = await framesOf(talking, second);
  soundLog(aborted);
  assert.equal(aborted.at(-1)!.json.partialText, 'half');
  await waiting.idle();
}

async function until(agent: Agent, { runId, event }: { runId: string; event: string }): Promise<void> {
  const following = await agent.follow({ owner: ANN, runId });
  for await (const frames of following!.frames) if (frames.some((frame) => frame.event === event)) return;
}

test('killed with -9 in the middle of a call: another process resumes, and the call has one effect', () =>
  within(async (folder) => {
    // This process lives a minute later: the lease of the other one is over.
    const clock = { ...systemClock, now: () => Date.now() + 60_000 };
    const stores = folderStores(folder, clock);
    const responder = shopResponder(stores, async (key) => {
      await effectsIn(folder).note(key);
      return 8;
    });
    try {
      const agent = await openAgent({ ...stores, responder, oracle: { name: 'o', did: 'd', entityDid: 'e' } });
      const session = await newSession(agent);
      await say(agent, session, 'hi');
      await agent.idle();
      const child = fork(await builtFile('test/agent/killed-child.ts'), [folder, session], { execArgv: [] });
      const told: unknown[] = [];
      while (told.length < 2) told.push((await once(child, 'message'))[0]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const sent = told.find((one) => one !== 'called') as Sent & { kind: 'accepted' };
      const { runId } = sent.run;
      assert.is((await agent.openRun(ANN, session))!.status, 'recovering');
      await agent.sweep();
      const frames = await framesOf(agent, runId);
      soundLog(frames);
      assert.match(shownText(frames), /^Bought, 8 left/);
      assert.is(frames.filter(({ event }) => event === 'tool_call').length, 2);
      await agent.idle();
      const keys = await effectsIn(folder).all();
      assert.equal([keys.length, new Set(keys).size], [2, 1], 'called twice under one key');
      const contents = (await agent.transcript.all(session)).map(({ type }) => type);
      assert.equal(contents, ['human', 'ai', 'human', 'ai']);
    } finally {
      for (const store of [stores.documents, stores.logs, stores.snapshots]) await store.close();
    }
  }));

async function within(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-agent-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.run();
