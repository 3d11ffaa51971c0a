// The agent service without HTTP: sessions, messages, the runs that answer them, and tool calls on the client side.

import { settledTime, systemClock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { requireGiven } from '../given.ts';
import type { Subscriber } from '../store/channel.ts';
import { AGENT_KINDS } from './kinds.ts';
import { AGENT_LIMITS } from './limits.ts';
import type { AgentOptions } from './options.ts';
import type { CallAnswer, SendRequest, Sent } from './requests.ts';
import type { TurnSecrets } from './responder.ts';
import { type Offers, openOffers, type Room, rooms } from './room.ts';
import { recovery, runQueue } from './run/claims.ts';
import { type Follower, follower } from './run/frames.ts';
import { checkRequest, isEnded, type NewRun, openRuns, type Run, type RunView, runView } from './run/run.ts';
import { makeRunner, newHolder } from './run/runner.ts';
import { openTranscript, type Transcript } from './session/message.ts';
import { quotaGuard } from './session/quota.ts';
import { openSessions, type Sessions } from './session/session.ts';
import { callResult } from './tool.ts';

/** Every function may throw ERR_STORE, ERR_CONFLICT or ERR_BUSY, which are worth retrying. */
export interface Agent extends Follower {
  /** `create` throws ERR_QUOTA when the user has too many sessions. */
  readonly sessions: Pick<Sessions, 'create' | 'list' | 'get' | 'owns'>;
  readonly transcript: Pick<Transcript, 'page' | 'all'>;
  readonly room: Room;
  /**
   * Throws ERR_QUOTA over the daily quota, and ERR_INPUT when the request exceeds AGENT_LIMITS.agentRequestBytes, nests
   * deeper than COMMON_LIMITS.jsonBodyDepth or contains a lone surrogate.
   */
  send(request: SendRequest): Promise<Sent>;
  /**
   * Aborts a session's live run, or the named one. `true`: it was open and will end, as aborted unless it has just finished.
   * `undefined`: the session is not the owner's.
   */
  abort(request: { owner: string; session: string; runId?: string }): Promise<boolean | undefined>;
  /** A session's live run, or the first in the queue; null when none is open, undefined when the session is not the owner's. */
  openRun(owner: string, session: string): Promise<RunView | null | undefined>;
  readonly offers: Pick<Offers, 'listWaiting' | 'take'>;
  /**
   * True when a run of this session is waiting for this call; late, foreign and repeated answers change nothing. Throws
   * ERR_INPUT when the answer is too large.
   */
  answerCall(answer: CallAnswer): Promise<boolean>;
  /** Deletes a session with its transcript, runs and responder state; false when it is not the owner's. */
  deleteSession(owner: string, session: string): Promise<boolean>;
  /**
   * Takes over abandoned runs and deletes expired data, up to `limit` of each; returns how many.
   * @default COMMON_LIMITS.sweepBatch
   */
  sweep(limit?: number): Promise<number>;
  /** Resolves once this process drives no runs. */
  idle(): Promise<void>;
  /** Runs driven by this process. */
  readonly size: number;
  /** Accepts no more messages; runs unfinished after `waitMs` milliseconds are left to other processes. Idempotent. @default 0 */
  close(waitMs?: number): Promise<void>;
}

/**
 * Opens the service: declares its document kinds and subscribes to other processes.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(AGENT_KINDS);
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const responder = flowResponder({ store: memorySnapshots(), conversations: [hello], flow: 'hello' });
 * const oracle = { name: 'Tea', did: 'did:ex:tea', entityDid: 'did:ex:tea' };
 * const agent = await openAgent({ documents, logs: memoryLogs(), channel: memoryChannel(), responder, oracle });
 * const { sessionId: session } = await agent.sessions.create('did:ex:ann');
 * await agent.send({ owner: 'did:ex:ann', session, requestId: 'r1', request: { message: 'Hi' } });
 * await agent.idle();
 * (await agent.transcript.all(session)).map(({ content }) => content); // → ['Hi', 'Hello\n1. Leave']
 * await agent.close();
 */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  requireGiven('open an agent', options, {
    documents: 'documents',
    logs: 'logs',
    channel: 'messages',
    responder: 'responder',
    oracle: 'object',
    clock: 'clock?',
  });
  const parts = await openParts(options);
  const { runs, logs, sessions, transcript, quota, room, offers, queue, driven, clock, notifyHolder } = parts;
  const { send, stopRun } = inbox(parts);
  const { deleteSession, sweepUnused } = sessionEnds(parts, stopRun);
  return {
    ...follower({ runs, logs, transcript, clock }),
    sessions: {
      ...sessions,
      create: (owner) => quota.createSession(owner, sessions),
    },
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
      await notifyHolder(answered.context.holder, answered.id);
      return true;
    },
    deleteSession: (owner, session) => deleteSession(owner, session),
    sweep: async (limit = COMMON_LIMITS.sweepBatch) =>
      (await parts.sweep(limit)) + (await sweepUnused(limit)) + (await quota.sweep(limit)),
    async idle() {
      while (driven.size) await Promise.all(driven);
    },
    get size() {
      return driven.size;
    },
    async close(waitMs = 0) {
      if (parts.closing.aborted) return;
      parts.endIntake();
      queue.close();
      const over = new AbortController();
      await Promise.race([Promise.all(driven), clock.wait(waitMs, over.signal)]);
      over.abort('over');
      parts.runner.halt();
      await Promise.all(driven);
      offers.close();
      parts.unsubscribe();
    },
  };
}

type AgentParts = Awaited<ReturnType<typeof openParts>>;

/** The stores of an agent, the runs that this process drives, and what other processes tell about them. */
async function openParts(options: AgentOptions) {
  const { documents, logs, channel, responder, clock = systemClock, onProblem = () => {} } = options;
  settledTime(clock);
  await documents.declare(AGENT_KINDS);
  const runs = openRuns({ documents, clock, holder: newHolder(), inspector: options.inspector });
  const sessions = openSessions({ documents, clock, oracle: options.oracle });
  const transcript = openTranscript(documents);
  const quota = quotaGuard({ documents, clock }, options.quotas ?? AGENT_LIMITS);
  const { tell, isHeard, keepSessionsMs = Number.POSITIVE_INFINITY } = options;
  const room: Room = { ...rooms(channel, onProblem), ...(tell && { tell }), ...(isHeard && { isHeard }) };
  const offers = await openOffers({ runs, channel, room, onProblem });
  const driven = new Set<Promise<void>>();
  const intake = new AbortController();
  const closing = intake.signal;

  const notifyHolder = (holder: string, run: string) => channel.publish(holderTopic(holder), run).catch(onProblem);
  const drive = (run: Run, secrets?: TurnSecrets): void => {
    const work = runner.drive(run, secrets).finally(() => driven.delete(work));
    driven.add(work);
  };
  // The next queued run is started by the process that accepted it, which alone has the secrets of its request.
  const startNext = async (session: string) => {
    const [next] = await runs.open(session);
    if (next?.state === 'queued') await notifyHolder(next.context.holder, next.id);
  };
  const common = { runs, sessions, transcript, logs, responder, clock, onProblem };
  const runner = makeRunner({
    ...options,
    ...common,
    room,
    hostTools: options.hostTools ?? (() => []),
    announce: offers.announce,
    replyBytes: options.replyBytes ?? AGENT_LIMITS.agentReplyBytes,
    onFree: (session) => startNext(session).catch(onProblem),
  });
  const queue = runQueue({ runs, clock, drive, onProblem });
  const recovered = recovery({
    ...common,
    drive: (run) => drive(run, queue.secrets(run.id)),
    capacity: () => (closing.aborted ? 0 : AGENT_LIMITS.runsAtOnce - driven.size),
  });
  const subscriber: Subscriber = {
    onMessage: (run) => void (runner.reload(run) || queue.wake(run)),
    onGap: () => {
      runner.reloadAll();
      queue.wakeAll();
    },
  };
  const unsubscribe = await channel.subscribe(holderTopic(runs.holder), subscriber).catch((error: unknown) => {
    offers.close();
    throw error;
  });
  return {
    ...common,
    ...recovered,
    ...{ quota, room, offers, runner, queue, driven, keepSessionsMs, notifyHolder, drive, unsubscribe },
    closing,
    endIntake: () => intake.abort(),
  };
}

/** Takes messages, and stops the runs that answer them. */
function inbox(parts: AgentParts) {
  const { runs, sessions, quota, queue, driven, clock, closing, drive, recover, notifyHolder, onProblem } = parts;

  async function stopRun(run: Run): Promise<boolean> {
    const stopping = await runs.abort(run.id);
    if (!stopping) return false;
    if (isEnded(stopping)) await recover(run.id).catch(onProblem);
    else await notifyHolder(stopping.context.holder, run.id);
    return true;
  }

  /** Starts the run, or queues it behind open ones; undefined when it may not wait and another run is live. */
  async function accept(run: NewRun, { isFirst, mayWait, secrets }: Acceptance): Promise<Run | undefined> {
    const started = isFirst ? await runs.begin(run) : undefined;
    if (started) drive(started, secrets);
    if (started || !mayWait) return started;
    const queued = await runs.queue(run);
    queue.add(queued.id, secrets);
    return queued;
  }

  async function send({ multitask = 'reject', secrets = {}, client, ...message }: SendRequest): Promise<Sent> {
    const { owner, session, requestId, request, runId } = message;
    const document = await sessions.readOwned(owner, session);
    if (!document) return { kind: 'unknown' };
    checkRequest(request);
    const open = await runs.open(session);
    if (open[0] && multitask === 'reject') return { kind: 'busy', runId: open[0].id };
    if (closing.aborted || driven.size >= AGENT_LIMITS.runsAtOnce) return { kind: 'full' };
    if (multitask !== 'interrupt' && open.length >= AGENT_LIMITS.runsPerSession) return { kind: 'full' };
    await quota.countBytes({ owner, bytes: Buffer.byteLength(JSON.stringify(request)), client });
    if (multitask === 'interrupt') for (const run of [...open].reverse()) await stopRun(run);
    const turn = await sessions.nextTurn(document);
    if (turn === undefined) return { kind: 'unknown' };
    const run = { owner, session, turn, requestId, request, ...(runId !== undefined && { id: runId }) };
    const accepted = await accept(run, { isFirst: open.length === 0, mayWait: multitask !== 'reject', secrets });
    if (accepted) return { kind: 'accepted', run: runView(accepted, clock.now()) };
    const [live] = await runs.open(session);
    // The run that blocked this one has just ended: try again.
    return live
      ? { kind: 'busy', runId: live.id }
      : send({ ...message, multitask, secrets, ...(client !== undefined && { client }) });
  }

  return { send, stopRun };
}

/** Deletes sessions: those that their users delete, and those that have not been used for too long. */
function sessionEnds(parts: AgentParts, stopRun: (run: Run) => Promise<boolean>) {
  const { runs, sessions, clock, keepSessionsMs, clear, onProblem } = parts;

  async function deleteSession(owner: string, session: string, unusedSince?: number): Promise<boolean> {
    if (!(await sessions.softDelete(owner, session, unusedSince))) return false;
    for (const run of (await runs.open(session)).reverse()) await stopRun(run);
    // The sweep removes whatever is still being written.
    await clear(session).catch(onProblem);
    return true;
  }

  async function sweepUnused(limit: number): Promise<number> {
    const before = settledTime(clock) - keepSessionsMs;
    if (!Number.isFinite(before)) return 0;
    const unused = await sessions.listUnused(before, limit);
    for (const { owner, id } of unused) await deleteSession(owner, id, before);
    return unused.length;
  }

  return { deleteSession, sweepUnused };
}

interface Acceptance {
  readonly isFirst: boolean;
  readonly mayWait: boolean;
  readonly secrets: TurnSecrets;
}

const holderTopic = (holder: string) => `agent/${holder}`;
