// What sessions, channels and frame logs are called in Redis. What one script touches shares a hash tag, so it lies on one
// node: all names of one topic, and the sessions and indexes of one of 64 buckets.

import { TwinlineError } from '../../errors.ts';

export interface LogNames {
  readonly head: string;
  readonly frames: string;
  /** The topic on which changes of the log are told. */
  readonly topic: string;
}

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

// The hash tag ends at the first `}`, wherever that is: the same for all names of one topic.
function tag(topic: string): string {
  return `{${topic}}`;
}

/** Everything of one bucket shares its hash tag, so one script may touch it all in one atomic step. */
export interface Bucket {
  /** What the Redis key of every session in it begins with; the session's key follows. */
  readonly sessions: string;
  /** Sorted set of living sessions, in the order of the bytes of their keys. */
  readonly list: string;
  /** Sorted set of sessions by the moment of expiry, or an earlier one. */
  readonly expiry: string;
  /** Sorted set of sessions by `dueAt`. */
  readonly timers: string;
  /** Names the instance that works on the bucket's timers; expires by itself. */
  readonly claim: string;
}

export interface Places {
  readonly buckets: readonly Bucket[];
  of(key: string): Bucket;
}

// 64 buckets spread evenly over a cluster of up to some 20 masters, and asking all of them once a second whether anything
// is due costs every instance about a thousandth of a core. Where a session lies follows from these tags: neither they
// nor their order may ever change. Each lies in the middle of its 64th of the slots, for masters hold ranges of slots.
const TAGS = (
  'mm ry 9i e8 v1 qt ap ax tb kv dn df wo o6 gc xw 8g d6 lc 02 g3 pk on pz 99 zt ul m5 fm yy va iu ' +
  'si k0 ce 8y pd op x9 x1 jf ur zj b3 ik q2 yg fs bk z2 rg ms af an qj i3 c5 dp kh 0t xi xa he 44'
).split(' ');

/** The places under a prefix of letters, digits and `:._-`. Throws ERR_CONFIG for another. */
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
  return { buckets, of: (key) => buckets[bucketOf(key)]! };
}

// FNV-1a over UTF-16 units; of its 32 bits the highest are mixed best.
function bucketOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 26;
}
