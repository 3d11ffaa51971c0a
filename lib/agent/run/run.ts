// Runs as they are stored: begun or queued, claimed under a fence, ended once; at most one of each session is live.

import { randomUUID } from 'node:crypto';
import {
  agentStream,
  type CallResult,
  RUN_ENDS,
  type RunCall,
  type RunContext,
  type RunEnd,
  type RunEvent,
  type RunState,
} from '../../../machines/agent-stream.ts';
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

/** What a user sends with a message, as the route has validated it. Holds no secret, for it is stored. */
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

/** A tool that the client of a run declares. */
export type ToolDeclaration = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, not validated: clients may send anything. */
  readonly schema: JsonObject;
};

/** What its document holds beside the machine. */
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

/** What clients read of a run. */
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

/** The stored runs. Every function may throw ERR_STORE, ERR_CONFLICT or ERR_BUSY: then call it again. */
export type Runs = ReturnType<typeof openRuns>;

export function openRuns({ documents, clock, holder, inspector }: RunsOptions) {
  const lifecycleOptions = { documents, kind: RUN, machine: MACHINE, clock, inspector, fields: readIndexFields };
  const machines = lifecycle<RunContext, StoredRun>(lifecycleOptions);
  const leaseMs = AGENT_LIMITS.runLeaseMs;

  async function insert({ id = randomUUID(), ...run }: NewRun, inLine: boolean): Promise<Run> {
    const { owner, session, turn, requestId, request } = run;
    const body = { owner, session, turn, requestId, request, created: clock.now() };
    const begun = await machines.begin(id, { input: { session, turn, inLine, holder, leaseMs }, body });
    if (begun.repeated) throw new TwinlineError('ERR_EXISTS', `Run ${id} has been taken in before.`);
    return begun.instance;
  }

  /** Undefined when there is no such run, or it does not take the event in its state. */
  async function send(id: string, event: RunEvent | (() => RunEvent)): Promise<Run | undefined> {
    try {
      return (await machines.take(id, { decide: () => (typeof event === 'function' ? event() : event) })).instance;
    } catch (error) {
      if (error instanceof TwinlineError && NOT_TAKEN.has(error.code)) return undefined;
      throw error;
    }
  }

  async function findIds(index: string, where: NonNullable<Query['where']>, limit: number): Promise<string[]> {
    return (await documents.find(RUN, { index, where, limit })).items.map(({ id }) => id);
  }

  return {
    /** The process that this is, as other processes address it. */
    holder,
    /** Stores a run that this process holds; undefined when another run of the session is live. */
    begin: (run: NewRun): Promise<Run | undefined> =>
      insert(run, false).catch((error) => {
        if (isTaken(error)) return undefined;
        throw error;
      }),
    /** Stores a run behind those that are open. */
    queue: (run: NewRun): Promise<Run> => insert(run, true),
    get: async (id: string): Promise<Run | undefined> => (RUN_ID.test(id) ? machines.read(id) : undefined),
    /** Those that have not ended, the oldest first; the first is the live one, if one is. */
    async open(session: string): Promise<Run[]> {
      const { items } = await documents.find(RUN, { index: 'open', where: { openFor: session } });
      return Promise.all(items.map((item) => machines.refresh(item)));
    },
    /** The run, leased by this process; `held`: leased by another, `behind`: an earlier run is open, `gone`: nothing to do. */
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
    /** Undefined, as from `ask`, `end` and `seal`: this process has lost the run. */
    renew: ({ id, context: { fence } }: Run) => send(id, { type: 'RENEW', fence, leaseMs }),
    /** Stores a call to the user's side, which waits for `ms` milliseconds; results of the calls in `seen` are forgotten. */
    ask: (
      { id, context: { fence } }: Run,
      call: Omit<RunCall, 'until' | 'result'>,
      { ms, seen }: { ms: number; seen: readonly string[] },
    ) => send(id, () => ({ type: 'ASK', fence, call: { ...call, until: clock.now() + ms }, seen })),
    end: ({ id, context: { fence } }: Run, status: RunEnd) => send(id, { type: 'END', fence, status, leaseMs }),
    seal: ({ id, context: { fence } }: Run) => send(id, { type: 'SEAL', fence, keepMs: AGENT_LIMITS.runLogKeepMs }),
    /** Lets other processes go on with the run at once. */
    release: async ({ id, context: { fence } }: Run) => void (await send(id, { type: 'RELEASE', fence })),
    /** Marks a call as offered to a client; the run when this process is to offer it now, undefined when another one did. */
    handOut: (id: string, call: string) => send(id, { type: 'HAND_OUT', call }),
    /** The run with the result; undefined when it does not wait for this call, or not any more. */
    answer: (id: string, call: string, result: CallResult) => send(id, { type: 'RESULT', call, result }),
    /** The run that is to be aborted; undefined when it has ended. */
    abort: (id: string) => send(id, { type: 'ABORT' }),
    postpone: async (id: string) => void (await send(id, { type: 'POSTPONE', ms: leaseMs })),
    /** Ids of runs whose `wakeAt` has passed, such as those with an expired lease. */
    async due(limit: number): Promise<string[]> {
      // One that has ended may have a log to be closed: that waits, too.
      const isOver = ({ body }: StoredDocument) => body.openFor === null;
      const query = { index: 'wake', field: 'wakeAt', limit, isOver };
      return (await findDue({ documents, clock }, RUN, query)).map(({ id }) => id);
    },
    /** Ids of the runs of a session, also of those that have ended. */
    ofSession: (session: string, limit: number) => findIds('session', { session }, limit),
    remove: async (id: string) => void (await documents.remove(RUN, id)),
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

/** What clients read of a run at `now`, in milliseconds since 1970. */
export function runView({ id, body, state, context }: Run, now: number): RunView {
  const isLost = (state === 'running' || state === 'waiting') && context.leaseUntil <= now;
  const status = isLost ? 'recovering' : state === 'waiting' ? 'running' : (state as RunView['status']);
  return { runId: id, requestId: body.requestId, sessionId: body.session, status };
}

function readIndexFields({ state, context }: AtRest): JsonObject {
  const { session, inLine, leaseUntil } = context as unknown as RunContext;
  const ended = ENDS.has(state);
  return {
    status: state as string,
    liveFor: ended || inLine ? null : session,
    openFor: ended ? null : session,
    wakeAt: leaseUntil,
  };
}

/** Throws ERR_INPUT when a request is too large or nests too deep. */
export function checkRequest(request: RunRequest): void {
  if (!fitsLevels(request, COMMON_LIMITS.jsonBodyDepth))
    throw new TwinlineError(
      'ERR_INPUT',
      `A message may nest ${COMMON_LIMITS.jsonBodyDepth} levels deep. Send flatter data.`,
    );
  if (fitsJson(request, AGENT_LIMITS.agentRequestBytes)) return;
  throw new TwinlineError(
    'ERR_INPUT',
    `A message and what comes with it may have ${AGENT_LIMITS.agentRequestBytes} bytes of JSON. Send less, or attachments by their addresses.`,
  );
}
