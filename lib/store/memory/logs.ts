// Frame logs in memory, for tests and `DATA_DIR=:memory:`. Lost when the process ends.

import { type Clock, systemClock } from '../../clock.ts';
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
  type LogHead,
} from '../log-rules.ts';
import type { LogStore } from '../log-store.ts';
import { byTime, sortedList, type Timed } from './sorted.ts';

interface HeldLog {
  head: LogHead;
  /** The frames, starting at number `head.first`. */
  texts: string[];
}

/**
 * An empty store, ready immediately. `clock` decides what has expired.
 * @example
 * const logs = memoryLogs();
 * const claim = { fence: 1, expiresAt: Date.now() + 60_000 };
 * await logs.open('run-1', claim);
 * await logs.append('run-1', ['first'], { ...claim, expected: 0 }); // → { kind: 'appended', last: 1 }
 * (await logs.read('run-1'))?.frames.length; // → 1
 */
export function memoryLogs({ clock = systemClock }: { clock?: Pick<Clock, 'now'> } = {}): LogStore {
  const logs = new Map<string, HeldLog>();
  const expiry = sortedList<Timed>(byTime);
  const following = followers({ clock, read: async (log, options) => readPage(log, options) });
  let isClosed = false;

  function check(): void {
    if (isClosed) throw closedError('memory');
  }

  function findLiving(log: string): HeldLog | undefined {
    check();
    const entry = logs.get(log);
    return entry && entry.head.expiresAt > clock.now() ? entry : undefined;
  }

  function set(log: string, head: LogHead, texts: string[]): void {
    const old = logs.get(log)?.head.expiresAt;
    if (old !== head.expiresAt) {
      if (old !== undefined) expiry.delete({ at: old, key: log });
      expiry.add({ at: head.expiresAt, key: log });
    }
    logs.set(log, { head, texts });
    following.wakeFollowers(log);
  }

  function drop(log: string): void {
    expiry.delete({ at: logs.get(log)!.head.expiresAt, key: log });
    logs.delete(log);
    following.wakeFollowers(log);
  }

  function readPage(log: string, options: { after: number; limit: number }) {
    const entry = findLiving(log);
    if (!entry) return undefined;
    const { head, texts } = entry;
    const start = Math.max(options.after + 1 - head.first, 0);
    return cutPage(head, texts.slice(start, start + options.limit), options);
  }

  return {
    name: 'memory',
    durability: 'memory',
    async open(log, claim) {
      checkLog(log);
      checkClaim(claim);
      const { fence, expiresAt } = claim;
      const entry = findLiving(log);
      if (entry && fence < entry.head.fence) return { kind: 'fenced', fence: entry.head.fence };
      const head = entry?.head ?? { first: 1, last: 0, bytes: 0, ended: false };
      set(log, { ...head, fence, expiresAt }, entry?.texts ?? []);
      return { kind: 'opened', last: head.last, ended: head.ended };
    },
    async append(log, frames, options) {
      checkLog(log);
      const append = checkAppend(frames, options);
      const entry = findLiving(log);
      const verdict = judgeAppend(entry?.head, append, (n) => entry?.texts[n - entry.head.first]);
      if (verdict !== 'write') return verdict;
      const { head, texts } = entry!;
      const last = head.last + frames.length;
      for (const text of frames) texts.push(text);
      const { fence, expiresAt, end = false } = options;
      set(log, { ...head, last, bytes: head.bytes + append.bytes, ended: end, fence, expiresAt }, texts);
      return { kind: 'appended', last };
    },
    async state(log) {
      checkLog(log);
      const entry = findLiving(log);
      if (!entry) return undefined;
      const { bytes: _, ...state } = entry.head;
      return state;
    },
    async read(log, options = {}) {
      checkLog(log);
      return readPage(log, checkRead(options));
    },
    follow: following.follow,
    async trim(log, through) {
      checkLog(log);
      checkWhole('number to trim through', through, { min: 0 });
      const entry = findLiving(log);
      if (!entry) return 0;
      const { head, texts } = entry;
      const trimmed = texts.splice(0, Math.max(through + 1 - head.first, 0));
      const bytes = trimmed.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      set(log, { ...head, first: head.first + trimmed.length, bytes: head.bytes - bytes }, texts);
      return trimmed.length;
    },
    async expireAt(log, at) {
      checkLog(log);
      checkMoment(at);
      const entry = findLiving(log);
      if (entry) set(log, { ...entry.head, expiresAt: at }, entry.texts);
      return entry !== undefined;
    },
    async remove(log) {
      checkLog(log);
      const existed = findLiving(log) !== undefined;
      if (logs.has(log)) drop(log);
      return existed;
    },
    async sweep(now, limit) {
      checkLimit(limit);
      check();
      const expired: string[] = [];
      for (const { at, key } of expiry.ascend()) {
        if (at > now || expired.length === limit) break;
        expired.push(key);
      }
      for (const log of expired) drop(log);
      return expired.length;
    },
    async ping() {
      check();
    },
    async close() {
      isClosed = true;
      logs.clear();
      following.close();
    },
  };
}
