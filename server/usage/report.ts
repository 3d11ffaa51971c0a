// Reports of what callers did in a flow over some days: ways and screens, in all and by version and language; as JSON and CSV.

import { csvLine } from '../../lib/json/csv.ts';
import { HOUR_MS, type HourCounts, OTHER, STAY_SECONDS, type UsageCounts, type WayKey } from './counts.ts';

export interface UsageReport {
  readonly flow: string;
  /** ISO 8601, to the hour; the last hour is the present one. */
  readonly since: string;
  readonly until: string;
  /** Turns from one screen to the next; `from` is null at a first turn. */
  readonly ways: readonly UsageWay[];
  readonly screens: readonly UsageScreen[];
  /** Turns on ways beyond those that are counted each. */
  readonly other: number;
}

export interface UsageWay extends Omit<WayKey, 'from'> {
  readonly from: string | null;
  readonly turns: number;
}

export interface UsageScreen {
  readonly screen: string;
  /** Turns that led to it from elsewhere. */
  readonly reached: number;
  /** Turns that showed it once more, such as after a refused answer or on another page. */
  readonly again: number;
  /** Turns that led from it to another screen. */
  readonly left: number;
  /** Sessions that ended with it. */
  readonly ended: number;
  /** Reached, and neither left nor ended: the caller hung up there, or still looks at it. */
  readonly unanswered: number;
  /** Turns that failed on it. */
  readonly failed: number;
  /** Seconds until half of the answers had come, rounded up to one of {@link STAY_SECONDS}; null without answers. */
  readonly medianSeconds: number | null;
}

export interface UsageQuery {
  /** 1 to 31; the present hour counts. */
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** @default all */
  readonly version?: number | undefined;
  /** @default all */
  readonly language?: string | undefined;
}

/** Reads 24 hours for each day. Rejects with ERR_STORE. */
export async function readUsage(
  usage: Pick<UsageCounts, 'flush' | 'readHour'>,
  flow: string,
  { days, now, version, language }: UsageQuery,
): Promise<UsageReport> {
  await usage.flush();
  const last = Math.floor(now / HOUR_MS);
  const first = last - days * 24 + 1;
  const hours = Array.from({ length: days * 24 }, (_, at) => first + at);
  const notes: (HourCounts | undefined)[] = [];
  for (let at = 0; at < hours.length; at += HOURS_AT_ONCE)
    notes.push(...(await Promise.all(hours.slice(at, at + HOURS_AT_ONCE).map((hour) => usage.readHour(flow, hour)))));
  const sums = new Map<string, { turns: number; stays: number[] }>();
  for (const note of notes)
    for (const [way, { turns, stays }] of Object.entries(note ?? {})) {
      const sum = sums.get(way) ?? { turns: 0, stays: STAY_SECONDS.map(() => 0) };
      sums.set(way, sum);
      sum.turns += turns;
      for (const [bucket, count] of stays.entries()) sum.stays[bucket]! += count;
    }
  const other = sums.get(OTHER)?.turns ?? 0;
  sums.delete(OTHER);
  const rows = [...sums]
    .map(([way, sum]) => ({ ...(JSON.parse(way) as WayKey), ...sum }))
    .filter((row) => version === undefined || row.version === version)
    .filter((row) => language === undefined || row.language === language);
  return {
    flow,
    since: new Date(first * HOUR_MS).toISOString(),
    until: new Date((last + 1) * HOUR_MS).toISOString(),
    ways: rows
      .map(({ stays: _, from, ...way }) => ({ ...way, from: from === '' ? null : from }))
      .sort((one, two) => two.turns - one.turns),
    screens: listScreens(rows),
    other,
  };
}

const HOURS_AT_ONCE = 48;

type Row = WayKey & { readonly turns: number; readonly stays: readonly number[] };

function listScreens(rows: readonly Row[]): UsageScreen[] {
  const names = new Set(rows.flatMap(({ from, to }) => [from, to]));
  names.delete('');
  return [...names].sort().map((screen) => {
    const sum = (isCounted: (row: Row) => boolean) =>
      rows.reduce((total, row) => total + (isCounted(row) ? row.turns : 0), 0);
    const reached = sum(({ from, to }) => to === screen && from !== screen);
    const left = sum(({ from, to }) => from === screen && to !== screen);
    const ended = sum(({ to, outcome }) => to === screen && outcome === 'end');
    return {
      screen,
      reached,
      again: sum(({ from, to, outcome }) => from === screen && to === screen && outcome === 'continue'),
      left,
      ended,
      unanswered: Math.max(0, reached - left - ended),
      failed: sum(({ from, outcome }) => from === screen && outcome === 'failed'),
      medianSeconds: findMedian(rows.filter(({ from }) => from === screen)),
    };
  });
}

function findMedian(rows: readonly Row[]): number | null {
  const counts = STAY_SECONDS.map((_, bucket) => rows.reduce((sum, { stays }) => sum + stays[bucket]!, 0));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of counts.entries()) {
    below += count;
    if (total > 0 && below * 2 >= total) return STAY_SECONDS[bucket]!;
  }
  return null;
}

const COLUMNS = ['version', 'language', 'from', 'to', 'outcome', 'turns'] as const;

/** The ways as CSV (RFC 4180), with a head. */
export function usageCsv({ ways }: UsageReport): string {
  const rows = ways.map((way) => COLUMNS.map((column) => String(way[column] ?? '')));
  return [COLUMNS, ...rows].map(csvLine).join('');
}
