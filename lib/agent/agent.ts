// The agent service without HTTP: sessions, messages that are answered by runs, and everything that can be asked of them.

import { type Clock, systemClock } from '../clock.ts';
import type { Inspector } from '../engine/inspection.ts';
import { TwinlineError } from '../errors.ts';
import { SHARED_LIMITS } from '../shared-limits.ts';
import type { Channel } from '../store/channel.ts';
import type { LogStore } from '../store/log-store.ts';
import type { DocumentStore, Json } from '../store/store.ts';
import { AGENT_KINDS } from './kinds.ts';
import { AGENT_LIMITS } from './limits.ts';
import type { Responder, TurnSecrets } from './responder.ts';
import { type Room, type RunRoomEvent, rooms } from './room.ts';
import { type Follower, follower } from './run/follow.ts';
import { type Offers, openOffers } from './run/offer.ts';
import { runQueue } from './run/queue.ts';
import { recovery as recoveryOf } from './run/recovery.ts';
import type { Asked } from './run/respond.ts';
import { isEnded, type NewRun, type Run, type RunRequest, type RunView, runs as runsOf, runView } from './run/run.ts';
import { makeRunner, newHolder, type RunReport } from './run/runner.ts';
import { type Transcript, transcript as transcriptOf } from './session/message.ts';
import { type Oracle, type Sessions, sessions as sessionsOf } from './session/session.ts';
import { callResult, type HostTool } from './tool.ts';
import { fitsJson, fitsLevels } from './well-formed.ts';

export interface AgentOptions {
  readonly documents: DocumentStore;
  readonly logs: LogStore;
  readonly channel: Channel;
  readonly responder: Responder;
  readonly oracle: Oracle;
  /** Tools of this server, such as those of its plugins; asked for at the beginning of each turn. @default none */
  readonly hostTools?: () => readonly HostTool[];
  /** @default the system's clock */
  readonly clock?: Clock;
  /** Bytes of one reply. @default AGENT_LIMITS.agentReplyBytes */
  readonly replyBytes?: number;
  /** Sends events to sockets instead of the channel; `room.listen` then gets none. @default over the channel */
  readonly tell?: Room['tell'];
  /** Whether a client listens to a session through this process. @default always */
  readonly isHeard?: Room['isHeard'];
  /** Receives the inspection events of runs. */
  readonly inspector?: Inspector | undefined;
  /**
   * Awaited before a run ends, and tried again while the store is away; once more by whoever takes over when this process
   * dies meanwhile: must act once per run.
   */
  readonly settle?: (report: RunReport) => Promise<void>;
  /** What models should know of a user before they answer. */
  readonly instructions?: (asked: Asked) => Promise<readonly string[]>;
  /** Told of every typed event of the runs that this process drives. */
  readonly onEvent?: (told: RunRoomEvent) => void;
  /** Told of every run that has ended, by the process that ended it. */
  readonly onEnd?: (report: RunReport) => void;
  /** Called with errors of background work. */
  readonly onProblem?: (error: unknown) => void;
}

/** What to do when a run of the session is live. */
export type Multitask = 'reject' | 'enqueue' | 'interrupt';

export interface SendRequest {
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
  readonly request: RunRequest;
  /** Kept in this process's memory only. */
  readonly secrets?: TurnSecrets;
  /** @default 'reject' */
  readonly multitask?: Multitask;
  /** A UUID: while the run of this id is kept, sending it again throws ERR_EXISTS. @default a new one */
  readonly runId?: string;
}

export type Sent =
  /** Stored: it will be answered, whatever happens to this process or to the connection. */
  | { readonly kind: 'accepted'; readonly run: RunView }
  | { readonly kind: 'busy'; readonly runId: string }
  /** AGENT_LIMITS.runsPerSession are open, or this process works on AGENT_LIMITS.runsAtOnce. */
  | { readonly kind: 'full' }
  /** The session is not theirs, or does not exist. */
  | { readonly kind: 'unknown' };

/** An answer of the user's side, as its socket sends it. */
export interface CallAnswer {
  /** Whose socket it is; it has joined this session. */
  readonly owner: string;
  readonly session: string;
  readonly toolCallId: string;
  readonly result?: Json;
  readonly error?: string;
}

/** Every function may throw ERR_STORE, ERR_CONFLICT or ERR_BUSY: trying again may help. */
export interface Agent extends Follower {
  readonly sessions: Pick<Sessions, 'create' | 'list' | 'get' | 'owns'>;
  readonly transcript: Pick<Transcript, 'page' | 'all'>;
  readonly room: Room;
  /** Throws ERR_INPUT when the request is larger than AGENT_LIMITS.agentRequestBytes, deeper than SHARED_LIMITS.jsonBodyDepth, or holds half a surrogate pair. */
  send(request: SendRequest): Promise<Sent>;
  /**
   * Aborts the live run of a session, or one that is named. `true`: one was open and will end, as aborted unless it has
   * just been finished. `undefined`: the session is not theirs.
   */
  abort(request: { owner: string; session: string; runId?: string }): Promise<boolean | undefined>;
  /** The live run of a session, or the first in line; null when nothing is open, undefined when the session is not theirs. */
  openRun(owner: string, session: string): Promise<RunView | null | undefined>;
  readonly offers: Pick<Offers, 'waiting' | 'take'>;
  /** True when a run of this session waits for this call; late, foreign and repeated answers change nothing. Throws ERR_INPUT when it is too large. */
  answerCall(answer: CallAnswer): Promise<boolean>;
  /** Deletes a session with its transcript, runs and what its responder keeps; false when it is not theirs. */
  deleteSession(owner: string, session: string): Promise<boolean>;
  /** Carries on what others have left and throws away what is over, up to `limit` of each; how much. @default SHARED_LIMITS.sweepBatch */
  sweep(limit?: number): Promise<number>;
  /** Resolves when this process drives no run any more. */
  idle(): Promise<void>;
  /** Runs that this process drives. */
  readonly size: number;
  /** Takes no more; after `waitMs` milliseconds what is not finished is left to others. Again: harmless. @default 0 */
  close(waitMs?: number): Promise<void>;
}

/** Opens the service: declares its kinds, and listens to other processes. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { documents, logs, channel, responder, clock = systemClock, onProblem = () => {} } = options;
  await documents.declare(AGENT_KINDS);
  const runs = runsOf({ documents, clock, holder: newHolder(), inspector: options.inspector });
  const sessions = sessionsOf({ documents, clock, oracle: options.oracle });
  const transcript = transcriptOf(documents);
  const { tell: tellSockets, isHeard } = options;
  const room: Room = {
    ...rooms(channel, onProblem),
    ...(tellSockets && { tell: tellSockets }),
    ...(isHeard && { isHeard }),
  };
  const offers = await openOffers({ runs, channel, room, onProblem });
  const driven = new Set<Promise<void>>();
  let closing = false;

  const tell = (holder: string, run: string) => channel.publish(holderTopic(holder), run).catch(onProblem);
  const drive = (run: Run, secrets?: TurnSecrets): void => {
    const work = runner.drive(run, secrets).finally(() => driven.delete(work));
    driven.add(work);
  };
  // The next queued run is started by the process that accepted it: only that one has the secrets of its request.
  const onFree = async (session: string) => {
    const [next] = await runs.open(session);
    if (next?.state === 'queued') await tell(next.context.holder, next.id);
  };
  const common = { runs, sessions, transcript, logs, responder, clock, onProblem };
  const runner = makeRunner({
    ...common,
    room,
    hostTools: options.hostTools ?? (() => []),
    announce: offers.announce,
    replyBytes: options.replyBytes ?? AGENT_LIMITS.agentReplyBytes,
    settle: options.settle,
    instructions: options.instructions,
    onEvent: options.onEvent,
    onEnd: options.onEnd,
    onFree: (session) => onFree(session).catch(onProblem),
  });
  const waitingRuns = runQueue({ runs, clock, drive, onProblem });
  const recovery = recoveryOf({
    ...common,
    drive: (run) => drive(run, waitingRuns.secretsOf(run.id)),
    room: () => (closing ? 0 : AGENT_LIMITS.runsAtOnce - driven.size),
  });
  const unsubscribe = await channel.subscribe(holderTopic(runs.holder), {
    onMessage: (run) => void (runner.look(run) || waitingRuns.call(run)),
    onGap: () => {
      runner.lookAtAll();
      waitingRuns.callAll();
    },
  });

  async function stopRun(run: Run): Promise<boolean> {
    const stopping = await runs.abort(run.id);
    if (!stopping) return false;
    if (isEnded(stopping)) await recovery.recover(run.id).catch(onProblem);
    else await tell(stopping.context.holder, run.id);
    return true;
  }

  async function begin(run: NewRun, secrets: TurnSecrets): Promise<Run | undefined> {
    const begun = await runs.begin(run);
    if (begun) drive(begun, secrets);
    return begun;
  }

  async function queue(run: NewRun, secrets: TurnSecrets): Promise<Run> {
    const queued = await runs.queue(run);
    waitingRuns.join(queued.id, secrets);
    return queued;
  }

  async function send({ multitask = 'reject', secrets = {}, ...asked }: SendRequest): Promise<Sent> {
    const { owner, session, requestId, request, runId } = asked;
    checkRequest(request);
    if (!(await sessions.owns(owner, session))) return { kind: 'unknown' };
    const open = await runs.open(session);
    if (open[0] && multitask === 'reject') return { kind: 'busy', runId: open[0].id };
    if (closing || driven.size >= AGENT_LIMITS.runsAtOnce) return { kind: 'full' };
    if (multitask === 'interrupt') for (const run of [...open].reverse()) await stopRun(run);
    else if (open.length >= AGENT_LIMITS.runsPerSession) return { kind: 'full' };
    const turn = await sessions.nextTurn(owner, session);
    if (turn === undefined) return { kind: 'unknown' };
    const run = { owner, session, turn, requestId, request, ...(runId !== undefined && { id: runId }) };
    const taken =
      (open.length ? undefined : await begin(run, secrets)) ??
      (multitask === 'reject' ? undefined : await queue(run, secrets));
    if (taken) return { kind: 'accepted', run: runView(taken, clock.now()) };
    const [live] = await runs.open(session);
    // The one that was first has ended in this moment: this one begins anew.
    return live ? { kind: 'busy', runId: live.id } : send({ ...asked, multitask, secrets });
  }

  return {
    ...follower({ runs, logs, transcript, clock }),
    sessions,
    transcript,
    room,
    offers,
    send,
    async abort({ owner, session, runId }) {
      if (!(await sessions.owns(owner, session))) return undefined;
      const open = await runs.open(session);
      const run = runId === undefined ? open[0] : open.find(({ id }) => id === runId);
      return run ? stopRun(run) : false;
    },
    async openRun(owner, session) {
      if (!(await sessions.owns(owner, session))) return undefined;
      const [run] = await runs.open(session);
      return run ? runView(run, clock.now()) : null;
    },
    async answerCall({ owner, session, toolCallId, ...answer }) {
      const result = callResult(answer);
      const run = (await runs.open(session)).find(({ body, state }) => body.owner === owner && state === 'waiting');
      const answered = run && (await runs.answer(run.id, toolCallId, result));
      if (!answered) return false;
      await tell(answered.context.holder, answered.id);
      return true;
    },
    async deleteSession(owner, session) {
      if (!(await sessions.softDelete(owner, session))) return false;
      for (const run of (await runs.open(session)).reverse()) await stopRun(run);
      // What is still being written goes when the sweep looks once more.
      await recovery.clear(session).catch(onProblem);
      return true;
    },
    sweep: recovery.sweep,
    async idle() {
      while (driven.size) await Promise.all(driven);
    },
    get size() {
      return driven.size;
    },
    async close(waitMs = 0) {
      if (closing) return;
      closing = true;
      waitingRuns.close();
      const over = new AbortController();
      await Promise.race([Promise.all(driven), clock.wait(waitMs, over.signal)]);
      over.abort('over');
      runner.halt();
      await Promise.all(driven);
      offers.close();
      unsubscribe();
    },
  };
}

const holderTopic = (holder: string) => `agent/${holder}`;

function checkRequest(request: RunRequest): void {
  if (!fitsLevels(request, SHARED_LIMITS.jsonBodyDepth))
    throw new TwinlineError(
      'ERR_INPUT',
      `A message may nest ${SHARED_LIMITS.jsonBodyDepth} levels deep. Send flatter data.`,
    );
  if (fitsJson(request, AGENT_LIMITS.agentRequestBytes)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A message and what comes with it may have ${AGENT_LIMITS.agentRequestBytes} bytes of JSON. Send less, or attachments by their addresses.`,
  );
}
