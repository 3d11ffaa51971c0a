// Whether a series of measurements grows: a straight line through them, and how sure its slope is.

export interface Trend {
  /** Per unit of x. */
  readonly slope: number;
  /** The standard error of the slope. */
  readonly error: number;
}

/** The least-squares line through these points; at least three of them. */
export function fitTrend(points: readonly (readonly [x: number, y: number])[]): Trend {
  const n = points.length;
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / spread;
  const residue = points.reduce((sum, [x, y]) => sum + (y - my - slope * (x - mx)) ** 2, 0);
  return { slope, error: Math.sqrt(residue / (n - 2) / spread) };
}

/** What a server may keep of each caller until its tables are full: clients, phones and ids of sessions, 100,000 of each at most. */
const BYTES_PER_CALLER = 1_024;
const LEAST_BYTES = 8 * 1_048_576;
/** In an hour, whatever was done: tables that fill explain no more in a run that is not short. */
const HOUR_BYTES = 256 * 1_048_576;
const LONG_SECONDS = 300;

/** Bytes by which memory may grow while so many pieces of work were done in so many seconds. */
export function allowedGrowth({ pieces, seconds }: { readonly pieces: number; readonly seconds: number }): number {
  const ofWork = pieces * BYTES_PER_CALLER;
  const ofTime = (HOUR_BYTES * seconds) / 3_600;
  return Math.max(LEAST_BYTES, seconds >= LONG_SECONDS ? Math.min(ofWork, ofTime) : ofWork);
}

/** Whether the points grow by more than `most` from the first to the last, beyond what their scatter explains. */
export function isGrowing(points: readonly (readonly [x: number, y: number])[], most: number): boolean {
  const { slope, error } = fitTrend(points);
  const span = points.at(-1)![0] - points[0]![0];
  return (slope - 2 * error) * span > most;
}
