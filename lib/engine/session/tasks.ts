// Tasks: calls of services after the reply, at least once. They are stored with the reply, so nothing that happens later, no crash, hang-up or
// new dial, takes them away, and no machine waits for them. Who stored them makes them; when that process is gone, or a try has
// failed, whoever wakes the session does.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { ERROR_CODES, type ErrorCode, TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { listTexts } from '../../redact.ts';
import { retryDelay } from '../../retry.ts';
import type { StoredSession } from '../../store/store.ts';
import type { CallOutcome } from '../calls.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { ServiceError } from '../service.ts';
import { readRecord, sealRecord } from './open.ts';
import { encodeRecord, type SessionRecord, type SessionTask } from './record.ts';
import { type CallingTurn, callKey, readInput, serviceSession, storeInput } from './working-calls.ts';

/** The action by which a machine asks for a task. */
const TASK = 'task';

/** The task that an action of the machine asks for; undefined for any other action. */
export function readTask(
  engine: Engine,
  work: CallingTurn,
  { name, params }: { readonly name: string; readonly params: Json },
): SessionTask | undefined {
  if (name !== TASK || !work.conversation.taskPolicy) return undefined;
  const { id, service, input } = params as { readonly id: string; readonly service: string; readonly input: Json };
  const { timeoutMs, failuresMax } = work.conversation.taskPolicy(id);
  const key = callKey(work, id);
  const until = engine.clock.now() + timeoutMs + ENGINE_LIMITS.turnReserveMs;
  const session = serviceSession(work);
  return { id, service, key, until, timeoutMs, failures: 0, failuresMax, session, ...storeInput(engine, key, input) };
}

/** When the first of them may be due; null without any. */
export const nextTaskAt = (tasks: readonly SessionTask[]): number | null =>
  tasks.length ? Math.min(...tasks.map(({ until }) => until)) : null;

/** Until when a session is kept that would expire then: for as long after its last task as an ended one. */
export const keepForTasks = (tasks: readonly SessionTask[], expiresAt: number): number =>
  tasks.reduce((at, { until }) => Math.max(at, until + ENGINE_LIMITS.endedSessionSeconds * 1_000), expiresAt);

/** Makes tasks that are stored, under their leases. */
export function startTasks(engine: Engine, key: string, tasks: readonly SessionTask[]): void {
  for (const task of tasks) void startTask(engine, key, task);
}

// Never rejects.
async function startTask(engine: Engine, key: string, task: SessionTask): Promise<void> {
  const { timeoutMs, session, service } = task;
  const { onProblem } = engine;
  const { input } = readInput(engine, task);
  const onFailure = onProblem && ((error: unknown) => onProblem({ key, reason: 'service', service, error }));
  const answer: Promise<CallOutcome> =
    input === undefined
      ? Promise.resolve(KEY_GONE)
      : engine.calls.start({
          call: task,
          input,
          policy: { timeoutMs, retries: 0, secret: false },
          session,
          privates: () => listTexts(input),
          onFailure,
        });
  const outcome = await answer;
  try {
    await storeOutcome(engine, key, { task, outcome });
  } catch (error) {
    onProblem?.({ key, reason: 'background', error });
  } finally {
    engine.calls.forget(task.key);
  }
}

const KEY_GONE: CallOutcome = {
  ok: false,
  error: { code: 'ERR_SERVICE', message: 'Its input holds credentials, and the key that sealed it is gone.' },
};

const STORE_BACKOFF = { firstMs: 100, maxMs: 400 };

// A store that is away for a moment must not have a task done twice: this is tried until the lease ends.
async function storeOutcome(
  engine: Engine,
  key: string,
  { task, outcome }: { readonly task: SessionTask; readonly outcome: CallOutcome },
): Promise<void> {
  const { clock } = engine;
  const next = outcome.ok ? undefined : afterFailure(task, outcome.retry === true, clock.now());
  const change = (tasks: readonly SessionTask[]) =>
    tasks.flatMap((other) => (other.key === task.key ? (next ?? []) : other));
  for (let tries = 1; ; tries++) {
    try {
      await engine.inOrder(key, () => changeTasks(engine, key, change));
      break;
    } catch (error) {
      const pause = retryDelay(tries, STORE_BACKOFF);
      const mayPass = error instanceof TwinlineError && error.retry && error.reason !== 'closed';
      if (!mayPass || clock.now() + pause >= task.until) throw error;
      await clock.wait(pause);
    }
  }
  if (outcome.ok || next) return;
  const { service, id: call } = task;
  engine.onProblem?.({ key, reason: 'task', service, call, error: readError(outcome.error) });
}

function readError({ code, message }: { readonly code: string; readonly message: string }): Error {
  return Object.hasOwn(ERROR_CODES, code)
    ? new TwinlineError(code as ErrorCode, message)
    : new ServiceError(code, message);
}

const BACKOFF = { firstMs: ENGINE_LIMITS.taskBackoffMs, maxMs: ENGINE_LIMITS.taskBackoffMaxMs };

// The task as it is to be tried again, or undefined when it is given up.
function afterFailure(task: SessionTask, mayPass: boolean, now: number): SessionTask | undefined {
  const failures = task.failures + 1;
  if (!mayPass || failures >= task.failuresMax) return undefined;
  return { ...task, failures, until: now + retryDelay(failures, BACKOFF) };
}

/** Whether a task waits for its next try, or has lost the process that made it. */
export const hasDueTask = ({ tasks }: SessionRecord, now: number): boolean =>
  tasks?.some(({ until }) => until <= now) ?? false;

/** Makes the tasks of a session that are due. Of several processes that do so, one makes each. */
export async function makeDueTasks(engine: Engine, key: string): Promise<void> {
  const now = engine.clock.now();
  let claimed: SessionTask[] = [];
  const claim = (task: SessionTask): SessionTask => {
    if (task.until > now) return task;
    const next = { ...task, until: now + task.timeoutMs + ENGINE_LIMITS.turnReserveMs };
    // One that goes on here has outlived its lease because the process stood still.
    if (!engine.calls.find(task.key)) claimed.push(next);
    return next;
  };
  await changeTasks(engine, key, (tasks) => {
    claimed = [];
    return tasks.map(claim);
  });
  startTasks(engine, key, claimed);
}

// Only the tasks of the record change: turn key, reply and machine stay what they are.
async function changeTasks(
  engine: Engine,
  key: string,
  change: (tasks: readonly SessionTask[]) => readonly SessionTask[],
): Promise<void> {
  for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
    const stored = await engine.store.load(key);
    const record = stored && readRecord(engine, key, stored);
    if (!stored || typeof record !== 'object') return;
    const tasks = change(record.tasks ?? []);
    if (await storeTasks(engine, key, { stored, record: { ...record, tasks } })) return;
  }
  throw new TwinlineError('ERR_CONFLICT', 'Others wrote to the session at the same time, again and again.');
}

async function storeTasks(
  engine: Engine,
  key: string,
  { stored, record }: { readonly stored: StoredSession; readonly record: SessionRecord },
): Promise<boolean> {
  const { revision, ...same } = stored;
  const { timers, calls, tasks = [] } = record;
  const times = [...timers.map(({ at }) => at), ...[...calls, ...tasks].map(({ until }) => until)];
  const { kind } = await engine.store.commit(key, revision, {
    ...same,
    record: encodeRecord(key, record.isPrivate ? sealRecord(engine, key, record) : record, engine.seals[0]),
    expiresAt: keepForTasks(tasks, stored.expiresAt),
    dueAt: times.length ? Math.min(...times) : null,
  });
  if (kind === 'conflict') return false;
  engine.noteChange(key);
  return true;
}
