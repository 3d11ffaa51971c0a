// Frame logs in LMDB: durable to power loss, written, read and followed by every process of one host.
//
// A folder of their own: one LMDB environment has one writer at a time, and sessions shall not wait for frames. What it
// does not do: see snapshots.ts. Other processes' frames are noticed within POLL_MS, this process's at once.

import { setImmediate as nextTick } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { checkLimit, closedError } from '../../given.ts';
import { followers } from '../log/follow.ts';
import {
  checkAppend,
  checkClaim,
  checkLog,
  checkMoment,
  checkRead,
  checkWhole,
  cutPage,
  judgeAppend,
} from '../log-rules.ts';
import type { AppendResult, LogPage, LogStore, OpenResult, ReadOptions } from '../log-store.ts';
import { writeHold } from './hold.ts';
import {
  DELETE_BATCH,
  frameKey,
  type LogChange,
  logWriter,
  openLogTables,
  readHead,
  type StoredHead,
} from './log-writer.ts';
import type { LmdbOptions } from './options.ts';
import { timeKey, watchFailures } from './tables.ts';

/** Milliseconds between two looks for frames of other processes; only while a log is followed. */
const POLL_MS = 50;

/** Opens the store, synchronously; throws ERR_STORE when the folder cannot be used. */
export function openLogs({ path, clock = systemClock }: LmdbOptions): LogStore {
  const tables = openLogTables(path);
  const { gate, root, logs, frames, expiry, trash } = tables;
  const { guarded, requireWhole } = watchFailures(path);
  let isClosed = false;
  let seenTxn = -1;

  const following = followers({ clock, read: async (log, options) => readPage(log, options), look, lookMs: POLL_MS });
  const hold = writeHold(path);
  const writer = logWriter(tables, { clock, check, changed: following.wakeFollowers });
  const { latest, requireLiving: living, change } = writer;

  function check(log?: string): void {
    if (isClosed) throw closedError('LMDB');
    requireWhole();
    if (log !== undefined) checkLog(log);
  }

  function readPage(log: string, options: Required<ReadOptions>): LogPage | undefined {
    check();
    const head = living(latest(log));
    if (!head) return undefined;
    const range = { start: frameKey(head.id, options.after + 1), end: frameKey(head.id, head.last + 1) };
    return cutPage(
      head,
      frames.getRange({ ...range, limit: options.limit }).map(({ value }) => value),
      options,
    );
  }

  function look() {
    if (isClosed) return undefined;
    const { lastTxnId } = root.getStats() as { lastTxnId: number };
    if (lastTxnId === seenTxn) return undefined;
    seenTxn = lastTxnId;
    logs.resetReadTxn();
    return (log: string) => readHead(tables, log)?.head;
  }

  return {
    name: 'lmdb',
    durability: 'power-loss',

    open: (log, claim) =>
      guarded('open of a log', async () => {
        check(log);
        checkClaim(claim);
        const { fence, expiresAt } = claim;
        return change<OpenResult>(log, (old) => {
          if (old && fence < old.fence) return { answer: { kind: 'fenced', fence: old.fence } };
          const head = old ?? { first: 1, last: 0, bytes: 0, ended: false };
          const answer = { kind: 'opened', last: head.last, ended: head.ended } as const;
          return { answer, head: { ...head, fence, expiresAt } };
        });
      }),

    append: (log, texts, options) =>
      guarded('append', async () => {
        check(log);
        const append = checkAppend(texts, options);
        const { fence, expiresAt, end = false } = options;
        const decide = (old: StoredHead | undefined): LogChange<AppendResult> => {
          const verdict = judgeAppend(old, append, (n) => frames.get(frameKey(old!.id, n)));
          if (verdict !== 'write') return { answer: verdict };
          const after = old!.last;
          const last = after + texts.length;
          const page = { frames: texts.map((text, at) => ({ n: after + 1 + at, text })), last, ended: end, expiresAt };
          return {
            answer: { kind: 'appended', last },
            // A read gives no more at a time.
            ...(append.bytes <= COMMON_LIMITS.logReadBytes && { written: { after, page } }),
            head: { ...old!, last, bytes: old!.bytes + append.bytes, ended: end, fence, expiresAt },
            write(id) {
              for (const [at, text] of texts.entries()) void frames.put(frameKey(id, after + 1 + at), text);
            },
          };
        };
        return hold.run(() => change(log, decide), isAppended);
      }),

    state: (log) =>
      guarded('look at a log', async () => {
        check(log);
        const head = living(latest(log));
        if (!head) return undefined;
        const { first, last, ended, fence, expiresAt } = head;
        return { first, last, ended, fence, expiresAt };
      }),

    read: (log, options = {}) =>
      guarded('read of a log', async () => {
        check(log);
        return readPage(log, checkRead(options));
      }),

    follow: following.follow,

    trim: (log, through) =>
      guarded('trim', async () => {
        check(log);
        checkWhole('number to trim through', through, { min: 0 });
        for (let trimmed = 0; ; ) {
          const count = await change(log, (old) => {
            const upTo = old ? Math.min(through, old.last, old.first + DELETE_BATCH - 1) : 0;
            if (!old || upTo < old.first) return { answer: 0 };
            const range = { start: frameKey(old.id, old.first), end: frameKey(old.id, upTo + 1) };
            const rows = [...frames.getRange(range)];
            const bytes = rows.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
            return {
              answer: rows.length,
              head: { ...old, first: upTo + 1, bytes: old.bytes - bytes },
              write() {
                for (const { key } of rows) void frames.remove(key);
              },
            };
          });
          trimmed += count;
          if (count < DELETE_BATCH) return trimmed;
        }
      }),

    expireAt: (log, at) =>
      guarded('setting of an expiry', async () => {
        check(log);
        checkMoment(at);
        return change<boolean>(log, (old) =>
          old ? { answer: true, head: { ...old, expiresAt: at } } : { answer: false },
        );
      }),

    remove: (log) =>
      guarded('remove', async () => {
        for (;;) {
          check(log);
          const entry = latest(log);
          if (entry === undefined) return false;
          const isLiving = living(entry) !== undefined;
          if (await writer.erase(log, entry)) return isLiving;
        }
      }),

    sweep: (now, limit) =>
      guarded('sweep', async () => {
        checkLimit(limit);
        for (let swept = 0; ; await nextTick()) {
          check();
          logs.resetReadTxn();
          for (const id of [...trash.getKeys({ start: '', limit: COMMON_LIMITS.sweepBatch })])
            await writer.deleteFrames(id);
          const batch = Math.min(limit - swept, COMMON_LIMITS.sweepBatch);
          const due = [...expiry.getKeys({ start: '', end: timeKey(now + 1, ''), limit: batch })];
          const outcomes = await Promise.all(due.map((place) => writer.sweepOne(place, now)));
          swept += outcomes.filter(Boolean).length;
          if (swept === limit || due.length < batch) return swept;
        }
      }),

    ping: () =>
      guarded('ping', async () => {
        check();
        latest('\0');
      }),

    async close() {
      if (isClosed) return;
      isClosed = true;
      following.close();
      await root.close();
      gate.close();
    },
  };
}

const isAppended = ({ kind }: AppendResult) => kind === 'appended';
