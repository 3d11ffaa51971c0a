// A store of your own: sessions as files, written beside their place and renamed. It is for one process. What a store must promise
// stands beside the type; `snapshotStoreChecks` of twinline/testing tells whether yours does, and `twinline new store` begins with both.

import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFlow, createEngine, takeTurn, viewSession } from 'twinline';
import { loadFlow } from 'twinline/flow';

/**
 * @param {string} folder
 * @returns {import('twinline').SnapshotStore}
 */
function fileSnapshots(folder) {
  const place = (key) => join(folder, Buffer.from(key).toString('base64url'));
  const keyAt = (name) => Buffer.from(name, 'base64url').toString();
  /** @type {Promise<any>} */
  let last = Promise.resolve();
  // One write after the other: between reading and writing nobody else writes.
  const inOrder = (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  async function load(key, now = Date.now()) {
    const text = await readFile(place(key), 'utf8').catch(() => undefined);
    const session = text && JSON.parse(text);
    return session && session.expiresAt > now ? session : undefined;
  }
  async function all() {
    const keys = (await readdir(folder)).filter((name) => !name.includes('.')).map(keyAt);
    keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return Promise.all(keys.map(async (key) => ({ key, session: await load(key, 0) })));
  }

  return {
    name: 'files',
    durability: 'process-crash',
    load,
    commit: (key, expected, next) =>
      inOrder(async () => {
        const revision = (await load(key))?.revision ?? 0;
        if (revision !== expected) return { kind: 'conflict', revision };
        await writeFile(`${place(key)}.new`, JSON.stringify({ ...next, revision: revision + 1 }));
        await rename(`${place(key)}.new`, place(key));
        return { kind: 'committed', revision: revision + 1 };
      }),
    remove: (key) =>
      inOrder(async () => {
        const existed = (await load(key)) !== undefined;
        await rm(place(key), { force: true });
        return existed;
      }),
    async list({ limit = 100, cursor } = {}) {
      const after = (key) => cursor === undefined || Buffer.compare(Buffer.from(key), Buffer.from(cursor)) > 0;
      const living = (await all()).filter(({ session }) => session && !session.ended && session.expiresAt > Date.now());
      const keys = living.map(({ key }) => key).filter(after);
      return keys.length > limit ? { keys: keys.slice(0, limit), next: keys[limit - 1] } : { keys };
    },
    async due(now, limit) {
      const due = (await all()).filter(({ session }) => session?.dueAt != null && session.dueAt <= now);
      const living = due.filter(({ session }) => session.expiresAt > now);
      living.sort((a, b) => a.session.dueAt - b.session.dueAt);
      return living.slice(0, limit).map(({ key }) => key);
    },
    async sweep(now, limit) {
      const over = (await all()).filter(({ session }) => session && session.expiresAt <= now).slice(0, limit);
      for (const { key } of over) await rm(place(key), { force: true });
      return over.length;
    },
    ping: async () => void (await readdir(folder)),
    close: () => last,
  };
}

const folder = await mkdtemp(join(tmpdir(), 'sessions-'));
const flow = compileFlow(await loadFlow('tea.flow.json', { services: new Set(['tea.price']) }));
/** @type {import('twinline').TurnRequest['decide']} */
const decide = (seen) =>
  seen.kind === 'none' ? { kind: 'begin', conversation: 'tea' } : { kind: 'input', input: '2' };
// Each time as a process would that begins anew: all that is known is in the files.
for (const moment of ['in the morning', 'at noon']) {
  const engine = createEngine({ store: fileSnapshots(folder), conversations: [flow] });
  const { reply } = await takeTurn(engine, { key: 'ann', decide });
  console.log(`${moment}: ${reply?.text.split('\n')[0]}`);
  console.log((await viewSession(engine, 'ann')) === undefined ? 'over' : 'goes on');
}
await rm(folder, { recursive: true });

// Prints:
//   in the morning: Tea house
//   goes on
//   at noon: Come again.
//   over
