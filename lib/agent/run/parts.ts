// Feeds a responder's parts into the reply until it ends, fails or is stopped.

import type { RunEnd } from '../../../machines/run-ends.ts';
import type { RunnerOptions } from '../options.ts';
import type { ResponderPart, ResponderTurn, TokenUsage } from '../responder.ts';
import { makeToolBox } from '../tool.ts';
import type { RunFault } from './frame-data.ts';
import type { RunReply, RunTurn } from './reply.ts';

/** How a responder ended. */
export interface PartsResult {
  readonly status: Extract<RunEnd, 'finished' | 'failed'> | 'stopped';
  readonly fault?: RunFault;
  readonly title?: string;
  readonly usage: TokenUsage;
}

/** Rejects only when the log is lost, never because of the responder. */
export async function readParts(options: RunnerOptions, turn: RunTurn): Promise<PartsResult> {
  const { held, reply } = turn;
  let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  let title: string | undefined;
  const makeResult = (status: PartsResult['status'], fault?: RunFault): PartsResult => ({
    status,
    usage,
    ...(fault && { fault }),
    ...(title !== undefined && { title }),
  });
  if (held.stop.aborted) return makeResult('stopped');
  const parts = partSource(options, turn);
  const stop = stopRace(held.stop);
  try {
    for (;;) {
      const next = await stop.race(parts.next());
      if (next === undefined || held.stop.aborted) return makeResult('stopped');
      if (next.done) return makeResult('finished');
      const part = next.value;
      if (part.type === 'error') return makeResult('failed', part.fault);
      if (part.type === 'title') title = part.title;
      else if (part.type === 'usage') usage = addUsage(usage, part.usage);
      else await ADD[part.type](reply, part as never);
      if (reply.isFull) return makeResult('failed', TOO_LONG);
    }
  } finally {
    stop.end();
    parts.end();
  }
}

const TOO_LONG: RunFault = {
  error: 'The reply exceeded the size limit and was cut.',
  kind: 'server',
  status: 500,
  retryable: false,
};
const BROKEN: RunFault = { error: 'The reply could not be made.', kind: 'unknown', status: 500, retryable: true };

type ReplyPart = Exclude<ResponderPart['type'], 'error' | 'title' | 'usage'>;
const ADD: {
  readonly [Type in ReplyPart]: (reply: RunReply, part: Extract<ResponderPart, { type: Type }>) => Promise<void>;
} = {
  text: (reply, { text }) => reply.addText(text),
  reasoning: (reply, { text }) => reply.addReasoning(text),
  'tool-call': (reply, { id, name, args }) => reply.startCall({ kind: 'tool', id, name, args }),
  'tool-result': (reply, { id, output }) => reply.endCall(id, { output }),
  'tool-error': (reply, { id, error }) => reply.endCall(id, { error }),
  render: (reply, part) => reply.addComponent(part),
  router: (reply, { step }) => reply.addRouterStep(step),
};

const addUsage = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
});

/** The responder's iterator. An exception becomes a fault without its message, which may quote secrets. */
function partSource(options: RunnerOptions, turn: RunTurn) {
  let iterator: AsyncIterator<ResponderPart> | undefined;
  return {
    async next(): Promise<IteratorResult<ResponderPart, unknown>> {
      try {
        iterator ??= options.responder.respond(responderTurn(options, turn))[Symbol.asyncIterator]();
        return await iterator.next();
      } catch (error) {
        if (!turn.held.stop.aborted) options.onProblem(error);
        return { done: false, value: { type: 'error', fault: BROKEN } };
      }
    },
    /** Stops the iteration; later errors of the responder are ignored. */
    end: () => void Promise.resolve(iterator?.return?.()).catch(() => {}),
  };
}

function responderTurn(options: RunnerOptions, turn: RunTurn): ResponderTurn {
  const { sessions, transcript, responder } = options;
  const { held, secrets, replay } = turn;
  const { id: runId, body } = held.run;
  const { requestId, session, owner, request } = body;
  return {
    runId,
    requestId,
    session,
    owner,
    request,
    secrets,
    isResumed: replay.last > 0,
    signal: held.stop,
    history: () => transcript.before(session, body.turn),
    instructions: async () => (await options.instructions?.({ owner, session, requestId })) ?? [],
    tools: makeToolBox(options, turn),
    state: {
      get: () => sessions.readState(session, responder.name),
      set: (value) => sessions.keepState(session, responder.name, value),
    },
  };
}

// One promise per part: `Promise.race` with a single long-lived promise would retain every part until it settles.
function stopRace(signal: AbortSignal) {
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
    end: () => signal.removeEventListener('abort', onAbort),
  };
}
