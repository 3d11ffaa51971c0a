// Options of the agent service, and of the runner that drives its runs.

import type { RunEnd } from '../../machines/run-ends.ts';
import type { Clock } from '../clock.ts';
import type { Inspector } from '../engine/conversation.ts';
import type { Channel } from '../store/channel.ts';
import type { LogStore } from '../store/log-store.ts';
import type { DocumentStore } from '../store/store.ts';
import type { HostTool, Responder, ResponderTurn, TokenUsage } from './responder.ts';
import type { Room, RunRoomEvent } from './room.ts';
import type { RunFault } from './run/frame-data.ts';
import type { Runs } from './run/run.ts';
import type { Transcript } from './session/message.ts';
import type { Quotas } from './session/quota.ts';
import type { Oracle, Sessions } from './session/session.ts';

/** Options of `openAgent`. */
export interface AgentOptions {
  readonly documents: DocumentStore;
  readonly logs: LogStore;
  readonly channel: Channel;
  readonly responder: Responder;
  readonly oracle: Oracle;
  /** Tools of this server, such as those of plugins; called at the start of each turn. @default none */
  readonly hostTools?: () => readonly HostTool[];
  /** @default systemClock */
  readonly clock?: Clock;
  /** Quotas per user. @default the values of AGENT_LIMITS */
  readonly quotas?: Quotas;
  /** Milliseconds after which the sweep deletes an unused session. @default never */
  readonly keepSessionsMs?: number | undefined;
  /** Bytes per reply. @default AGENT_LIMITS.agentReplyBytes */
  readonly replyBytes?: number;
  /** Sends events to sockets directly; `room.listen` then receives none. @default over the channel */
  readonly tell?: Room['tell'];
  /** Whether a client listens to a session through this process. @default always true */
  readonly isHeard?: Room['isHeard'];
  /** Receives the inspection events of runs. */
  readonly inspector?: Inspector | undefined;
  /** Called before a run is answered, with the same retries as `settle`; a returned fault ends the run as failed. */
  readonly begin?: (run: RunStart) => Promise<RunFault | undefined>;
  /**
   * Awaited before a run ends, and retried while the store is down. If this process dies meanwhile, the one that takes over
   * calls it again: it must act once per run.
   */
  readonly settle?: (report: RunReport) => Promise<void>;
  /** Sentences about the user for the model's prompt. */
  readonly instructions?: (turn: Pick<ResponderTurn, 'owner' | 'session' | 'requestId'>) => Promise<readonly string[]>;
  /** Called with every typed event of the runs driven by this process. */
  readonly onEvent?: (event: RunRoomEvent) => void;
  /** Called for every run that ended in this process. */
  readonly onEnd?: (report: RunReport) => void;
  /** Called with errors of background work. */
  readonly onProblem?: (error: unknown) => void;
}

/** A run that is about to be answered. */
export interface RunStart {
  readonly runId: string;
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
}

/** A run that has ended, for metrics; holds no text of the conversation. */
export interface RunReport extends RunStart {
  readonly status: RunEnd;
  readonly usage: TokenUsage;
  /** Frames in the run's log, including the last one. */
  readonly frames: number;
  readonly fault?: RunFault;
}

export interface RunnerOptions
  extends Pick<AgentOptions, 'logs' | 'responder' | 'begin' | 'settle' | 'instructions' | 'onEvent' | 'onEnd'>,
    Required<Pick<AgentOptions, 'clock' | 'hostTools' | 'replyBytes' | 'onProblem'>> {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly room: Room;
  /** Tells every process that a call of this session is waiting for a client. Never rejects. */
  readonly announce: (session: string) => Promise<void>;
  /** Called when a session no longer has a live run. */
  readonly onFree: (session: string) => Promise<void>;
}
