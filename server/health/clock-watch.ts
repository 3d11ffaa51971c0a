// How far the clocks of the stores are from this machine's: measured again and again, told in the log when it is too far and when it
// is not any more, as a metric, and on the home page.

import { type Clock, every } from '../../lib/clock.ts';
import type { SharedClock } from '../stores/store-clock.ts';
import type { Log } from '../telemetry/log.ts';
import { gauge } from '../telemetry/metrics.ts';

/** The clock of a store that is too far away. */
export interface WrongClock extends Pick<SharedClock, 'keeps' | 'kind'> {
  /** The store's minus ours. */
  readonly offsetSeconds: number;
}

export interface ClockWatch {
  /** Those that are too far from ours now. */
  wrong(): readonly WrongClock[];
  metrics(): readonly string[];
  stop(): void;
}

const MEASURE_MS = 5_000;
export const CLOCK_OFFSET_MAX_SECONDS = 10;

export interface ClockWatchOptions {
  readonly clock: Pick<Clock, 'wait'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** Watches clocks that have been measured once. */
export function watchClocks(clocks: readonly SharedClock[], { clock, log }: ClockWatchOptions): ClockWatch {
  const reported = new Set<SharedClock>();
  const readOffset = ({ clock: theirs }: SharedClock) => Math.round(theirs.offsetMs()) / 1e3;
  const isWrong = (one: SharedClock) => Math.abs(readOffset(one)) > CLOCK_OFFSET_MAX_SECONDS;

  function tell(one: SharedClock): void {
    if (isWrong(one) === reported.has(one)) return;
    const { keeps, kind } = one;
    const place = { keeps, kind, offsetSeconds: readOffset(one) };
    if (reported.delete(one)) log.info(place, 'the clocks of this machine and of a store agree again');
    else {
      reported.add(one);
      log.warn(place, 'the clock of this machine or of a store is wrong: run NTP on all machines');
    }
  }

  async function measure(one: SharedClock): Promise<void> {
    // A store that is away is told by its own watch; its clock goes on as it was.
    await one.clock.measure().catch(() => {});
    tell(one);
  }

  clocks.forEach(tell);
  const stop = clocks.length ? every(clock, MEASURE_MS, () => void Promise.all(clocks.map(measure))) : () => {};
  return {
    stop,
    wrong: () =>
      clocks.filter(isWrong).map((one) => ({ keeps: one.keeps, kind: one.kind, offsetSeconds: readOffset(one) })),
    metrics: () =>
      gauge(
        'twinline_clock_offset_seconds',
        'Clock of a store minus the clock of this machine.',
        new Map(clocks.map((one) => [`store="${one.keeps}",kind="${one.kind}"`, readOffset(one)])),
      ),
  };
}
