// A store of your own, over a Map: what is written, and when. What a store must promise stands beside the type SnapshotStore;
// `twinline new store` begins one in files, with the checks that hold it to that.

import { checkKey, checkLimit, compileFlow, createEngine, takeTurn } from 'twinline';
import { loadFlow } from 'twinline/flow';

/** @type {Map<string, import('twinline').StoredSession>} */
const sessions = new Map();
const load = (key, now = Date.now()) => {
  checkKey(key);
  const session = sessions.get(key);
  return session && session.expiresAt > now ? session : undefined;
};
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** @type {import('twinline').SnapshotStore} */
const store = {
  name: 'map',
  durability: 'memory',
  load,
  // Compares and sets without a wait in between: nobody else can write meanwhile.
  async commit(key, expected, next) {
    const revision = load(key)?.revision ?? 0;
    if (revision !== expected) return { kind: 'conflict', revision };
    sessions.set(key, { ...next, revision: revision + 1 });
    console.log(`written: revision ${revision + 1}${next.ended ? ', ended' : ''}`);
    return { kind: 'committed', revision: revision + 1 };
  },
  async remove(key) {
    const wasThere = load(key) !== undefined;
    sessions.delete(key);
    return wasThere;
  },
  async list({ limit = 100, cursor } = {}) {
    checkLimit(limit);
    const living = [...sessions.keys()].filter((key) => load(key)?.ended === false).sort(byBytes);
    const keys = living.filter((key) => cursor === undefined || byBytes(key, cursor) > 0);
    const next = keys[limit - 1];
    return keys.length > limit && next !== undefined ? { keys: keys.slice(0, limit), next } : { keys };
  },
  async due(now, limit) {
    checkLimit(limit);
    const at = (key) => load(key, now)?.dueAt ?? Number.POSITIVE_INFINITY;
    const due = [...sessions.keys()].filter((key) => at(key) <= now);
    return due.sort((a, b) => at(a) - at(b)).slice(0, limit);
  },
  async sweep(now, limit) {
    const expired = [...sessions.keys()].filter((key) => !load(key, now)).slice(0, limit);
    for (const key of expired) sessions.delete(key);
    return expired.length;
  },
  async ping() {},
  async close() {},
};

const flow = compileFlow(await loadFlow('tea.flow.json', { services: new Set(['tea.price']) }));
const engine = createEngine({ store, conversations: [flow] });
/** @type {import('twinline').TurnRequest['decide']} */
const decide = (seen) =>
  seen.kind === 'none' ? { kind: 'begin', conversation: 'tea' } : { kind: 'input', input: '2' };
for (const turnKey of ['a', 'b', 'b']) {
  const { reply } = await takeTurn(engine, { key: 'ann', turnKey, decide });
  console.log(reply?.text.split('\n')[0]);
}
console.log(await store.list());

// Prints:
//   written: revision 1
//   Tea house
//   written: revision 2, ended
//   Come again.
//   Come again.
//   { keys: [] }
