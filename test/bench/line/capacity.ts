// `npm run bench -- capacity`: how far one machine and one Redis go, computed from what is measured here.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quartiles, type Row, us } from '../measure.ts';
import type { Target } from '../target.ts';
import { lineCosts, WARM_UP_TURNS } from './rounds.ts';
import { onSite } from './site.ts';
import { storeSessions } from './stored.ts';

const CALLERS = 50_000;
const STORED = 200_000;
const MILLION = 1_000_000;
/** What the model takes for granted: how full a core may be, what a session is, and how often a subscriber dials. */
const MODEL = { load: 0.6, turnsPerSession: 8, sessionsInBusyHour: 0.2 } as const;

export function capacityRows(): Promise<Row[]> {
  return onSite(async (site) => {
    const [lmdb, redis] = [
      await site.ours('lmdb', { callers: CALLERS }),
      await site.redis('redis', { callers: CALLERS }),
    ];
    const [emptyServer, emptyRedis] = [readMemory(lmdb.target), await redis.read('memory', 'used_memory')];
    const commandsBefore = await redis.read('stats', 'total_commands_processed');
    const rounds = { rounds: 5, turns: 10_000 };
    const [onDisk, shared] = await lineCosts([lmdb, redis], rounds);
    const turns = CALLERS + WARM_UP_TURNS + rounds.rounds * rounds.turns;
    const commands = ((await redis.read('stats', 'total_commands_processed')) - commandsBefore) / turns;
    const sessions = CALLERS + turns / MODEL.turnsPerSession;
    const redisBytes = ((await redis.read('memory', 'used_memory')) - emptyRedis) / sessions;
    const serverBytes = readMemory(lmdb.target) - emptyServer;
    await storeSessions(join(site.folder, 'stored'), STORED);
    const diskBytes = statSync(join(site.folder, 'stored/sessions/data.mdb')).size / STORED;

    const [perTurn, perTurnShared] = [quartiles(onDisk!.rounds).middle, quartiles(shared!.rounds).middle];
    const rate = (spentUs: number) => 1e6 / spentUs;
    const subscribers = (spentUs: number) =>
      (rate(spentUs) * MODEL.load * 3_600) / (MODEL.turnsPerSession * MODEL.sessionsInBusyHour);
    return [
      fact('turns a second of one core, LMDB, durable', whole(rate(perTurn))),
      fact('turns a second of one core, Redis', whole(rate(perTurnShared))),
      fact('CPU of Redis for a turn', us(shared!.alsoUs)),
      fact('commands of Redis for a turn, with those of the count of its phone', commands.toFixed(2)),
      fact('turns a second of one Redis, which has one core', whole(rate(shared!.alsoUs))),
      fact('instances that keep one Redis busy', (rate(shared!.alsoUs) / rate(perTurnShared)).toFixed(1)),
      fact(
        `memory of a server that has served ${whole(CALLERS)} callers, beyond its start`,
        `${whole(serverBytes / 1e6)} MB`,
      ),
      fact('disk for a million sessions, LMDB', `${((diskBytes * MILLION) / 1e9).toFixed(2)} GB`),
      fact('memory of Redis for a million sessions', `${((redisBytes * MILLION) / 1e9).toFixed(2)} GB`),
      fact(
        `subscribers of one core on LMDB: each begins ${MODEL.sessionsInBusyHour} sessions of ${MODEL.turnsPerSession} turns in the busy hour, the core is ${MODEL.load * 100} % busy`,
        `${(subscribers(perTurn) / 1e6).toFixed(0)} million`,
      ),
      fact('the same of one core on Redis', `${(subscribers(perTurnShared) / 1e6).toFixed(0)} million`),
    ];
  });
}

function fact(what: string, measured: string): Row {
  return { what, measured, ratio: undefined, target: undefined };
}

const whole = (value: number) => Math.round(value).toLocaleString('en');

/** Bytes that a process holds, without files that are mapped. */
function readMemory({ process: { pid } }: Target): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024;
}
