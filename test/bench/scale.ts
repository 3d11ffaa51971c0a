// What size does to a turn: many stored sessions, many screens.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '../../lib/engine/engine.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { menuFlow } from './flows.ts';
import { atOnce, type Case, measure, type Row, us } from './measure.ts';

const AT_ONCE = 64;
const HOUR = 3_600;

export async function scaleRows(): Promise<Row[]> {
  return [...(await bySessions()), ...(await byScreens())];
}

const ACTIVE = 1_000;

async function bySessions(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const few = await stored(join(folder, 'few'), ACTIVE);
  const many = await stored(join(folder, 'many'), 200_000);
  try {
    const [one, recent, anyOf] = await measure(
      [
        { name: 'few', run: (count) => turns(few.engine, { flow: 'menu100', first: 0, sessions: ACTIVE, count }) },
        {
          name: 'recent',
          run: (count) => turns(many.engine, { flow: 'menu100', first: 199_000, sessions: ACTIVE, count }),
        },
        { name: 'any', run: (count) => turns(many.engine, { flow: 'menu100', first: 0, sessions: 200_000, count }) },
      ],
      { count: 6_000, rounds: 15 },
    );
    return [
      {
        what: 'turn (LMDB, durable) of 1,000 callers with 200,000 stored sessions against 1,000 stored',
        measured: `${us(recent!.cpuUs)} · ${us(one!.cpuUs)}`,
        ratio: recent!.cpuUs / one!.cpuUs,
        target: { atMost: 1.25 },
      },
      {
        what: 'the same with all 200,000 calling at once, in random order',
        measured: `${us(anyOf!.cpuUs)} · ${us(one!.cpuUs)}`,
        ratio: anyOf!.cpuUs / one!.cpuUs,
        target: undefined,
      },
    ];
  } finally {
    await few.store.close();
    await many.store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function stored(path: string, sessions: number): Promise<{ store: SnapshotStore; engine: Engine }> {
  const store = lmdbSnapshots({ path });
  const engine = createEngine({ store, conversations: [compileFlow(menuFlow(100))], ttlSeconds: HOUR });
  await dialAll(engine, sessions);
  return { store, engine };
}

async function byScreens(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const store = lmdbSnapshots({ path: join(folder, 'screens') });
  try {
    const [few, many] = await measure([screens(100, store), screens(1_000, store)], { count: 6_000 });
    const [fewBare, manyBare] = await measure([screens(100, memorySnapshots()), screens(1_000, memorySnapshots())]);
    return [
      {
        what: 'turn (LMDB, durable) of a flow with 1,000 screens against 100',
        measured: `${us(many!.cpuUs)} · ${us(few!.cpuUs)}`,
        ratio: many!.cpuUs / few!.cpuUs,
        target: { atMost: 1.25 },
      },
      {
        what: 'the same without a disk (memory store)',
        measured: `${us(manyBare!.cpuUs)} · ${us(fewBare!.cpuUs)}`,
        ratio: manyBare!.cpuUs / fewBare!.cpuUs,
        target: undefined,
      },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function screens(count: number, store: SnapshotStore): Case {
  const engine = createEngine({ store, conversations: [compileFlow(menuFlow(count))], ttlSeconds: HOUR });
  return {
    name: `${count} screens`,
    run: (n) => turns(engine, { flow: `menu${count}`, first: 0, sessions: 500, count: n }),
  };
}

async function dialAll(engine: Engine, sessions: number): Promise<void> {
  for (let from = 0; from < sessions; from += 2_000)
    await Promise.all(
      Array.from({ length: Math.min(2_000, sessions - from) }, (_, at) =>
        turn(engine, { flow: 'menu100', at: from + at }),
      ),
    );
}

async function turns(
  engine: Engine,
  { flow, first, sessions, count }: { flow: string; first: number; sessions: number; count: number },
): Promise<void> {
  await atOnce(count, (at) => turn(engine, { flow, at: first + ((at * 7_919) % sessions) }), AT_ONCE);
}

let number = 0;
async function turn(engine: Engine, { flow, at }: { flow: string; at: number }): Promise<void> {
  const turnKey = `t${number++}`;
  const input = String(1 + (number % 5));
  await takeTurn(engine, {
    key: `${flow}:${at}`,
    turnKey,
    decide: (seen) => (seen.kind === 'live' ? { kind: 'input', input } : { kind: 'begin', conversation: flow }),
  });
}
