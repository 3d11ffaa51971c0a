// Reads a responder's parts one by one, until it ends, fails, or is stopped.

import type { RunEnd } from '../../../machines/agent-stream.ts';
import type { Clock } from '../../clock.ts';
import type { Part, Responder, ResponderTurn, TurnSecrets, Usage } from '../responder.ts';
import type { Room } from '../room.ts';
import type { Transcript } from '../session/message.ts';
import type { Sessions } from '../session/session.ts';
import { type HostTool, makeToolBox } from '../tool.ts';
import type { RunFault } from './frames.ts';
import type { HeldRun } from './lease.ts';
import type { Reply } from './reply.ts';
import type { Runs } from './run.ts';

export interface RespondOptions {
  readonly responder: Responder;
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly room: Room;
  readonly hostTools: () => readonly HostTool[];
  readonly clock: Clock;
  readonly announce: (session: string) => Promise<void>;
  readonly onProblem: (error: unknown) => void;
  readonly instructions?: ((asked: Asked) => Promise<readonly string[]>) | undefined;
}

/** Whose turn it is. */
export interface Asked {
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
}

export interface Giving {
  readonly held: HeldRun;
  readonly reply: Reply;
  readonly secrets: TurnSecrets;
  readonly isResumed: boolean;
}

/** How a reply went. */
export interface Given {
  readonly status: Extract<RunEnd, 'finished' | 'failed'> | 'stopped';
  readonly fault?: RunFault;
  readonly title?: string;
  readonly usage: Usage;
}

/** Never rejects because of the responder; a lost log rejects. */
export async function giveReply(options: RespondOptions, giving: Giving): Promise<Given> {
  const { held, reply } = giving;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let title: string | undefined;
  const given = (status: Given['status'], fault?: RunFault): Given => ({
    status,
    usage,
    ...(fault && { fault }),
    ...(title !== undefined && { title }),
  });
  if (held.stop.aborted) return given('stopped');
  const parts = partsOf(options, giving);
  const stopped = stoppable(held.stop);
  try {
    for (;;) {
      const next = await stopped.race(parts.next());
      if (next === undefined || held.stop.aborted) return given('stopped');
      if (next.done) return given('finished');
      const part = next.value;
      if (part.type === 'error') return given('failed', part.fault);
      if (part.type === 'title') title = part.title;
      else if (part.type === 'usage') usage = added(usage, part.usage);
      else await TAKE[part.type](reply, part as never);
      if (reply.isFull()) return given('failed', TOO_MUCH);
    }
  } finally {
    stopped.forget();
    parts.end();
  }
}

const TOO_MUCH: RunFault = {
  error: 'The reply was longer than a reply may be, and was cut.',
  kind: 'server',
  status: 500,
  retryable: false,
};
const BROKEN: RunFault = { error: 'The reply could not be made.', kind: 'unknown', status: 500, retryable: true };

type Shown = Exclude<Part['type'], 'error' | 'title' | 'usage'>;
const TAKE: { readonly [Type in Shown]: (reply: Reply, part: Extract<Part, { type: Type }>) => Promise<void> } = {
  text: (reply, { text }) => reply.text(text),
  reasoning: (reply, { text }) => reply.reasoning(text),
  'tool-call': (reply, { id, name, args }) => reply.called({ kind: 'tool', id, name, args }),
  'tool-result': (reply, { id, output }) => reply.returned(id, { output }),
  'tool-error': (reply, { id, error }) => reply.returned(id, { error }),
  render: (reply, part) => reply.render(part),
  router: (reply, { step }) => reply.router(step),
};

const added = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
});

interface Parts {
  next(): Promise<IteratorResult<Part, unknown>>;
  /** No further parts are requested; errors of the responder from here on are ignored. */
  end(): void;
}

// What a responder throws is a fault of its own; the words of strangers may quote secrets, so users do not read them.
function partsOf(options: RespondOptions, giving: Giving): Parts {
  const { onProblem, responder } = options;
  const tell = (error: unknown): IteratorResult<Part, unknown> => {
    if (!giving.held.stop.aborted) onProblem(error);
    return { done: false, value: { type: 'error', fault: BROKEN } };
  };
  let iterator: AsyncIterator<Part> | undefined;
  return {
    next: async () => {
      try {
        iterator ??= responder.respond(turnOf(options, giving))[Symbol.asyncIterator]();
        return await iterator.next();
      } catch (error) {
        return tell(error);
      }
    },
    end: () => void Promise.resolve(iterator?.return?.()).catch(() => {}),
  };
}

function turnOf(options: RespondOptions, { held, reply, secrets, isResumed }: Giving): ResponderTurn {
  const { runs, room, clock, sessions, transcript, responder, hostTools, announce, onProblem } = options;
  const { id: runId, body } = held.run;
  const { requestId, session, owner, request, turn } = body;
  return {
    runId,
    requestId,
    session,
    owner,
    request,
    secrets,
    isResumed,
    signal: held.stop,
    history: () => transcript.before(session, turn),
    instructions: async () => (await options.instructions?.({ owner, session, requestId })) ?? [],
    tools: makeToolBox({ held, runs, reply, room, clock, hostTools: hostTools(), secrets, announce, onProblem }),
    state: {
      get: () => sessions.stateOf(session, responder.name),
      set: (value) => sessions.keepState(session, responder.name, value),
    },
  };
}

// One promise for each part: `Promise.race` with one that lasts would keep a memory of every part.
function stoppable(signal: AbortSignal) {
  let wake = () => {};
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    race: <T>(work: Promise<T>) =>
      new Promise<T | undefined>((resolve) => {
        wake = () => resolve(undefined);
        if (signal.aborted) wake();
        void work.then(resolve);
      }),
    forget: () => signal.removeEventListener('abort', onAbort),
  };
}
