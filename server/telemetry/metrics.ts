// What the server counts, and the text in which Prometheus reads it. Label values come from our own tables only.

import { countLinesLost } from './log-output.ts';

/**
 * Why a request was turned away: its address is not listed, its dialect has a secret that it does not show, its
 * signature does not fit, or the signature's time is too far from now.
 */
export type GatewayRefusal = 'address' | 'secret' | 'signature' | 'timestamp';

/** How a USSD request was answered. */
/** `too-long`: all answers of a dialogue together are longer than a request may be, so the dialogue cannot go on. */
export type TurnOutcome = 'continue' | 'end' | 'invalid' | 'too-long' | 'limited' | 'forbidden' | 'unavailable';

/** What there was too much of when a request or a connection was turned away: requests of one address or phone, work
 * of the server, answers that are not read, connections of one address, sessions of one phone, streams and sockets of one address. */
export type RefusedWhy = 'address' | 'phone' | 'overload' | 'unsent' | 'connections' | 'sessions' | 'streams';

/** What a client did whose connection was cut: it did not read, or hardly; it did not end a body; it sent too many requests ahead. */
export type CutReason = 'stalled' | 'slow' | 'body' | 'ahead';

/** Writes lines of metrics, as they are at this moment. */
type WriteLines = () => readonly string[] | Promise<readonly string[]>;

export interface Metrics {
  turn(dialect: string, outcome: TurnOutcome, ms: number): void;
  dial(dialect: string): void;
  /** A request of a gateway that may not speak for callers. */
  forbidden(dialect: string, reason: GatewayRefusal): void;
  /** A request of another door that was answered; `route` is its template. */
  request(method: string, route: string, status: number, ms: number): void;
  problem(where: 'ussd' | 'http' | 'background' | 'sweep' | 'reload' | 'rate-limit' | 'account' | 'after'): void;
  /** A request or a connection that was turned away. */
  refused(why: RefusedWhy): void;
  /** A connection that was cut because of its client. */
  cut(reason: CutReason): void;
  /** Adds lines of a part that counts for itself. */
  add(write: WriteLines): void;
  /** Prometheus text, version 0.0.4. */
  render(): Promise<string>;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Empty counts. */
export function createMetrics(): Metrics {
  const turns = new Map<string, number>();
  const dials = new Map<string, number>();
  const forbidden = new Map<string, number>();
  const requests = new Map<string, number>();
  const problems = new Map<string, number>();
  const refusals = new Map<string, number>();
  const cuts = new Map<string, number>();
  const durations = createDurations();
  const doors = new Map<string, Durations>();
  const parts: WriteLines[] = [];

  return {
    turn: (dialect, outcome, ms) => {
      count(turns, `dialect="${dialect}",outcome="${outcome}"`);
      durations.add(ms);
    },
    dial: (dialect) => count(dials, `dialect="${dialect}"`),
    forbidden: (dialect, reason) => count(forbidden, `dialect="${dialect}",reason="${reason}"`),
    request: (method, route, status, ms) => {
      count(requests, `method="${METHODS.has(method) ? method : 'other'}",route="${route}",status="${status}"`);
      const door = `door="${nameDoor(route)}"`;
      const took = doors.get(door) ?? createDurations();
      doors.set(door, took);
      took.add(ms);
    },
    problem: (where) => count(problems, `where="${where}"`),
    refused: (why) => count(refusals, `why="${why}"`),
    cut: (reason) => count(cuts, `reason="${reason}"`),
    add: (write) => void parts.push(write),
    render: async () => {
      const lines = await Promise.all(parts.map((write) => write()));
      const { user, system } = process.cpuUsage();
      return [
        ...counter('twinline_ussd_turns_total', 'USSD requests by dialect and outcome.', turns),
        ...counter('twinline_ussd_sessions_started_total', 'First dials by dialect.', dials),
        ...counter('twinline_ussd_refused_total', 'USSD requests from unlisted gateways.', forbidden),
        ...histogram('twinline_ussd_turn_seconds', 'Time from request to reply.', durations),
        ...counter('twinline_http_requests_total', 'HTTP requests except USSD.', requests),
        ...histogram(
          'twinline_http_request_seconds',
          'Time from request to reply, by the first segment of the route.',
          doors,
        ),
        ...counter('twinline_errors_total', 'Internal errors by origin.', problems),
        ...counter(
          'twinline_log_lines_lost_total',
          'Log lines that could not be written.',
          new Map([['', countLinesLost()]]),
        ),
        ...counter('twinline_refused_total', 'Requests refused because of a limit.', refusals),
        ...counter(
          'twinline_connections_cut_total',
          'Connections closed because the client did not read, sent a body too slowly, or sent too many requests ahead.',
          cuts,
        ),
        ...lines.flat(),
        ...gauge('process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
        ...counter('process_cpu_seconds_total', 'CPU time, user and system.', new Map([['', (user + system) / 1e6]])),
        '',
      ].join('\n');
    },
  };
}

/** Counts by one label, whose values come from a closed list. */
export interface LabelCounts {
  add(value: string, amount?: number): void;
  /** For {@link counter}. */
  samples(): Samples;
}

/** Counts by `label`; `values` are there from the start with 0, so that a rate over them has a beginning. */
export function countsByLabel(label: string, values: readonly string[] = []): LabelCounts {
  const counts = new Map(values.map((value) => [`${label}="${value}"`, 0]));
  return {
    add: (value, amount = 1) => {
      const labels = `${label}="${value}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + amount);
    },
    samples: () => counts,
  };
}

// There are no more of them than first parts of routes.
function nameDoor(route: string): string {
  return route.split('/', 2).at(-1) || 'home';
}

function count(counts: Map<string, number>, labels: string): void {
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

function heading(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

export type Samples = ReadonlyMap<string, number>;

function samples(name: string, values: Samples): string[] {
  return [...values].map(([labels, value]) => `${name}${labels && `{${labels}}`} ${value}`);
}

/** Lines of a counter; the keys of `values` are its labels, as `a="b",c="d"`. */
export function counter(name: string, help: string, values: Samples): string[] {
  return [...heading(name, help, 'counter'), ...samples(name, values)];
}

/** Lines of a gauge. */
export function gauge(name: string, help: string, value: number | Samples): string[] {
  const values = typeof value === 'number' ? new Map([['', value]]) : value;
  return [...heading(name, help, 'gauge'), ...samples(name, values)];
}

/** How long things took. */
export interface Durations {
  add(ms: number): void;
  /** Counts by bucket, the last of them for all that took longer. */
  readonly buckets: readonly number[];
  readonly totalMs: number;
}

export function createDurations(): Durations {
  const buckets = new Array<number>(BUCKETS_MS.length + 1).fill(0);
  let totalMs = 0;
  return {
    buckets,
    get totalMs() {
      return totalMs;
    },
    add: (ms) => {
      let at = 0;
      while (at < BUCKETS_MS.length && ms > BUCKETS_MS[at]!) at++;
      buckets[at]!++;
      totalMs += ms;
    },
  };
}

type SeenDurations = Pick<Durations, 'buckets' | 'totalMs'>;

/** Lines of a histogram, in seconds: of one, or of several by their labels. */
export function histogram(
  name: string,
  help: string,
  seen: SeenDurations | ReadonlyMap<string, SeenDurations>,
): string[] {
  const all =
    seen instanceof Map ? [...(seen as ReadonlyMap<string, SeenDurations>)] : [['', seen as SeenDurations] as const];
  return [...heading(name, help, 'histogram'), ...all.flatMap(([labels, one]) => bucketLines(name, labels, one))];
}

function bucketLines(name: string, labels: string, { buckets, totalMs }: SeenDurations): string[] {
  let sum = 0;
  const before = labels && `${labels},`;
  const lines = buckets.map((value, at) => {
    sum += value;
    return `${name}_bucket{${before}le="${at < BUCKETS_MS.length ? BUCKETS_MS[at]! / 1e3 : '+Inf'}"} ${sum}`;
  });
  const own = labels && `{${labels}}`;
  return [...lines, `${name}_sum${own} ${totalMs / 1e3}`, `${name}_count${own} ${sum}`];
}
