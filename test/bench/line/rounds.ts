// Rounds of the same load on servers in turns, so that a busy machine slows all of them alike.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { cpuUs, type Target } from '../target.ts';
import type { Order } from './phones.ts';
import { LOAD_CORE, pin } from './servers.ts';

/** One server with its load. */
export interface Line {
  readonly target: Target;
  readonly callers: number;
  readonly texts: readonly string[];
  /** CPU microseconds so far of another process that works for it. */
  readonly alsoUs?: () => Promise<number>;
}

export interface LineCost {
  /** Of each round, CPU microseconds of the server's process per turn. */
  readonly rounds: readonly number[];
  /** The same of the other process; median. */
  readonly alsoUs: number;
}

const CONNECTIONS = 32;
// V8 takes some 50,000 turns to compile all that a turn passes through.
export const WARM_UP_TURNS = 40_000;

export interface RoundsOptions {
  readonly rounds?: number;
  /** Of one line in one round. */
  readonly turns?: number;
}

export async function lineCosts(
  lines: readonly Line[],
  { rounds = 9, turns = 8_000 }: RoundsOptions = {},
): Promise<LineCost[]> {
  const phones = fork(join(import.meta.dirname, 'phones.js'), { execArgv: [] });
  pin(phones.pid!, LOAD_CORE);
  try {
    for (const line of lines) {
      await drive(phones, line, { turns: 0, first: true });
      await drive(phones, line, { turns: WARM_UP_TURNS });
    }
    const costs = lines.map(() => ({ rounds: [] as number[], also: [] as number[] }));
    for (let round = 0; round < rounds; round++)
      for (const [at, line] of lines.entries()) {
        const [before, alsoBefore] = [cpuUs(line.target), (await line.alsoUs?.()) ?? 0];
        await drive(phones, line, { turns });
        costs[at]!.rounds.push((cpuUs(line.target) - before) / turns);
        costs[at]!.also.push((((await line.alsoUs?.()) ?? 0) - alsoBefore) / turns);
      }
    return costs.map(({ rounds, also }) => ({ rounds, alsoUs: median(also) }));
  } finally {
    phones.kill();
  }
}

async function drive(
  phones: ChildProcess,
  { target, callers, texts }: Line,
  how: Pick<Order, 'turns' | 'first'>,
): Promise<void> {
  phones.send({ port: target.port, callers, texts, connections: CONNECTIONS, ...how } satisfies Order);
  const [{ failed }] = (await once(phones, 'message')) as [{ failed?: string }];
  if (failed) throw new Error(failed);
}
