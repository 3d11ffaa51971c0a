// Redis scripts for frame logs: each is atomic on the keys of one log.

import type { RedisConnection, RedisScript } from './connection.ts';

// A log is a hash (its head) and a stream (its frames). Frame n has the id n-0, so that Redis itself refuses a number that
// was used before. Each frame stores the cumulative bytes up to it, so that trimming needs no summing. Numbers travel as
// text: Redis truncates Lua numbers to integers, and Lua's `tostring` keeps 14 digits.
const COMMON = `
local FENCE, FIRST, LAST, ENDED, EXPIRES, BYTES, TRIMMED = 1, 2, 3, 4, 5, 6, 7
local function living(now)
  local h = redis.call('HMGET', KEYS[1], 'fence', 'first', 'last', 'ended', 'expiresAt', 'bytes', 'trimmed')
  if h[FENCE] and tonumber(h[EXPIRES]) > tonumber(now) then return h end
end
local function text(n) return string.format('%.0f', n) end
local function keep(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PEXPIRE', KEYS[2], ttl)
end
local function tell(command) redis.call(command, KEYS[3], '') end`;

// → fenced, fence · opened, last, ended
const OPEN = `${COMMON}
local command, now, ttl, fence, expiresAt = unpack(ARGV)
local h = living(now)
if h and tonumber(fence) < tonumber(h[FENCE]) then return {'fenced', h[FENCE]} end
if not h then
  redis.call('UNLINK', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[1], 'first', 1, 'last', 0, 'ended', 0, 'bytes', 0, 'trimmed', 0)
end
redis.call('HSET', KEYS[1], 'fence', fence, 'expiresAt', expiresAt)
keep(ttl)
tell(command)
return {'opened', h and h[LAST] or '0', h and h[ENDED] or '0'}`;

// → the kind of an AppendResult, and its number
const APPEND = `${COMMON}
local command, now, ttl, fence, expiresAt, expected, ending, framesMax, bytesMax = unpack(ARGV, 1, 9)
local HEAD = 9
local count = #ARGV - HEAD
local h = living(now)
if not h then return {'missing'} end
if tonumber(fence) < tonumber(h[FENCE]) then return {'fenced', h[FENCE]} end
expected = tonumber(expected)
local last, upTo = tonumber(h[LAST]), expected + count
local function isRepeat()
  if upTo > last or (ending == '1' and not (h[ENDED] == '1' and upTo == last)) then return false end
  if count == 0 then return true end
  local there = redis.call('XRANGE', KEYS[2], text(expected + 1) .. '-0', text(upTo) .. '-0')
  if #there ~= count then return false end
  for at, row in ipairs(there) do
    if row[2][2] ~= ARGV[HEAD + at] then return false end
  end
  return true
end
if isRepeat() then return {'appended', text(upTo)} end
if h[ENDED] == '1' then return {'ended', h[LAST]} end
if expected ~= last then return {'conflict', h[LAST]} end
local bytes = tonumber(h[BYTES])
for at = 1, count do bytes = bytes + #ARGV[HEAD + at] end
local fits = upTo - tonumber(h[FIRST]) + 1 <= tonumber(framesMax) and bytes - tonumber(h[TRIMMED]) <= tonumber(bytesMax)
if not fits and ending == '0' then return {'full', h[LAST]} end
bytes = tonumber(h[BYTES])
for at = 1, count do
  local frame = ARGV[HEAD + at]
  bytes = bytes + #frame
  redis.call('XADD', KEYS[2], text(last + at) .. '-0', 't', frame, 'b', text(bytes))
end
redis.call('HSET', KEYS[1], 'fence', fence, 'last', text(upTo), 'ended', ending, 'expiresAt', expiresAt, 'bytes', text(bytes))
keep(ttl)
tell(command)
return {'appended', text(upTo)}`;

// → nil · last, ended, expiresAt, number of the first frame, frames …
const READ = `${COMMON}
local CHUNK = 32
local now, after, limit, bytesMax = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local h = living(now)
if not h then return false end
local from = math.max(after + 1, tonumber(h[FIRST]))
local page = {h[LAST], h[ENDED], h[EXPIRES], text(from)}
local count, bytes = 0, 0
while count < limit do
  local asked = math.min(CHUNK, limit - count)
  local rows = redis.call('XRANGE', KEYS[2], text(from + count) .. '-0', '+', 'COUNT', asked)
  for _, row in ipairs(rows) do
    local frame = row[2][2]
    bytes = bytes + #frame
    if count > 0 and bytes > bytesMax then return page end
    page[#page + 1] = frame
    count = count + 1
  end
  if #rows < asked then break end
end
return page`;

// → how many frames were removed
const TRIM = `${COMMON}
local now, through = ARGV[1], tonumber(ARGV[2])
local h = living(now)
if not h then return '0' end
local first, upTo = tonumber(h[FIRST]), math.min(through, tonumber(h[LAST]))
if upTo < first then return '0' end
local row = redis.call('XRANGE', KEYS[2], text(upTo) .. '-0', text(upTo) .. '-0')[1]
redis.call('XTRIM', KEYS[2], 'MINID', text(upTo + 1) .. '-0')
redis.call('HSET', KEYS[1], 'first', text(upTo + 1), 'trimmed', row[2][4])
return text(upTo - first + 1)`;

// → 1: the log exists · 0: it does not
const EXPIRE = `${COMMON}
local command, now, ttl, expiresAt = unpack(ARGV)
if not living(now) then return 0 end
redis.call('HSET', KEYS[1], 'expiresAt', expiresAt)
keep(ttl)
tell(command)
return 1`;

// → 1: the log existed · 0: it did not
const REMOVE = `${COMMON}
local command, now = unpack(ARGV)
local h = living(now)
redis.call('UNLINK', KEYS[1], KEYS[2])
tell(command)
return h and 1 or 0`;

export interface LogScripts {
  readonly open: RedisScript;
  readonly append: RedisScript;
  readonly read: RedisScript;
  readonly trim: RedisScript;
  readonly expire: RedisScript;
  readonly remove: RedisScript;
}

/** Keys of each script: head, frames and, if it publishes a change, the channel. */
export function logScripts({ script }: Pick<RedisConnection, 'script'>): LogScripts {
  return {
    open: script(OPEN, 3),
    append: script(APPEND, 3),
    read: script(READ, 2),
    trim: script(TRIM, 2),
    expire: script(EXPIRE, 3),
    remove: script(REMOVE, 3),
  };
}
