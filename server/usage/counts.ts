// What callers do in each flow: turns by way, version and language, counted per hour. Instances add their counts to a note of the
// session store, so the sums are those of all instances; no caller, session or answer is in them.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { SharedNotes } from '../../lib/store/shared-note.ts';
import { isSimulatedKey } from '../../lib/ussd/keys.ts';
import type { UssdTurn } from '../../lib/ussd/service.ts';

export const HOUR_MS = 3_600_000;
/** How long counts are kept, in milliseconds: 31 days. */
export const USAGE_KEEP_MS = 31 * 24 * HOUR_MS;
/** The most that a process that is killed loses, in milliseconds. */
const FLUSH_MS = 10_000;
/** Ways of one flow in one hour that are counted each; further ones count as `other`. */
const WAYS_PER_HOUR = 400;
/** Characters of a note: a record of the session store has 65,536. */
const NOTE_CHARS = 60_000;
/** Upper bounds of how long a screen was there before it was answered, in seconds; longer is the last one. */
export const STAY_SECONDS = [1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180] as const;

/** `from` is empty at a first turn; `outcome` is what the caller got. */
export interface WayKey {
  readonly version: number;
  readonly language: string;
  readonly from: string;
  readonly to: string;
  readonly outcome: 'continue' | 'end' | 'failed';
}

/** Turns on the way, and how long its first screen was there: turns by {@link STAY_SECONDS}. */
export type WayCount = { readonly turns: number; readonly stays: readonly number[] };

/** Counts of one flow in one hour; the key is a {@link WayKey} as JSON, or `other`. */
export type HourCounts = { readonly [way: string]: WayCount };

/** `by`: the last addition of each instance, so that one which is tried again counts once. */
type HourNote = { readonly ways: HourCounts; readonly by: { readonly [instance: string]: number } };

export interface UsageCounts {
  /** Counts a turn of a phone; simulated phones do not count. Never throws. */
  note(turn: UssdTurn): void;
  /** Adds what was counted to the notes of all instances. Never rejects: while the store is away, the counts wait. */
  flush(): Promise<void>;
  /** Of all instances, as they were flushed. Rejects with ERR_STORE. */
  readHour(flow: string, hour: number): Promise<HourCounts | undefined>;
  /** Stops the flushing, with a last one. */
  close(): Promise<void>;
}

export interface UsageOptions {
  readonly notes: SharedNotes;
  readonly clock: Pick<Clock, 'now'>;
  readonly onProblem: (error: unknown) => void;
}

type Counts = Map<string, { turns: number; stays: number[] }>;

/** Of one note; `nth`: of this process. */
interface Addition {
  readonly nth: number;
  readonly counts: Counts;
}

const INSTANCES_KEPT = 50;

export function usageCounts({ notes, clock, onProblem }: UsageOptions): UsageCounts {
  const instance = randomBytes(6).toString('base64url');
  const pending = new Map<string, Counts>();
  const additions = new Map<string, Addition>();
  let nth = 0;
  let flushing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  function flush(): Promise<void> {
    flushing = flushing.then(writeAll);
    return flushing;
  }

  async function writeAll(): Promise<void> {
    for (const [place, counts] of pending) {
      if (additions.has(place)) continue;
      additions.set(place, { nth: ++nth, counts });
      pending.delete(place);
    }
    for (const [place, addition] of additions) {
      try {
        await notes.change<HourNote>(place, (note) => addTo(note, instance, addition));
        additions.delete(place);
      } catch (error) {
        onProblem(error);
      }
    }
  }

  return {
    note({ key, reply, move, failure }) {
      if (!move || isSimulatedKey(key)) return;
      const { flow, version, language = '', stayMs } = move;
      const from = move.from === undefined ? '' : toPath(move.from);
      const outcome = failure === undefined ? (reply === 'end' ? 'end' : 'continue') : 'failed';
      const way: WayKey = { version, language, from, to: toPath(move.to), outcome };
      const place = nameNote(flow, Math.floor(clock.now() / HOUR_MS));
      const counts: Counts = pending.get(place) ?? new Map();
      pending.set(place, counts);
      countWay(counts, JSON.stringify(way), stayMs);
    },
    flush,
    readHour: async (flow, hour) => (await notes.read<HourNote>(nameNote(flow, hour)))?.ways,
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}

const nameNote = (flow: string, hour: number) => `usage:${flow}:${hour}`;

function countWay(counts: Counts, way: string, stayMs: number | undefined): void {
  const name = counts.has(way) || counts.size < WAYS_PER_HOUR ? way : OTHER;
  const count = counts.get(name) ?? { turns: 0, stays: STAY_SECONDS.map(() => 0) };
  counts.set(name, count);
  count.turns++;
  if (stayMs === undefined) return;
  const at = STAY_SECONDS.findIndex((seconds) => stayMs <= seconds * 1_000);
  count.stays[at < 0 ? STAY_SECONDS.length - 1 : at]!++;
}

export const OTHER = 'other';

function addTo(note: HourNote | undefined, instance: string, { nth, counts }: Addition): HourNote {
  const { ways, by } = note ?? { ways: {}, by: {} };
  if ((by[instance] ?? 0) >= nth) return { ways, by };
  const others = Object.entries(by).filter(([name]) => name !== instance);
  return { ways: addCounts(ways, counts), by: Object.fromEntries([...others, [instance, nth]].slice(-INSTANCES_KEPT)) };
}

function addCounts(note: HourCounts, counts: Counts): HourCounts {
  const sums: { [way: string]: WayCount } = { ...note };
  let chars = JSON.stringify(sums).length;
  for (const [way, { turns, stays }] of counts) {
    const row = JSON.stringify(way).length + 2 * STAY_SECONDS.length + 24;
    const isNew = !Object.hasOwn(sums, way);
    const hasRoom = Object.keys(sums).length < WAYS_PER_HOUR && chars + row < NOTE_CHARS;
    const name = isNew && !hasRoom ? OTHER : way;
    if (isNew) chars += row;
    const old = sums[name];
    sums[name] = {
      turns: turns + (old?.turns ?? 0),
      stays: stays.map((count, at) => count + (old?.stays[at] ?? 0)),
    };
  }
  return sums;
}
