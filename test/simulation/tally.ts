// What a simulation counts, and the table that is printed of it.

export const COUNTED = {
  seeds: 'seeds',
  steps: 'steps',
  turns: 'turns that callers took',
  retries: 'requests repeated for want of an answer',
  duplicates: 'duplicates sent at once',
  late: 'messages delayed past later ones',
  lostRequests: 'requests lost',
  lostReplies: 'replies lost',
  crashes: 'crashes',
  ghosts: 'writes that arrived after their process had crashed',
  pauses: 'processes that stood still and woke up',
  jumps: 'clock jumps',
  refusals: 'store refusals',
  lostAcks: 'lost acknowledgements of commits',
  conflicts: 'stale writes refused',
  slow: 'slow store operations',
  calls: 'service calls',
  repeatedCalls: 'of them repeated under their key',
  lostServices: 'lost answers of services',
  timers: 'timers fired',
  violations: 'violations',
} as const;

export type Tally = { -readonly [name in keyof typeof COUNTED]: number };

export const newTally = (): Tally => Object.fromEntries(Object.keys(COUNTED).map((name) => [name, 0])) as Tally;

export function addTo(total: Tally, more: Tally): void {
  for (const name in COUNTED) total[name as keyof Tally] += more[name as keyof Tally];
}

/** One line each, numbers to the right. */
export function table(tally: Tally): string {
  const rows = Object.entries(COUNTED).map(([name, words]) => [tally[name as keyof Tally].toLocaleString('en'), words]);
  const width = Math.max(...rows.map(([number]) => number!.length));
  return rows.map(([number, words]) => `  ${number!.padStart(width)}  ${words}`).join('\n');
}
