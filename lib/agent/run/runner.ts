// Drives a run that this process holds: writes the responder's parts as frames, stores the answer, ends the run, closes the
// log. Each step is idempotent and the order matters, so that another process can repeat them.

import { randomBytes } from 'node:crypto';
import type { RunEnd } from '../../../machines/run-ends.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions, RunStart } from '../options.ts';
import type { TokenUsage, TurnSecrets } from '../responder.ts';
import { type Room, type RoomEvent, runRoom } from '../room.ts';
import { makeAnswer, makeQuestion } from '../session/message.ts';
import { makeTitle } from '../session/session.ts';
import type { FrameName, RunFault } from './frame-data.ts';
import { type AnyFrame, doneData } from './frames.ts';
import { type HeldRun, holdRun, lostRunError, type StopReason } from './lease.ts';
import { openLog } from './log.ts';
import { type PartsResult, readParts } from './parts.ts';
import { RunReply, type RunTurn } from './reply.ts';
import { isEnded, type Run } from './run.ts';

/** A new address for this process. */
export function newHolder(): string {
  return randomBytes(8).toString('hex');
}

export function makeRunner(options: RunnerOptions) {
  const leases = new Map<string, HeldRun>();
  return {
    /** Drives a claimed run; resolves when it no longer holds it. Never rejects. */
    async drive(run: Run, secrets: TurnSecrets = {}): Promise<void> {
      const lease = holdRun(run, options);
      leases.set(run.id, lease);
      try {
        await (isEnded(run) ? closeLog(options, lease) : answer(options, lease, secrets));
      } catch (error) {
        // The process that claims the run next does the rest.
        if (!lease.lost.aborted) options.onProblem(error);
      } finally {
        lease.release();
        if (leases.get(run.id) === lease) leases.delete(run.id);
      }
    },
    /** Rereads a run that another process has changed; false when this process does not hold it. */
    reload(run: string): boolean {
      leases.get(run)?.reload();
      return leases.has(run);
    },
    reloadAll: () => {
      for (const lease of leases.values()) lease.reload();
    },
    /** Stops every responder and leaves the runs to other processes. */
    halt: () => {
      for (const lease of leases.values()) lease.halt('closing');
    },
  };
}

async function answer(runnerOptions: RunnerOptions, lease: HeldRun, secrets: TurnSecrets): Promise<void> {
  const { run } = lease;
  const options = { ...runnerOptions, room: runRoom(runnerOptions, run) };
  const [{ writer, replay }, isKept] = await Promise.all([openLog(options, lease), isSessionKept(options, lease)]);
  if (isKept) await storeQuestion(options, lease);
  // If the session was deleted in the meantime, its messages are not stored.
  else lease.halt('aborted');
  const write = (frame: AnyFrame) => {
    sendToRoom(options.room, run, frame);
    return writer.write(frame);
  };
  const reply = new RunReply(options, { run, replay, write });
  await reply.open();
  const turn = { held: lease, secrets, writer, replay, reply, isKept };
  const result = await respond(options, turn);
  if (result.reason === 'lost') throw lostRunError(run.id);
  if (result.reason !== 'closing') return finish(options, turn, result);
  await writer.flush();
  lease.release();
  await options.runs.release(lease.run);
}

const isSessionKept = async ({ sessions }: RunnerOptions, lease: HeldRun) =>
  (await lease.retry(() => sessions.read(lease.run.body.session))) !== undefined;

const storeQuestion = ({ transcript }: RunnerOptions, lease: HeldRun) =>
  lease.retry(() => transcript.write(makeQuestion(lease.run), { ...lease.run.body, fence: 1 }));

type RunResult = Omit<PartsResult, 'status'> & { readonly status: RunEnd; readonly reason?: StopReason };

async function respond(options: RunnerOptions, turn: RunTurn): Promise<RunResult> {
  const { held, replay } = turn;
  const isSpent = held.run.context.claims > AGENT_LIMITS.runClaims;
  if (!held.stop.aborted && (isSpent || (replay.isBegun && !options.responder.isResumable)))
    return { status: 'interrupted', usage: NO_USAGE };
  const refusal = held.stop.aborted ? undefined : await held.retry(async () => options.begin?.(toStart(held.run)));
  if (refusal) return { status: 'failed', fault: refusal, usage: NO_USAGE };
  const { status, ...result } = await readParts(options, turn);
  if (status !== 'stopped') return { ...result, status };
  const reason = held.lost.aborted ? 'lost' : (held.stop.reason as StopReason);
  const fault = reason === 'timeout' ? { fault: TOO_SLOW } : {};
  return { ...result, ...fault, status: reason === 'aborted' ? 'aborted' : 'failed', reason };
}

const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0 };
const TOO_SLOW: RunFault = { error: 'The reply took too long.', kind: 'timeout', status: 504, retryable: true };

async function finish(options: RunnerOptions, turn: RunTurn, result: RunResult): Promise<void> {
  const { runs, transcript, sessions, settle, onEnd } = options;
  const { held, reply, writer, isKept } = turn;
  const { status, fault, usage } = result;
  const { run } = held;
  const { session, request } = run.body;
  if (status !== 'finished') reply.keepReplayed();
  await reply.close(fault);
  await writer.flush();
  const message = isKept ? makeAnswer(run, reply.content()) : undefined;
  if (message) await held.retry(() => transcript.write(message, { ...run.body, fence: run.context.fence }));
  // Counts the last frame, which is written below.
  const report = { ...toStart(run), status, usage, frames: writer.last + 1, ...(fault && { fault }) };
  await held.retry(async () => settle?.(report));
  // No more renewals: from here the run ends, or another process takes over.
  held.release();
  const endedRun = await held.retry(() => runs.end(run, status));
  if (!endedRun) throw lostRunError(run.id);
  await writer.end(doneFrame(run.id, status, reply.content().text));
  onEnd?.(report);
  await options.onFree(session);
  const title = makeTitle(result.title ?? request.message);
  if (message) await held.retry(() => sessions.change(session, (body) => ({ title: body.title ?? (title || null) })));
  await held.retry(() => runs.seal(endedRun));
}

function toStart({ id, body: { owner, session, requestId } }: Run): RunStart {
  return { runId: id, owner, session, requestId };
}

/** Closes the log of a run that ended without a last frame: it was aborted in the queue, or its process died. */
async function closeLog(options: RunnerOptions, lease: HeldRun): Promise<void> {
  const { run } = lease;
  const { writer, replay, isEnded: isClosed } = await openLog(options, lease);
  if (await isSessionKept(options, lease)) await storeQuestion(options, lease);
  if (!isClosed) {
    const data = { runId: run.id, requestId: run.body.requestId, status: 'running' as const };
    if (!replay.names.has('run')) await writer.write({ name: 'run', data });
    await writer.end(doneFrame(run.id, run.state as RunEnd, replay.text));
  }
  await options.onFree(run.body.session);
  await lease.retry(() => options.runs.seal(run));
}

function doneFrame(run: string, status: RunEnd, text: string): AnyFrame {
  const fits =
    text.length * 2 <= AGENT_LIMITS.frameJsonBytes &&
    Buffer.byteLength(JSON.stringify(text)) <= AGENT_LIMITS.frameJsonBytes;
  return { name: 'done', data: doneData(run, status, status !== 'finished' && fits ? text : undefined) };
}

const EVENT_OF_FRAME: { readonly [name in FrameName]?: RoomEvent } = {
  tool_call: 'tool_call',
  action_call: 'action_call',
  render_component: 'render_component',
  'router.update': 'router_update',
  reasoning: 'reasoning',
};

function sendToRoom(room: Room, run: Run, frame: AnyFrame): void {
  const event = EVENT_OF_FRAME[frame.name];
  // An action is announced when the call is stored, so that an immediate answer finds it.
  const isCall = frame.name === 'action_call' && frame.data.status === 'isRunning';
  if (event && !isCall) void room.tell(run.body.session, event, frame.data);
}
