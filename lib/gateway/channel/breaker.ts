// Protects callers and the node from each other: a circuit breaker and a concurrency limit around a channel.

import { type Clock, systemClock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import { retryDelay } from '../../retry.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import {
  CHANNEL_STATUS,
  type Channel,
  channelStatus,
  GRPC,
  makeFailedAnswer,
  type RpcCall,
  type Status,
  type StreamCall,
} from './channel.ts';
import { makeEndedStream } from './message-stream.ts';

/** Options of `guardedChannel`. */
export interface BreakerOptions {
  /** Consecutive failures that open the breaker. @default GATEWAY_LIMITS.breakerFailures */
  readonly failures?: number;
  /**
   * First and longest time in milliseconds that it stays open.
   * @default GATEWAY_LIMITS.breakerPauseMs, GATEWAY_LIMITS.breakerPauseMaxMs
   */
  readonly pauseMs?: number;
  readonly pauseMaxMs?: number;
  /** Concurrent calls and streams. @default GATEWAY_LIMITS.grpcCallsAtOnce */
  readonly atOnce?: number;
  /**
   * The channel's default deadline: a missed deadline counts as a failure only if the call had at least this long.
   * @default GATEWAY_LIMITS.grpcDeadlineMs
   */
  readonly deadlineMs?: number;
  readonly clock?: Clock;
}

export interface BreakerState {
  /** `open`: calls fail immediately; `half-open`: one trial call is let through. */
  readonly state: 'closed' | 'open' | 'half-open';
  readonly running: number;
  /** Milliseconds until the node is tried again; 0 unless `open`. */
  readonly retryMs: number;
  /** Calls refused since the channel was opened, by reason. */
  readonly refused: { readonly open: number; readonly full: number };
  /** Calls and streams ended since then, by code: `node 5` or `channel 14`; codes unknown to gRPC count as `node other`. */
  readonly ended: ReadonlyMap<string, number>;
}

/** A channel with a circuit breaker, and its state. */
export interface GuardedChannel extends Channel {
  breaker(): BreakerState;
}

/** The highest code that gRPC defines. */
const LAST_CODE = GRPC.unauthenticated;
const RESTING = channelStatus(GRPC.unavailable, 'The node did not answer; calls are suspended for a while.');

/**
 * Wraps a channel. Calls fail immediately with UNAVAILABLE when too many are running, and for a pause after `failures`
 * consecutive calls ended with UNAVAILABLE or a missed deadline. After the pause one trial call is made: if it reaches the
 * node, the breaker closes; if not, the pause doubles. Calls given up by their caller say nothing about the node.
 * @example
 * const channel = guardedChannel(http2Channel({ upstream: '127.0.0.1:1' }), { failures: 5, pauseMs: 1_000 });
 * await channel.ready(50); // → false
 * await channel.close();
 */
export function guardedChannel(channel: Channel, options: BreakerOptions = {}): GuardedChannel {
  requireGiven('guard a channel', { channel }, { channel: 'channel' });
  const { failures = GATEWAY_LIMITS.breakerFailures, atOnce = GATEWAY_LIMITS.grpcCallsAtOnce } = options;
  const { deadlineMs = GATEWAY_LIMITS.grpcDeadlineMs, clock = systemClock } = options;
  const { pauseMs = GATEWAY_LIMITS.breakerPauseMs, pauseMaxMs = GATEWAY_LIMITS.breakerPauseMaxMs } = options;
  const refused = { open: 0, full: 0 };
  // Starts at 0, so that a rate over it has a first sample.
  const endedByCode = new Map([['node 0', 0]]);
  let inARow = 0;
  let running = 0;
  // Consecutive openings; 0 while closed.
  let openings = 0;
  let openUntil = 0;
  let isTrying = false;

  function state(): BreakerState['state'] {
    if (!openings) return 'closed';
    return clock.monotonic() < openUntil ? 'open' : 'half-open';
  }

  function enter(call: RpcCall | StreamCall): Status | ((status: Status) => void) {
    const stateBefore = state();
    if (stateBefore === 'open' || (stateBefore === 'half-open' && isTrying)) {
      refused.open++;
      return RESTING;
    }
    if (running >= atOnce) {
      refused.full++;
      return CHANNEL_STATUS.full;
    }
    running++;
    const isTrial = stateBefore === 'half-open';
    if (isTrial) isTrying = true;
    return (status) => {
      running--;
      noteEnd(status);
      if (isTrial) isTrying = false;
      judge(verdict(status, call.deadlineMs ?? deadlineMs), isTrial);
    };
  }

  function noteEnd({ from, code }: Status): void {
    const key = `${from} ${code >= 0 && code <= LAST_CODE ? code : 'other'}`;
    endedByCode.set(key, (endedByCode.get(key) ?? 0) + 1);
  }

  function judge(how: Reachability, isTrial: boolean): void {
    // Calls started before the breaker opened return late: they neither close it nor extend its pause.
    if (openings && !isTrial) return;
    if (how === 'reached') {
      inARow = 0;
      openings = 0;
    } else if (how === 'failed' && (++inARow >= failures || isTrial)) {
      openUntil = clock.monotonic() + retryDelay(++openings, { firstMs: pauseMs, maxMs: pauseMaxMs });
    }
  }

  function verdict(status: Status, hadMs: number): Reachability {
    const { code, from } = status;
    // The node answered; it was the gateway that had no room.
    if (status === CHANNEL_STATUS.crowded) return 'reached';
    if (code === GRPC.unavailable) return 'failed';
    if (code === GRPC.deadlineExceeded && from === 'channel') return hadMs >= deadlineMs ? 'failed' : 'unknown';
    const isOurs = from === 'channel' && (code === GRPC.cancelled || code === GRPC.invalidArgument);
    return isOurs ? 'unknown' : 'reached';
  }

  return {
    ...channel,
    unary: (call) => {
      const leave = enter(call);
      if (typeof leave !== 'function') return Promise.resolve(makeFailedAnswer(leave));
      return channel.unary(call).then((answer) => {
        leave(answer.status);
        return answer;
      });
    },
    stream: (call) => {
      const leave = enter(call);
      if (typeof leave !== 'function') return makeEndedStream(leave);
      const stream = channel.stream(call);
      void stream.end.then(({ status }) => leave(status));
      return stream;
    },
    breaker: () => ({
      state: state(),
      running,
      ended: endedByCode,
      retryMs: state() === 'open' ? openUntil - clock.monotonic() : 0,
      refused: { ...refused },
    }),
  };
}

/** Whether a call reached the node; `unknown` if it says nothing about the node. */
type Reachability = 'reached' | 'failed' | 'unknown';
