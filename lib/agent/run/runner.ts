// Drives a run whose lease this process holds: writes the responder's parts as frames of its log, stores the answer, ends
// the run, closes its log. In this order, and each step is idempotent, so that another process can repeat it.

import { randomBytes } from 'node:crypto';
import type { RunEnd } from '../../../machines/agent-stream.ts';
import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { retryUntilAborted } from '../../retry.ts';
import type { LogStore } from '../../store/log-store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Responder, TurnSecrets, Usage } from '../responder.ts';
import { type Room, type RoomEvent, type RunRoomEvent, runRoom } from '../room.ts';
import { answerOf, questionOf, type Transcript } from '../session/message.ts';
import { type Sessions, titleOf } from '../session/session.ts';
import type { HostTool } from '../tool.ts';
import { type AnyFrame, doneData, type FrameName, logOf, type RunFault } from './frames.ts';
import { type HeldRun, holdRun, type StopReason } from './lease.ts';
import { type LogWriter, logWriter, type Replay, replayLog } from './log.ts';
import { makeReply, type Reply } from './reply.ts';
import { type Asked, type Given, giveReply } from './respond.ts';
import { isEnded, type Run, type Runs } from './run.ts';

/** A run that has ended, for metrics; holds no text of the conversation. */
export interface RunReport {
  readonly runId: string;
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
  readonly status: RunEnd;
  readonly usage: Usage;
  readonly fault?: RunFault;
}

export interface RunnerOptions {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly logs: LogStore;
  readonly room: Room;
  readonly responder: Responder;
  readonly hostTools: () => readonly HostTool[];
  readonly clock: Clock;
  readonly replyBytes: number;
  readonly announce: (session: string) => Promise<void>;
  readonly onProblem: (error: unknown) => void;
  readonly settle?: ((report: RunReport) => Promise<void>) | undefined;
  readonly instructions?: ((asked: Asked) => Promise<readonly string[]>) | undefined;
  readonly onEvent?: ((told: RunRoomEvent) => void) | undefined;
  readonly onEnd?: ((report: RunReport) => void) | undefined;
  /** A session has no live run any more. */
  readonly onFree: (session: string) => Promise<void>;
}

export interface Runner {
  /** Drives a run that this process has claimed; resolves when it has let go of it. Never rejects. */
  drive(run: Run, secrets?: TurnSecrets): Promise<void>;
  /** Somebody has changed the document of a run; false when this process does not hold it. */
  look(run: string): boolean;
  lookAtAll(): void;
  /** Stops every responder and lets others go on with the runs. */
  halt(): void;
}

/** The process that this is, as others address it. */
export function newHolder(): string {
  return randomBytes(8).toString('hex');
}

export function makeRunner(options: RunnerOptions): Runner {
  const { runs, clock, onProblem } = options;
  const held = new Map<string, HeldRun>();

  async function drive(run: Run, secrets: TurnSecrets = {}): Promise<void> {
    const lease = holdRun(run, { runs, clock, onProblem });
    held.set(run.id, lease);
    try {
      await (isEnded(run) ? closeLog(options, lease) : carryOut(options, lease, secrets));
    } catch (error) {
      // The process that claims the run next does the rest.
      if (!lease.lost.aborted) onProblem(error);
    } finally {
      lease.letGo();
      if (held.get(run.id) === lease) held.delete(run.id);
    }
  }

  return {
    drive,
    look(run) {
      held.get(run)?.look();
      return held.has(run);
    },
    lookAtAll: () => {
      for (const lease of held.values()) lease.look();
    },
    halt: () => {
      for (const lease of held.values()) lease.halt('closing');
    },
  };
}

interface Opened {
  readonly writer: LogWriter;
  readonly replay: Replay;
  readonly isEnded: boolean;
}

async function openLog({ logs, clock }: RunnerOptions, held: HeldRun): Promise<Opened> {
  const { id: run, context } = held.run;
  const { fence } = context;
  const claim = { fence, expiresAt: clock.now() + AGENT_LIMITS.runLogAliveMs };
  const opened = await whileHeld(held, clock, () => logs.open(logOf(run), claim));
  const onFenced = () => held.halt('lost');
  if (opened.kind === 'fenced') {
    onFenced();
    throw lostRun(run);
  }
  const replay = opened.last > 0 ? await whileHeld(held, clock, () => replayLog(logs, run)) : EMPTY_REPLAY;
  const writer = logWriter({ logs, clock, run, fence, last: replay.last, lost: held.lost, onFenced });
  return { writer, replay, isEnded: opened.ended };
}

const EMPTY_REPLAY: Replay = { last: 0, text: '', calls: new Map(), isBegun: false, names: new Set() };

async function carryOut(given: RunnerOptions, held: HeldRun, secrets: TurnSecrets): Promise<void> {
  const { run } = held;
  const options = { ...given, room: runRoom(given, run) };
  const { clock, room, sessions, transcript } = options;
  const [{ writer, replay }, session] = await Promise.all([
    openLog(options, held),
    whileHeld(held, clock, () => sessions.read(run.body.session)),
  ]);
  // Of a session that was deleted meanwhile nothing is kept.
  if (session) await whileHeld(held, clock, () => transcript.write(questionOf(run), { ...run.body, fence: 1 }));
  else held.halt('aborted');
  const write = (frame: AnyFrame) => {
    tellRoom(room, run, frame);
    return writer.write(frame);
  };
  const reply = makeReply({ run, replay, clock, maxBytes: options.replyBytes, write });
  await reply.open();
  const outcome = await attempt(options, { held, reply, replay, secrets });
  if (outcome.reason === 'lost') throw lostRun(run.id);
  if (outcome.reason === 'closing') {
    await writer.flush();
    held.letGo();
    await options.runs.release(held.run);
    return;
  }
  await finish(options, held, { reply, writer, given: outcome, isKept: session !== undefined });
}

interface Attempt {
  readonly held: HeldRun;
  readonly reply: Reply;
  readonly replay: Replay;
  readonly secrets: TurnSecrets;
}

type Outcome = Omit<Given, 'status'> & { readonly status: RunEnd; readonly reason?: StopReason };

async function attempt(options: RunnerOptions, { held, reply, replay, secrets }: Attempt): Promise<Outcome> {
  const isSpent = held.run.context.claims > AGENT_LIMITS.runClaims;
  if (!held.stop.aborted && (isSpent || (replay.isBegun && !options.responder.isResumable)))
    return { status: 'interrupted', usage: { inputTokens: 0, outputTokens: 0 } };
  const given = await giveReply(options, { held, reply, secrets, isResumed: replay.last > 0 });
  if (given.status !== 'stopped') return { ...given, status: given.status };
  const reason = held.lost.aborted ? 'lost' : (held.stop.reason as StopReason);
  const fault = reason === 'timeout' ? { fault: TOO_LONG } : {};
  return { ...given, ...fault, status: reason === 'aborted' ? 'aborted' : 'failed', reason };
}

const TOO_LONG: RunFault = { error: 'The reply took too long.', kind: 'timeout', status: 504, retryable: true };

interface Ending {
  readonly reply: Reply;
  readonly writer: LogWriter;
  readonly given: Outcome;
  /** The session is still there. */
  readonly isKept: boolean;
}

async function finish(options: RunnerOptions, held: HeldRun, { reply, writer, given, isKept }: Ending): Promise<void> {
  const { runs, transcript, sessions, clock, onEnd } = options;
  const { status, fault } = given;
  const { run } = held;
  if (status !== 'finished') reply.adopt();
  await reply.close(fault);
  await writer.flush();
  const answer = answerOf(run, reply.said());
  if (answer && isKept)
    await whileHeld(held, clock, () => transcript.write(answer, { ...run.body, fence: run.context.fence }));
  const report = reportOf(run, given);
  await whileHeld(held, clock, async () => options.settle?.(report));
  // From here on there is nothing to renew: the run ends, or another process has it.
  held.letGo();
  const ended = await whileHeld(held, clock, () => runs.end(run, status));
  if (!ended) throw lostRun(run.id);
  await writer.end({ name: 'done', data: doneData(run.id, status, partialText(status, reply.said().text)) });
  onEnd?.(report);
  await options.onFree(run.body.session);
  const title = titleOf(given.title ?? run.body.request.message);
  if (answer && isKept)
    await whileHeld(held, clock, () =>
      sessions.change(run.body.session, (body) => ({ title: body.title ?? (title || null) })),
    );
  await whileHeld(held, clock, () => runs.seal(ended));
}

function reportOf({ id, body }: Run, { status, usage, fault }: Outcome): RunReport {
  const { owner, session, requestId } = body;
  return { runId: id, owner, session, requestId, status, usage, ...(fault && { fault }) };
}

/** A run that has ended without a last frame: it was aborted in line, or its process died too early. */
async function closeLog(options: RunnerOptions, held: HeldRun): Promise<void> {
  const { run } = held;
  const { clock, runs, sessions, transcript } = options;
  const { writer, replay, isEnded } = await openLog(options, held);
  const session = await whileHeld(held, clock, () => sessions.read(run.body.session));
  if (session) await whileHeld(held, clock, () => transcript.write(questionOf(run), { ...run.body, fence: 1 }));
  const status = run.state as RunEnd;
  if (!isEnded) {
    if (!replay.names.has('run')) {
      const { requestId } = run.body;
      await writer.write({ name: 'run', data: { runId: run.id, requestId, status: 'running' } });
    }
    await writer.end({ name: 'done', data: doneData(run.id, status, partialText(status, replay.text)) });
  }
  await options.onFree(run.body.session);
  await whileHeld(held, clock, () => runs.seal(run));
}

function partialText(status: RunEnd, text: string): string | undefined {
  const fits =
    text.length * 2 <= AGENT_LIMITS.frameJsonBytes &&
    Buffer.byteLength(JSON.stringify(text)) <= AGENT_LIMITS.frameJsonBytes;
  return status !== 'finished' && fits ? text : undefined;
}

/** Tries again what a store refuses for the moment, as long as the run is held. */
function whileHeld<T>({ lost }: HeldRun, clock: Clock, work: () => Promise<T>): Promise<T> {
  return retryUntilAborted({ clock, signal: lost }, work);
}

const TOLD: { readonly [name in FrameName]?: RoomEvent } = {
  tool_call: 'tool_call',
  action_call: 'action_call',
  render_component: 'render_component',
  'router.update': 'router_update',
  reasoning: 'reasoning',
};

function tellRoom(room: Room, run: Run, frame: AnyFrame): void {
  const event = TOLD[frame.name];
  // That an action is called is told when the call is stored: an answer that comes at once must find it.
  const isCall = frame.name === 'action_call' && frame.data.status === 'isRunning';
  if (event && !isCall) void room.tell(run.body.session, event, frame.data);
}

function lostRun(run: string): TwinlineError {
  return new TwinlineError(
    'ERR_CONFLICT',
    `Run ${run} is no longer held by this process. Another one goes on with it.`,
  );
}
