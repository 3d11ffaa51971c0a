// What every LogStore that outlives a process promises about several of them: nothing lost, nothing twice, one owner.

import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as assert from 'uvu/assert';
import type { LogStore } from '../../lib/store/log-store.ts';
import { followAll, numbered, readAll } from '../../lib/testing/logs/bench.ts';
import { builtFile } from '../support/build.ts';
import { numbersFrom } from '../support/random.ts';
import { isShort } from '../support/size.ts';
import { until } from '../support/until.ts';

const CHILD = 'test/contract/log-child.ts';
const ROUNDS = isShort ? 2 : 3;

/** A store of this process, and the place at which the children of log-child.ts find the same data. */
export interface LogPlace {
  readonly store: LogStore;
  readonly place: string;
}

const claim = (fence: number) => ({ fence, expiresAt: Date.now() + 600_000 });

/** Each round a child takes the log over and is killed after some acknowledgements; here somebody follows all the time. */
export async function writersAreKilled({ store, place }: LogPlace): Promise<void> {
  await store.open('l', claim(1));
  const followed = followAll(store, 'l');
  const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
  let acknowledged = 0;
  for (let fence = 2; fence < 2 + ROUNDS; fence++) {
    const child = await start(place, ['l', 'write', String(fence)]);
    child.on('message', (told: Serializable) => {
      acknowledged = Number(told);
    });
    const enough = acknowledged + 1 + Math.floor(random() * 200);
    await until(`frame ${enough} to be acknowledged`, () => acknowledged >= enough);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(((await store.state('l'))?.last ?? 0) >= acknowledged);
  }
  const opened = await store.open('l', claim(99));
  const last = opened.kind === 'opened' ? opened.last : 0;
  assert.ok(acknowledged > ROUNDS && last >= acknowledged, `${last} stored, ${acknowledged} acknowledged`);
  await store.append('l', [`frame ${last + 1}`], { ...claim(99), expected: last, end: true });
  const frames = numbered(Array.from({ length: last + 1 }, (_, at) => `frame ${at + 1}`));
  assert.equal(await readAll(store, 'l'), frames);
  assert.equal(await followed, frames);
}

/** A child writes; this process takes the log over, and the child learns that it is no longer the owner. */
export async function ownersAreReplaced({ store, place }: LogPlace): Promise<void> {
  const child = await start(place, ['m', 'write', '1']);
  const told: unknown[] = [];
  child.on('message', (what: Serializable) => told.push(what));
  await once(child, 'message');
  const opened = await store.open('m', claim(2));
  await once(child, 'exit');
  assert.is(told.at(-1), 'fenced');
  const last = opened.kind === 'opened' ? opened.last : -1;
  assert.ok(last >= Number(told.at(-2)));
  assert.is((await store.state('m'))?.last, last);
}

/** A child that may write no file beyond 1 MB; what it told. */
export async function fillDisk(place: string): Promise<unknown> {
  const limited = [
    '-c',
    'ulimit -f 2000; exec "$@"',
    'sh',
    process.execPath,
    await builtFile(CHILD),
    place,
    'l',
    'fill',
  ];
  const child = spawn('sh', limited, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const exited = once(child, 'exit');
  const [told] = await Promise.race([once(child, 'message'), exited]);
  await exited;
  return told;
}

async function start(place: string, args: readonly string[]): Promise<ChildProcess> {
  return fork(await builtFile(CHILD), [place, ...args], { execArgv: [] });
}
