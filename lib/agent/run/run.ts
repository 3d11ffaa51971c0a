// Stored runs: started or queued, claimed under a fence, ended once; at most one per session is live.

import { randomUUID } from 'node:crypto';
import {
  agentStream,
  type CallResult,
  type RunCall,
  type RunContext,
  type RunEvent,
  type RunState,
} from '../../../machines/agent-stream.ts';
import { RUN_ENDS, type RunEnd } from '../../../machines/run-ends.ts';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { Inspector } from '../../engine/conversation.ts';
import { type Instance, lifecycle } from '../../engine/lifecycle/lifecycle.ts';
import { type AtRest, compileMachine } from '../../engine/machine/transition.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { findDue } from '../../store/due.ts';
import type { DocumentStore, Query, StoredDocument } from '../../store/store.ts';
import { RUN } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { fitsJson, fitsLevels } from '../well-formed.ts';

/** A user's message with its options, validated by the route. Stored, so it contains no secrets. */
export type RunRequest = {
  readonly message: string;
  readonly attachments?: readonly JsonObject[];
  /** Tools of the user's browser. */
  readonly tools?: readonly ToolDeclaration[];
  /** Actions of the user's interface. */
  readonly agActions?: readonly (ToolDeclaration & { readonly hasRender?: boolean })[];
  readonly metadata?: JsonObject;
  readonly timezone?: string;
  readonly locale?: string;
  readonly homeServer?: string;
  readonly model?: string;
};

/** A tool declared by the client. */
export type ToolDeclaration = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, not validated. */
  readonly schema: JsonObject;
};

/** The fields of a run's document besides the machine. */
export type StoredRun = JsonObject & {
  readonly owner: string;
  readonly session: string;
  readonly turn: number;
  readonly requestId: string;
  readonly request: RunRequest;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly status: RunState;
  readonly liveFor: string | null;
  readonly openFor: string | null;
  readonly wakeAt: number;
};

export type Run = Instance<RunContext, StoredRun>;

/** A run as shown to clients. */
export type RunView = {
  readonly runId: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly status: 'queued' | 'running' | 'recovering' | RunEnd;
};

export interface NewRun {
  /** A UUID. @default a new one */
  readonly id?: string;
  readonly owner: string;
  readonly session: string;
  readonly turn: number;
  readonly requestId: string;
  readonly request: RunRequest;
}

export interface RunsOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly holder: string;
  /** Receives the inspection events of runs. */
  readonly inspector?: Inspector | undefined;
}

/** The stored runs. Every function may throw ERR_STORE, ERR_CONFLICT or ERR_BUSY: then retry. */
export type Runs = ReturnType<typeof openRuns>;

export function openRuns({ documents, clock, holder, inspector }: RunsOptions) {
  const lifecycleOptions = { documents, kind: RUN, machine: MACHINE, clock, inspector, fields: readIndexFields };
  const machines = lifecycle<RunContext, StoredRun>(lifecycleOptions);
  const leaseMs = AGENT_LIMITS.runLeaseMs;

  async function insert({ id = randomUUID(), ...run }: NewRun, inLine: boolean): Promise<Run> {
    const { owner, session, turn, requestId, request } = run;
    const body = { owner, session, turn, requestId, request, created: clock.now() };
    const start = await machines.begin(id, { input: { session, turn, inLine, holder, leaseMs }, body });
    if (start.repeated) throw new TwinlineError('ERR_EXISTS', `Run ${id} already exists.`);
    return start.instance;
  }

  /** Undefined when the run does not exist or its state does not accept the event. */
  const send: SendEvent = async (id, event) => {
    try {
      return (await machines.take(id, { decide: () => (typeof event === 'function' ? event() : event) })).instance;
    } catch (error) {
      if (error instanceof TwinlineError && NOT_TAKEN.has(error.code)) return undefined;
      throw error;
    }
  };

  async function findIds(index: string, where: NonNullable<Query['where']>, limit: number): Promise<string[]> {
    return (await documents.find(RUN, { index, where, limit })).items.map(({ id }) => id);
  }

  return {
    /** This process's address for other processes. */
    holder,
    /** Stores a run held by this process; undefined when another run of the session is live. */
    begin: (run: NewRun): Promise<Run | undefined> =>
      insert(run, false).catch((error) => {
        if (isTaken(error)) return undefined;
        throw error;
      }),
    /** Stores a run behind the open ones. */
    queue: (run: NewRun): Promise<Run> => insert(run, true),
    get: async (id: string): Promise<Run | undefined> => (RUN_ID.test(id) ? machines.read(id) : undefined),
    /** Runs that have not ended, oldest first; the live one, if any, is the first. */
    async open(session: string): Promise<Run[]> {
      const { items } = await documents.find(RUN, { index: 'open', where: { openFor: session } });
      return Promise.all(items.map((item) => machines.refresh(item)));
    },
    /** Leases the run to this process; `held`: leased by another, `behind`: an earlier run is open, `gone`: nothing to do. */
    async claim(id: string): Promise<Run | 'held' | 'behind' | 'gone'> {
      const run = await machines.read(id);
      if (!run || run.context.sealed) return 'gone';
      if (run.state === 'queued' && (await findIds('open', { openFor: run.body.session }, 1))[0] !== id)
        return 'behind';
      try {
        return (await send(id, { type: 'CLAIM', holder, leaseMs })) ?? 'held';
      } catch (error) {
        if (isTaken(error)) return 'behind';
        throw error;
      }
    },
    ...runEvents(send, clock),
    /** Ids of runs whose `wakeAt` has passed, such as those with an expired lease. */
    async due(limit: number): Promise<string[]> {
      // An ended run may still have a log to close: it is due, too.
      const isOver = ({ body }: StoredDocument) => body.openFor === null;
      const query = { index: 'wake', field: 'wakeAt', limit, isOver };
      return (await findDue({ documents, clock }, RUN, query)).map(({ id }) => id);
    },
    /** Ids of all runs of a session, including ended ones. */
    ofSession: (session: string, limit: number) => findIds('session', { session }, limit),
    remove: async (id: string) => void (await documents.remove(RUN, id)),
  };
}

/** Sends an event to a run; undefined when the run does not exist or its state does not accept the event. */
type SendEvent = (id: string, event: RunEvent | (() => RunEvent)) => Promise<Run | undefined>;

/** What a run is told, by the process that drives it and by others. */
function runEvents(send: SendEvent, clock: Clock) {
  const leaseMs = AGENT_LIMITS.runLeaseMs;
  return {
    /** Undefined (also from `ask`, `end` and `seal`) means that this process has lost the run. */
    renew: ({ id, context: { fence } }: Run) => send(id, { type: 'RENEW', fence, leaseMs }),
    /** Stores a call to the client, waiting up to `ms` milliseconds; drops the results of the calls in `seen`. */
    ask: (
      { id, context: { fence } }: Run,
      call: Omit<RunCall, 'until' | 'result'>,
      { ms, seen: answeredIds }: { ms: number; seen: readonly string[] },
    ) => send(id, () => ({ type: 'ASK', fence, call: { ...call, until: clock.now() + ms }, seen: answeredIds })),
    end: ({ id, context: { fence } }: Run, status: RunEnd) => send(id, { type: 'END', fence, status, leaseMs }),
    seal: ({ id, context: { fence } }: Run) => send(id, { type: 'SEAL', fence, keepMs: AGENT_LIMITS.runLogKeepMs }),
    /** Lets other processes take over the run immediately. */
    release: async ({ id, context: { fence } }: Run) => void (await send(id, { type: 'RELEASE', fence })),
    /** Marks a call as offered; returns the run if this process is to offer it, undefined if another one did. */
    handOut: (id: string, call: string) => send(id, { type: 'HAND_OUT', call }),
    /** The run with the result; undefined when it is not, or no longer, waiting for this call. */
    answer: (id: string, call: string, result: CallResult) => send(id, { type: 'RESULT', call, result }),
    /** The run being aborted; undefined when it has ended. */
    abort: (id: string) => send(id, { type: 'ABORT' }),
    postpone: async (id: string) => void (await send(id, { type: 'POSTPONE', ms: leaseMs })),
  };
}

const MACHINE = compileMachine(agentStream());
const ENDS: ReadonlySet<unknown> = new Set(RUN_ENDS);
const NOT_TAKEN: ReadonlySet<string> = new Set(['ERR_MACHINE', 'ERR_NOT_FOUND']);
const RUN_ID = /^[0-9a-f-]{36}$/;

const isTaken = (error: unknown) => error instanceof TwinlineError && error.code === 'ERR_EXISTS';

export function isEnded({ state }: Pick<Run, 'state'>): boolean {
  return ENDS.has(state);
}

/** A run as shown to clients at `now`, in milliseconds since 1970. */
export function runView({ id, body, state, context }: Run, now: number): RunView {
  const isLost = (state === 'running' || state === 'waiting') && context.leaseUntil <= now;
  const status = isLost ? 'recovering' : state === 'waiting' ? 'running' : (state as RunView['status']);
  return { runId: id, requestId: body.requestId, sessionId: body.session, status };
}

function readIndexFields({ state, context }: AtRest): JsonObject {
  const { session, inLine, leaseUntil } = context as unknown as RunContext;
  const isOver = ENDS.has(state);
  return {
    status: state as string,
    liveFor: isOver || inLine ? null : session,
    openFor: isOver ? null : session,
    wakeAt: leaseUntil,
  };
}

/** Throws ERR_INPUT when a request is too large or nests too deep. */
export function checkRequest(request: RunRequest): void {
  if (!fitsLevels(request, COMMON_LIMITS.jsonBodyDepth))
    throw new TwinlineError(
      'ERR_INPUT',
      `A message may nest at most ${COMMON_LIMITS.jsonBodyDepth} levels deep. Send flatter data.`,
    );
  if (fitsJson(request, AGENT_LIMITS.agentRequestBytes)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A message with its options may have at most ${AGENT_LIMITS.agentRequestBytes} bytes of JSON. Send less, or link attachments.`,
  );
}
