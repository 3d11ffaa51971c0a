// What the gateway counts, and how its node is, as lines for Prometheus. Names of methods come from the descriptors only.

import type { AnswerCache, GuardedChannel } from '../../lib/gateway/index.ts';
import { counter, createDurations, gauge, histogram } from '../telemetry/metrics.ts';

export interface GatewayCounts {
  /** A request was answered; `rpc` is undefined when it led to no method. */
  countAnswer(rpc: string | undefined, status: number): void;
  /** A call of the node took so long. */
  countCall(ms: number): void;
  lines(): string[];
}

export interface Counted {
  readonly channel: GuardedChannel;
  readonly cache: Pick<AnswerCache<unknown>, 'stats'>;
}

/** Empty counts. */
export function createCounts({ channel, cache }: Counted): GatewayCounts {
  const requests = new Map<string, number>();
  const upstream = createDurations();
  const state = (states: readonly string[], now: string) =>
    new Map(states.map((one) => [`state="${one}"`, one === now ? 1 : 0]));
  return {
    countAnswer: (rpc = 'none', status) => {
      const labels = `rpc="${rpc}",status="${Math.trunc(status / 100)}xx"`;
      requests.set(labels, (requests.get(labels) ?? 0) + 1);
    },
    countCall: upstream.add,
    lines: () => {
      const { hits, misses, shared, entries, bytes, height } = cache.stats();
      const breaker = channel.breaker();
      const sources = { cache: hits, shared, node: misses - shared };
      const from = new Map(Object.entries(sources).map(([name, count]) => [`from="${name}"`, count]));
      const refused = new Map(Object.entries(breaker.refused).map(([why, count]) => [`reason="${why}"`, count]));
      const ended = new Map([...breaker.ended].map(([key, calls]) => [codeLabels(key), calls] as const));
      return [
        ...counter('twinline_gateway_requests_total', 'Requests of the query gateway by method and status.', requests),
        ...counter('twinline_gateway_reads_total', 'Reads by the source of their answer.', from),
        ...histogram('twinline_gateway_upstream_seconds', 'Duration of calls to the node.', upstream),
        ...gauge(
          'twinline_gateway_upstream_state',
          '1 for the current state of the connection to the node.',
          state(LINKS, channel.health().state),
        ),
        ...gauge(
          'twinline_gateway_breaker_state',
          '1 for the current state of the circuit breaker.',
          state(BREAKER, breaker.state),
        ),
        ...counter(
          'twinline_gateway_calls_refused_total',
          'Calls to the node that were refused before they were made.',
          refused,
        ),
        ...counter(
          'twinline_gateway_calls_ended_total',
          'Completed calls to the node by gRPC code and by which side set it.',
          ended,
        ),
        ...gauge('twinline_gateway_calls_running', 'Calls to the node in progress.', breaker.running),
        ...gauge('twinline_gateway_cache_entries', 'Cached answers.', entries),
        ...gauge('twinline_gateway_cache_bytes', 'Size of the cached answers.', bytes),
        ...gauge('twinline_gateway_block_height', 'Highest block height seen.', height),
      ];
    },
  };
}

/** `code` as the documentation of gRPC names it: https://grpc.io/docs/guides/status-codes/ */
function codeLabels(key: string): string {
  const [from, code] = key.split(' ');
  return `from="${from}",code="${CODES[Number(code)] ?? code}"`;
}

const CODES = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

const LINKS = ['idle', 'connecting', 'ready', 'failing', 'closed'];
const BREAKER = ['closed', 'open', 'half-open'];
