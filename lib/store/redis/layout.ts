// The layout of data in Redis: names of sessions, channels and frame logs, the encoding of a session, and the atomic scripts
// on sessions. Keys of one script share a hash tag and thus a node: all names of one topic, or the sessions and indexes of
// one of 64 buckets.

import { TwinlineError } from '../../errors.ts';
import { LAST_MOMENT } from '../../given.ts';
import type { SessionCommit, StoredSession } from '../store.ts';
import type { RedisConnection, RedisScript } from './connection.ts';

// "revision,expiresAt,dueAt,ended,turn key length,reply length,": scripts parse the first four.
const NUMBERS = 6;
/** Enough bytes for the numbers that scripts parse. */
const HEAD_BYTES = 56;

/** Lengths are in UTF-16 units, as in {@link decodeSession}. */
export function encodeSession(session: SessionCommit, revision: number): string {
  const { record, turnKey, reply, ended, dueAt } = session;
  const times = `${findExpiry(session)},${dueAt ?? ''},${ended ? 1 : 0}`;
  return `${revision},${times},${turnKey.length},${reply.length},${turnKey}${reply}${record}`;
}

export function findExpiry({ expiresAt }: Pick<SessionCommit, 'expiresAt'>): number {
  return Math.min(expiresAt, LAST_MOMENT);
}

export function decodeSession(text: string): StoredSession {
  const numbers: string[] = [];
  let at = 0;
  for (let count = 0; count < NUMBERS; count++) {
    const end = text.indexOf(',', at);
    numbers.push(text.slice(at, end));
    at = end + 1;
  }
  const [revision, expiresAt, dueAt, ended, turnKeyLength, replyLength] = numbers;
  const replyAt = at + Number(turnKeyLength);
  const recordAt = replyAt + Number(replyLength);
  return {
    revision: Number(revision),
    record: text.slice(recordAt),
    turnKey: text.slice(at, replyAt),
    reply: text.slice(replyAt, recordAt),
    ended: ended === '1',
    expiresAt: Number(expiresAt),
    dueAt: dueAt === '' ? null : Number(dueAt),
  };
}

// Compare numbers as numbers but pass them on as text: Lua prints only 14 digits.
const HEAD_FORM = '^(%d+),(%-?%d+),(%-?%d*),(%d),';
const HEAD = `
local function head(place)
  local text = redis.call('GETRANGE', place, 0, ${HEAD_BYTES - 1})
  local revision, expiresAt = string.match(text, '${HEAD_FORM}')
  return revision, tonumber(expiresAt), expiresAt
end`;

// → -1: written · -2: call again with the index keys · n: not written, n is the stored revision, 0 if none
const COMMIT = `
local now, ttl, expected, value, key = unpack(ARGV)
local _, expiresAt, dueAt, ended = string.match(value, '${HEAD_FORM}')
local text = redis.call('GETRANGE', KEYS[1], 0, ${HEAD_BYTES - 1})
local revision, oldExpiresAt, oldDueAt, oldEnded = string.match(text, '${HEAD_FORM}')
local living = revision and tonumber(oldExpiresAt) > tonumber(now)
local found = living and revision or '0'
if found ~= expected then return tonumber(found) end
local sooner = revision and tonumber(expiresAt) < tonumber(oldExpiresAt)
if sooner or ended ~= oldEnded or dueAt ~= oldDueAt then
  local list, expiry, timers = KEYS[2], KEYS[3], KEYS[4]
  if not list then return -2 end
  if sooner then redis.call('ZADD', expiry, 'LT', expiresAt, key)
  elseif not revision then redis.call('ZADD', expiry, expiresAt, key) end
  if ended == oldEnded then
  elseif ended == '0' then redis.call('ZADD', list, 0, key)
  else redis.call('ZREM', list, key) end
  if dueAt == oldDueAt then
  elseif dueAt ~= '' then redis.call('ZADD', timers, dueAt, key)
  else redis.call('ZREM', timers, key) end
end
redis.call('SET', KEYS[1], value, 'PX', ttl)
return -1`;

// → 1: there was a live session · 0: there was none
const REMOVE = `${HEAD}
local now, key = tonumber(ARGV[1]), ARGV[2]
local revision, expiresAt = head(KEYS[1])
redis.call('DEL', KEYS[1])
for at = 2, 4 do redis.call('ZREM', KEYS[at], key) end
return (revision and expiresAt > now) and 1 or 0`;

// → up to `limit` live keys from `after` on
const LIST = `${HEAD}
local sessions, now, after, limit = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local living = {}
repeat
  local keys = redis.call('ZRANGE', KEYS[1], after, '+', 'BYLEX', 'LIMIT', 0, limit)
  for _, key in ipairs(keys) do
    local revision, expiresAt = head(sessions .. key)
    if revision and expiresAt > now then living[#living + 1] = key end
    if #living == limit then return living end
  end
  if #keys > 0 then after = '(' .. keys[#keys] end
until #keys < limit
return living`;

// → key, dueAt, key, dueAt …, earliest first; empty while another instance has claimed them
const DUE = `${HEAD}
local sessions, now, limit, owner, claimMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local claimed = redis.call('GET', KEYS[2])
if claimed and claimed ~= owner then return {} end
local due, from = {}, 0
repeat
  local part = redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', from, limit, 'WITHSCORES')
  for at = 1, #part, 2 do
    local revision, expiresAt = head(sessions .. part[at])
    if revision and expiresAt > tonumber(now) then
      due[#due + 1] = part[at]
      due[#due + 1] = part[at + 1]
    end
    if #due == 2 * limit then break end
  end
  from = from + limit
until #part < 2 * limit or #due == 2 * limit
if #due > 0 and not claimed and claimMs ~= '0' then redis.call('SET', KEYS[2], owner, 'PX', claimMs) end
return due`;

// → the number of deleted sessions. Entries of live sessions move to their actual expiry.
const SWEEP = `${HEAD}
local list, expiry, timers = KEYS[1], KEYS[2], KEYS[3]
local sessions, now, limit = ARGV[1], ARGV[2], ARGV[3]
local swept = 0
for _, key in ipairs(redis.call('ZRANGE', expiry, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)) do
  local revision, expiresAt, exact = head(sessions .. key)
  if revision and expiresAt > tonumber(now) then redis.call('ZADD', expiry, exact, key)
  else
    redis.call('DEL', sessions .. key)
    for at = 1, 3 do redis.call('ZREM', KEYS[at], key) end
    swept = swept + 1
  end
end
return swept`;

export interface SessionScripts {
  /** For an ordinary turn without index changes: one key, no session name; returns -2 when an index must change. */
  readonly commitPlain: RedisScript;
  /** For any turn: four keys. */
  readonly commit: RedisScript;
  readonly remove: RedisScript;
  readonly list: RedisScript;
  readonly due: RedisScript;
  readonly sweep: RedisScript;
}

export function sessionScripts(connection: RedisConnection): SessionScripts {
  return {
    commitPlain: connection.script(COMMIT, 1),
    commit: connection.script(COMMIT, 4),
    remove: connection.script(REMOVE, 4),
    list: connection.script(LIST, 1),
    due: connection.script(DUE, 2),
    sweep: connection.script(SWEEP, 3),
  };
}

export interface LogNames {
  readonly head: string;
  readonly frames: string;
  /** The topic that announces changes of the log. */
  readonly topic: string;
}

/** The default prefix of all names. */
export const REDIS_PREFIX = 'twinline:';

/** Throws ERR_CONFIG unless `prefix` is up to 64 letters, digits and `:._-`. */
export function checkPrefix(prefix: string): void {
  if (/^[\w:.-]{0,64}$/.test(prefix)) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The prefix of names in Redis must be up to 64 letters, digits and :._- ; it was ${JSON.stringify(prefix)}.`,
  );
}

export function channelName(prefix: string, topic: string): string {
  return `${prefix}channel:${tag(topic)}`;
}

export function logNames(prefix: string, log: string): LogNames {
  const topic = `log/${log}`;
  const start = `${prefix}log:${tag(topic)}`;
  return { head: `${start}:head`, frames: `${start}:frames`, topic };
}

// A hash tag ends at the first `}`, wherever that is; all names of a topic contain the same one.
function tag(topic: string): string {
  return `{${topic}}`;
}

/** All keys of a bucket share a hash tag, so one script can access them atomically. */
export interface Bucket {
  /** Prefix of the Redis keys of its sessions; the session's key follows. */
  readonly sessions: string;
  /** Sorted set of live sessions, by the bytes of their keys. */
  readonly list: string;
  /** Sorted set of sessions by expiry, or an earlier time. */
  readonly expiry: string;
  /** Sorted set of sessions by `dueAt`. */
  readonly timers: string;
  /** The instance that is handling the bucket's timers; expires by itself. */
  readonly claim: string;
}

export interface Places {
  readonly buckets: readonly Bucket[];
  of(key: string): Bucket;
}

// 64 buckets spread evenly over up to about 20 masters, and polling all of them for due timers once a second costs an
// instance about 0.1% of a core. A session's location is derived from these tags: neither they nor their order may ever
// change. Each tag hashes into the middle of its 64th of the slots, because masters hold ranges of slots.
const TAGS = (
  'mm ry 9i e8 v1 qt ap ax tb kv dn df wo o6 gc xw 8g d6 lc 02 g3 pk on pz 99 zt ul m5 fm yy va iu ' +
  'si k0 ce 8y pd op x9 x1 jf ur zj b3 ik q2 yg fs bk z2 rg ms af an qj i3 c5 dp kh 0t xi xa he 44'
).split(' ');

/** The buckets under a prefix of letters, digits and `:._-`. Throws ERR_CONFIG for an invalid prefix. */
export function placesUnder(prefix: string): Places {
  checkPrefix(prefix);
  const buckets = TAGS.map((tag): Bucket => {
    const start = `${prefix}{${tag}}`;
    return {
      sessions: `${start}s:`,
      list: `${start}list`,
      expiry: `${start}expiry`,
      timers: `${start}timers`,
      claim: `${start}claim`,
    };
  });
  return { buckets, of: (key) => buckets[findBucket(key)]! };
}

// FNV-1a over UTF-16 units; the highest of its 32 bits are mixed best.
function findBucket(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 26;
}
