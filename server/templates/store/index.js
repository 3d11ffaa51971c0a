// Sessions as files of one folder: each in a file that is named by a hash of its key, written beside its place and renamed. For one
// process; lists read all files. What a store must promise stands beside the type SnapshotStore.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkKey, checkLimit, closedError, systemClock, TwinlineError } from 'twinline';

/** @typedef {{ key: string, session: import('twinline').StoredSession }} Entry */

/**
 * Writes of each folder, one after the other: between the reading and the writing of a commit nobody else writes.
 * @type {Map<string, Promise<unknown>>}
 */
const writes = new Map();

const byBytes = (/** @type {string} */ a, /** @type {string} */ b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * Opens the store. The folder is made with the first write.
 * @param {{ folder: string, clock?: Pick<import('twinline').Clock, 'now'> }} options
 * @returns {import('twinline').SnapshotStore}
 */
export function fileSnapshots({ folder, clock = systemClock }) {
  const root = resolve(folder);
  let closed = false;
  const place = (/** @type {string} */ key) => join(root, `${createHash('sha256').update(key).digest('hex')}.json`);
  const isLiving = (/** @type {Entry | undefined} */ entry) =>
    entry !== undefined && entry.session.expiresAt > clock.now();

  /**
   * Does the work unless the store is closed; what the file system refuses is ERR_STORE.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async function attempt(work) {
    if (closed) throw closedError('file');
    try {
      return await work();
    } catch (error) {
      if (error instanceof TwinlineError) throw error;
      throw new TwinlineError('ERR_STORE', `The sessions in ${root} cannot be used: ${error}.`, { cause: error });
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  function inOrder(work) {
    const done = (writes.get(root) ?? Promise.resolve()).then(work);
    writes.set(
      root,
      done.catch(() => {}),
    );
    return done;
  }

  /** @returns {Promise<Entry | undefined>} */
  async function read(/** @type {string} */ file) {
    try {
      return JSON.parse(await readFile(file, 'utf8'));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async function readAll() {
    await mkdir(root, { recursive: true });
    const files = (await readdir(root)).filter((name) => name.endsWith('.json'));
    const entries = await Promise.all(files.map((name) => read(join(root, name))));
    return entries.filter((entry) => entry !== undefined);
  }

  return {
    name: 'files',
    // The operating system has the data when a commit resolves; a power cut may lose it.
    durability: 'process-crash',

    load: (key) =>
      attempt(async () => {
        checkKey(key);
        const entry = await read(place(key));
        return isLiving(entry) ? entry?.session : undefined;
      }),

    commit: (key, expected, next) =>
      attempt(async () => {
        checkKey(key);
        return inOrder(async () => {
          const old = await read(place(key));
          const revision = isLiving(old) ? (old?.session.revision ?? 0) : 0;
          if (revision !== expected) return { kind: 'conflict', revision };
          await mkdir(root, { recursive: true });
          await writeFile(`${place(key)}.new`, JSON.stringify({ key, session: { ...next, revision: revision + 1 } }));
          await rename(`${place(key)}.new`, place(key));
          return { kind: 'committed', revision: revision + 1 };
        });
      }),

    remove: (key) =>
      attempt(async () => {
        checkKey(key);
        return inOrder(async () => {
          const wasLiving = isLiving(await read(place(key)));
          await rm(place(key), { force: true });
          return wasLiving;
        });
      }),

    list: ({ limit = 100, cursor } = {}) =>
      attempt(async () => {
        checkLimit(limit);
        if (cursor !== undefined) checkKey(cursor);
        const living = (await readAll()).filter((entry) => isLiving(entry) && !entry.session.ended);
        const keys = living.map(({ key }) => key).filter((key) => cursor === undefined || byBytes(key, cursor) > 0);
        keys.sort(byBytes);
        const page = keys.slice(0, limit);
        const last = page.at(-1);
        return keys.length > limit && last !== undefined ? { keys: page, next: last } : { keys: page };
      }),

    due: (now, limit) =>
      attempt(async () => {
        checkLimit(limit);
        const timers = (await readAll()).flatMap(({ key, session: { dueAt, expiresAt } }) =>
          dueAt !== null && dueAt <= now && expiresAt > now ? [{ key, dueAt }] : [],
        );
        timers.sort((a, b) => a.dueAt - b.dueAt || byBytes(a.key, b.key));
        return timers.slice(0, limit).map(({ key }) => key);
      }),

    sweep: (now, limit) =>
      attempt(async () => {
        checkLimit(limit);
        return inOrder(async () => {
          const expired = (await readAll()).filter(({ session }) => session.expiresAt <= now).slice(0, limit);
          for (const { key } of expired) await rm(place(key), { force: true });
          return expired.length;
        });
      }),

    ping: () => attempt(async () => void (await readAll())),

    close: async () => {
      closed = true;
      await writes.get(root);
    },
  };
}
