// The promise of a turn as a careful engineer writes it for one menu: Koa and XState; the last text and its reply are stored with the
// snapshot and replaced by compare-and-set. It has no limits, dialects, flows, timers, log lines or metrics.

import Router from '@koa/router';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { open } from 'lmdb';
import { createActor, createMachine } from 'xstate';

const SCREENS = {
  welcome: 'CON Welcome to Twinline\n1. Know more\n2. Account\n*. Exit',
  more: 'CON Know more\n1. What Twinline does\n2. How your PIN is kept\n3. Get help\n0. Back\n*. Exit',
  end: 'END Thank you for using Twinline. Goodbye!',
};
const TTL_SECONDS = 3_600;

const machine = createMachine({
  id: 'menu',
  initial: 'welcome',
  states: {
    welcome: { on: { 1: 'more', '*': 'end' } },
    more: { on: { 0: 'welcome', '*': 'end' } },
    end: { type: 'final' },
  },
});

/** The record after this request, or undefined when the text does not follow what is stored. */
function takeTurn(record, { text, phoneNumber }) {
  if (text === '') return step(createActor(machine).start(), text, phoneNumber);
  if (!record || record.phoneNumber !== phoneNumber) return undefined;
  const before = record.text === '' ? '' : `${record.text}*`;
  if (!text.startsWith(before)) return undefined;
  const actor = createActor(machine, { snapshot: record.snapshot }).start();
  const input = text.slice(before.length);
  actor.send({ type: input === '' ? '*' : input });
  return step(actor, text, phoneNumber);
}

function step(actor, text, phoneNumber) {
  const snapshot = actor.getPersistedSnapshot();
  actor.stop();
  return { text, phoneNumber, snapshot, reply: SCREENS[snapshot.value] };
}

function lmdbStore(path) {
  const sessions = open({ path, encoding: 'string' });
  return {
    load: async (key) => {
      const entry = sessions.getEntry(key);
      return entry ? { record: JSON.parse(entry.value), version: entry.version } : { version: null };
    },
    replace: async (key, version, record) => {
      const text = JSON.stringify(record);
      const isStored =
        version === null
          ? await sessions.ifNoExists(key, () => void sessions.put(key, text, 1))
          : await sessions.put(key, text, version + 1, version);
      await sessions.flushed;
      return isStored;
    },
  };
}

const REPLACE = `
  local old = redis.call('GET', KEYS[1])
  if (old or '') ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1`;

async function redisStore(url) {
  const redis = new Redis(url);
  const hash = await redis.script('LOAD', REPLACE);
  return {
    load: async (key) => {
      const text = await redis.get(key);
      return text === null ? { version: '' } : { record: JSON.parse(text), version: text };
    },
    replace: async (key, version, record) =>
      (await redis.evalsha(hash, 1, key, version, JSON.stringify(record), TTL_SECONDS)) === 1,
  };
}

const [kind, place] = process.argv.slice(2);
const store = kind === 'lmdb' ? { ...lmdbStore(place) } : await redisStore(place);
const router = new Router();
router.post('/api/ussd', async (ctx) => {
  const request = ctx.request.body;
  for (let tries = 0; tries < 8; tries++) {
    const { record, version } = await store.load(request.sessionId);
    const isRepeat = record?.text === request.text && record.phoneNumber === request.phoneNumber;
    const next = isRepeat ? record : takeTurn(record, request);
    ctx.body = next?.reply ?? 'END This session has ended. Please dial again.';
    if (isRepeat || !next || (await store.replace(request.sessionId, version, next))) return;
  }
  ctx.status = 503;
});
const server = new Koa()
  .use(bodyParser())
  .use(router.routes())
  .listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
