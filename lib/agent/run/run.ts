// Runs as they are stored: taken in, claimed under a fence, kept, asked, ended once; one of each session is live.

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
import type { Inspector } from '../../engine/inspection.ts';
import { type Instance, lifecycle } from '../../engine/lifecycle/lifecycle.ts';
import { type AtRest, compileMachine } from '../../engine/machine/transition.ts';
import { TwinlineError } from '../../errors.ts';
import type { DocumentStore, JsonObject, StoredDocument } from '../../store/store.ts';
import { RUN } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';

/** What a user sends with a message, as the door has checked it. Holds no secret: it is stored. */
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

export type ToolDeclaration = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; may be anything, for clients send all sorts. */
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

/** Every function may throw ERR_STORE, ERR_CONFLICT or ERR_BUSY: then ask again. */
export interface Runs {
  /** The process that this is, as other processes address it. */
  readonly holder: string;
  /** Taken in and held by this process; undefined when another run of the session is live. */
  begin(run: NewRun): Promise<Run | undefined>;
  /** Taken in behind those that are open. */
  queue(run: NewRun): Promise<Run>;
  get(id: string): Promise<Run | undefined>;
  /** Those that have not ended, the oldest first; the first is the live one, if one is. */
  open(session: string): Promise<Run[]>;
  /** The run, leased by this process; `held`: leased by another, `behind`: an earlier run is open, `gone`: nothing to do. */
  claim(id: string): Promise<Run | 'held' | 'behind' | 'gone'>;
  /** Undefined from all of these: this process has lost the run. */
  renew(run: Run): Promise<Run | undefined>;
  ask(
    run: Run,
    call: Omit<RunCall, 'until' | 'result'>,
    waiting: { ms: number; seen: readonly string[] },
  ): Promise<Run | undefined>;
  end(run: Run, status: RunEnd): Promise<Run | undefined>;
  seal(run: Run): Promise<Run | undefined>;
  /** Lets others go on with it at once. */
  release(run: Run): Promise<void>;
  /** Marks a call as offered to a client; the run when this process is to offer it now, undefined when another one did. */
  handOut(id: string, call: string): Promise<Run | undefined>;
  /** The run with the result; undefined when it does not wait for this call, or not any more. */
  answer(id: string, call: string, result: CallResult): Promise<Run | undefined>;
  /** The run that is to be aborted; undefined when it has ended. */
  abort(id: string): Promise<Run | undefined>;
  postpone(id: string): Promise<void>;
  /** Ids of runs whose `wakeAt` has passed, such as those with an expired lease. */
  due(limit: number): Promise<string[]>;
  /** Runs of a session that have ended too. */
  ofSession(session: string, limit: number): Promise<string[]>;
  remove(id: string): Promise<void>;
}

export interface RunOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly holder: string;
  /** Receives the inspection events of runs. */
  readonly inspector?: Inspector | undefined;
}

export function runs({ documents, clock, holder, inspector }: RunOptions): Runs {
  const machines = lifecycle<RunContext, StoredRun>({
    documents,
    kind: RUN,
    machine: MACHINE,
    clock,
    inspector,
    fields: fieldsOf,
  });
  const leaseMs = AGENT_LIMITS.runLeaseMs;

  async function insert(run: NewRun, inLine: boolean): Promise<Run> {
    const { id = randomUUID(), owner, session, turn, requestId, request } = run;
    const body = { owner, session, turn, requestId, request, created: clock.now() };
    const input = { session, turn, inLine, holder, leaseMs };
    const begun = await machines.begin(id, { input, body });
    if (begun.repeated) throw new TwinlineError('ERR_EXISTS', `Run ${id} has been taken in before.`);
    return begun.instance;
  }

  /** Undefined when the run is not there, or does not take the event where it is. */
  async function send(id: string, event: RunEvent | ((run: Run) => RunEvent)): Promise<Run | undefined> {
    const decide = (run: Run) => (typeof event === 'function' ? event(run) : event);
    try {
      return (await machines.take(id, { decide })).instance;
    } catch (error) {
      if (error instanceof TwinlineError && UNTAKEN.has(error.code)) return undefined;
      throw error;
    }
  }
  const read = (found: StoredDocument) => machines.refresh(found);

  return {
    holder,
    async begin(run) {
      try {
        return await insert(run, false);
      } catch (error) {
        if (isTaken(error)) return undefined;
        throw error;
      }
    },
    queue: (run) => insert(run, true),
    get: (id) => (isRunId(id) ? machines.read(id) : Promise.resolve(undefined)),
    async open(session) {
      const { items } = await documents.find(RUN, { index: 'open', where: { openFor: session } });
      return Promise.all(items.map(read));
    },
    async claim(id) {
      const run = await machines.read(id);
      if (!run || run.context.sealed) return 'gone';
      if (run.state === 'queued' && (await isBehind(documents, run))) return 'behind';
      try {
        return (await send(id, { type: 'CLAIM', holder, leaseMs })) ?? 'held';
      } catch (error) {
        if (isTaken(error)) return 'behind';
        throw error;
      }
    },
    renew: ({ id, context: { fence } }) => send(id, { type: 'RENEW', fence, leaseMs }),
    ask: ({ id, context: { fence } }, call, { ms, seen }) =>
      send(id, () => ({ type: 'ASK', fence, call: { ...call, until: clock.now() + ms }, seen })),
    end: ({ id, context: { fence } }, status) => send(id, { type: 'END', fence, status, leaseMs }),
    seal: ({ id, context: { fence } }) => send(id, { type: 'SEAL', fence, keepMs: AGENT_LIMITS.runLogKeepMs }),
    release: async ({ id, context: { fence } }) => void (await send(id, { type: 'RELEASE', fence })),
    handOut: (id, call) => send(id, { type: 'HAND_OUT', call }),
    answer: (id, call, result) => send(id, { type: 'RESULT', call, result }),
    abort: (id) => send(id, { type: 'ABORT' }),
    postpone: async (id) => void (await send(id, { type: 'POSTPONE', ms: leaseMs })),
    async due(limit) {
      const where = { wakeAt: { lte: clock.now() } };
      return (await documents.find(RUN, { index: 'wake', where, limit })).items.map(({ id }) => id);
    },
    async ofSession(session, limit) {
      return (await documents.find(RUN, { index: 'session', where: { session }, limit })).items.map(({ id }) => id);
    },
    remove: async (id) => void (await documents.remove(RUN, id)),
  };
}

const MACHINE = compileMachine(agentStream());
const ENDS: ReadonlySet<unknown> = new Set(RUN_ENDS);
const UNTAKEN: ReadonlySet<string> = new Set(['ERR_MACHINE', 'ERR_NOT_FOUND']);
const RUN_ID = /^[0-9a-f-]{36}$/;

const isRunId = (id: unknown) => typeof id === 'string' && RUN_ID.test(id);
const isTaken = (error: unknown) => error instanceof TwinlineError && error.code === 'ERR_EXISTS';

export function isEnded({ state }: Pick<Run, 'state'>): boolean {
  return ENDS.has(state);
}

/** How clients read where a run stands at `now`, in milliseconds since 1970. */
export function runView({ id, body, state, context }: Run, now: number): RunView {
  const isLost = (state === 'running' || state === 'waiting') && context.leaseUntil <= now;
  const status = isLost ? 'recovering' : state === 'waiting' ? 'running' : (state as RunView['status']);
  return { runId: id, requestId: body.requestId, sessionId: body.session, status };
}

function fieldsOf({ state, context }: AtRest): JsonObject {
  const { session, inLine, leaseUntil } = context as unknown as RunContext;
  const ended = ENDS.has(state);
  return {
    status: state as string,
    liveFor: ended || inLine ? null : session,
    openFor: ended ? null : session,
    wakeAt: leaseUntil,
  };
}

async function isBehind(documents: DocumentStore, { id, body }: Run): Promise<boolean> {
  const where = { openFor: body.session };
  const { items } = await documents.find(RUN, { index: 'open', where, limit: 1 });
  return items[0] !== undefined && items[0].id !== id;
}
