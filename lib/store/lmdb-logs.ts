// Frame logs in LMDB: durable to power loss, written, read and followed by every process of one host.
//
// A folder of their own: one LMDB environment has one writer at a time, and sessions shall not wait for frames. What it
// does not do: see lmdb.ts. Other processes' frames are noticed within POLL_MS, this process's at once.

import { setImmediate as nextTick } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { checkLimit, closedError } from './input.ts';
import type { LmdbOptions } from './lmdb.ts';
import {
  encodeHead,
  frameKey,
  type HeadEntry,
  newLogId,
  openLogTables,
  readHead,
  type StoredHead,
} from './lmdb-log-tables.ts';
import { reasonOf, refusal } from './lmdb-tables.ts';
import { followers } from './log-follow.ts';
import {
  checkAppend,
  checkClaim,
  checkLog,
  checkMoment,
  checkRead,
  checkWhole,
  judgeAppend,
  pageOf,
} from './log-rules.ts';
import type { AppendResult, LogPage, LogStore, OpenResult, ReadOptions } from './log-store.ts';
import { splitTimeKey, timeKey } from './session-text.ts';

/** Milliseconds between two looks for frames of other processes; only while somebody follows. */
const POLL_MS = 50;
/** Frames that are deleted in one transaction. */
const DELETE_BATCH = 500;

/** What a change does: a new head and rows, or nothing, and its answer. */
type Change<T> = { readonly answer: T } & (
  | { readonly head?: undefined }
  | { readonly head: Changes; write?(id: string): void }
);
type Changes = Omit<StoredHead, 'id' | 'filed'>;

/**
 * Opens the store, synchronously; throws ERR_STORE when the folder cannot be used. Every write is one conditional
 * transaction that LMDB's writer decides; writes of one moment share one disk flush.
 */
export function lmdbLogs({ path, clock = systemClock }: LmdbOptions): LogStore {
  const tables = openLogTables(path);
  const { root, logs, frames, expiry, trash } = tables;
  let closed = false;
  let seenTxn = -1;

  const following = followers({ clock, read: async (log, options) => readPage(log, options), look, lookMs: POLL_MS });

  function check(log?: string): void {
    if (closed) throw closedError('LMDB');
    if (log !== undefined) checkLog(log);
  }

  // lmdb keeps one view of the data for a whole millisecond; another process may have committed, and said so, since.
  function latest(log: string): HeadEntry | undefined {
    logs.resetReadTxn();
    return readHead(tables, log);
  }

  function living(entry: HeadEntry | undefined): StoredHead | undefined {
    return entry && entry.head.expiresAt > clock.now() ? entry.head : undefined;
  }

  function readPage(log: string, options: Required<ReadOptions>): LogPage | undefined {
    check();
    const head = living(latest(log));
    if (!head) return undefined;
    const range = { start: frameKey(head.id, options.after + 1), end: frameKey(head.id, head.last + 1) };
    return pageOf(
      head,
      frames.getRange({ ...range, limit: options.limit }).map(({ value }) => value),
      options,
    );
  }

  function look() {
    if (closed) return undefined;
    const { lastTxnId } = root.getStats() as { lastTxnId: number };
    if (lastTxnId === seenTxn) return undefined;
    seenTxn = lastTxnId;
    logs.resetReadTxn();
    return (log: string) => readHead(tables, log)?.head;
  }

  // The first look may be a moment old. What it decides is written only if the head is still the same, and an answer
  // without a write is given only after the latest look.
  async function change<T>(log: string, decide: (head: StoredHead | undefined) => Change<T>): Promise<T> {
    for (let entry = readHead(tables, log), isLatest = false; ; entry = latest(log), isLatest = true) {
      check();
      const { answer, ...todo } = decide(living(entry));
      if (todo.head) {
        const { head, write } = todo;
        if (await put(log, entry, { head, write: write ?? (() => {}) })) {
          following.changed(log);
          return answer;
        }
      } else if (isLatest) return answer;
    }
  }

  function put(log: string, entry: HeadEntry | undefined, change: { head: Changes; write(id: string): void }) {
    const old = entry?.head;
    const isSame = living(entry) !== undefined;
    const id = isSame ? old!.id : newLogId();
    const { expiresAt } = change.head;
    const filed = old && old.filed <= expiresAt ? old.filed : expiresAt;
    const value = encodeHead({ ...change.head, id, filed });
    const work = () => {
      if (old && !isSame) void trash.put(old.id, '');
      if (filed !== old?.filed) refile(log, old?.filed, filed);
      change.write(id);
      void logs.put(log, value, (entry?.version ?? newVersion()) + 1);
    };
    return entry ? logs.ifVersion(log, entry.version, work) : logs.ifNoExists(log, work);
  }

  function refile(log: string, from: number | undefined, to: number | undefined): void {
    if (from !== undefined) void expiry.remove(timeKey(from, log));
    if (to !== undefined) void expiry.put(timeKey(to, log), '');
  }

  // Frames of a log that is gone, or up to a number.
  async function deleteFrames(id: string): Promise<void> {
    for (;;) {
      const keys = [...frames.getKeys({ start: id, end: frameKey(id, Number.MAX_SAFE_INTEGER), limit: DELETE_BATCH })];
      if (keys.length === 0) break;
      await Promise.all(keys.map((key) => frames.remove(key)));
      logs.resetReadTxn();
      check();
    }
    await trash.remove(id);
  }

  async function erase(log: string, { head, version }: HeadEntry): Promise<boolean> {
    const erased = await logs.ifVersion(log, version, () => {
      void logs.remove(log);
      refile(log, head.filed, undefined);
      void trash.put(head.id, '');
    });
    if (erased) {
      following.changed(log);
      await deleteFrames(head.id);
    }
    return erased;
  }

  async function sweepOne(place: string, now: number): Promise<boolean> {
    const { at, key: log } = splitTimeKey(place);
    const entry = latest(log);
    if (!entry || entry.head.filed !== at) {
      await expiry.remove(place);
      return false;
    }
    if (entry.head.expiresAt <= now) return erase(log, entry);
    const { head, version } = entry;
    await logs.ifVersion(log, version, () => {
      refile(log, at, head.expiresAt);
      void logs.put(log, encodeHead({ ...head, filed: head.expiresAt }), version + 1);
    });
    return false;
  }

  async function guarded<T>(action: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof TwinlineError ? error : refusal(action, path, await reasonOf(error));
    }
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
        return change<AppendResult>(log, (old) => {
          const verdict = judgeAppend(old, append, (n) => frames.get(frameKey(old!.id, n)));
          if (verdict !== 'write') return { answer: verdict };
          const last = old!.last + texts.length;
          return {
            answer: { kind: 'appended', last },
            head: { ...old!, last, bytes: old!.bytes + append.bytes, ended: end, fence, expiresAt },
            write(id) {
              for (const [at, text] of texts.entries()) void frames.put(frameKey(id, old!.last + 1 + at), text);
            },
          };
        });
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
          const gone = await change(log, (old) => {
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
          trimmed += gone;
          if (gone < DELETE_BATCH) return trimmed;
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
          const found = living(entry) !== undefined;
          if (await erase(log, entry)) return found;
        }
      }),

    sweep: (now, limit) =>
      guarded('sweep', async () => {
        checkLimit(limit);
        for (let swept = 0; ; await nextTick()) {
          check();
          logs.resetReadTxn();
          for (const id of [...trash.getKeys({ start: '', limit: LIMITS.sweepBatch })]) await deleteFrames(id);
          const batch = Math.min(limit - swept, LIMITS.sweepBatch);
          const due = [...expiry.getKeys({ start: '', end: timeKey(now + 1, ''), limit: batch })];
          const outcomes = await Promise.all(due.map((place) => sweepOne(place, now)));
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
      if (closed) return;
      closed = true;
      following.close();
      await root.close();
    },
  };
}

// By chance: a log that is removed and begins again never meets the versions of its former life.
function newVersion(): number {
  return Math.floor(Math.random() * 2 ** 48);
}
