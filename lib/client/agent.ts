// The agent service: messages, and replies that are read to their end over any number of connections.

import type { FrameData, FrameName } from '../agent/run/frame-data.ts';
import type { ApiSchemas } from './api.ts';
import { ConnectionError, ProblemError } from './errors.ts';
import { followEvents, type ListenOptions } from './events.ts';
import { type ClientOptions, makeId, openRequests, type Requests } from './requests.ts';

/** A part of a reply. Later versions have further names: skip those that you do not know. */
export type ReplyFrame = {
  readonly [Name in FrameName]: { readonly n: number; readonly event: Name; readonly data: FrameData[Name] };
}[FrameName];

/** A reply that has ended; `error` is the first one that was told. */
export interface WholeReply {
  readonly text: string;
  readonly status: FrameData['done']['status'];
  readonly error?: FrameData['error'];
}

/** A reply, to be iterated once. It is written to its end whether or not it is read. */
export interface ReplyStream extends AsyncIterable<ReplyFrame> {
  /** Id of the run that writes it, for `follow`; a page of another site knows it from the first frame on. */
  readonly runId: string | undefined;
  /** Reads it to its end. */
  whole(): Promise<WholeReply>;
}

/** Sessions, and all else, are routes to `ask`. */
export interface AgentClient extends Requests {
  /**
   * Sends a message; resolves once the server has taken it. When the connection breaks before that is known, the reply is
   * looked for, and where it is not there the message is not sent again: {@link ConnectionError}.
   */
  sendMessage(
    sessionId: string,
    message: string | Omit<ApiSchemas['NewMessage'], 'stream'>,
    options?: ListenOptions,
  ): Promise<ReplyStream>;
  /** The reply that a run writes, or what follows the frame of number `after` in it. */
  follow(runId: string, options?: ListenOptions & { readonly after?: number }): ReplyStream;
}

/** Where frames come from: an answer with the first of them, and a run; `find` finds the one whose id was not told. */
interface ReplySource {
  runId?: string | undefined;
  answer?: Response | undefined;
  readonly find?: (signal: AbortSignal) => Promise<string>;
}

/**
 * A client of the agent service. Its credential is an invocation.
 * @example
 * const agent = agentClient({ url: 'http://127.0.0.1:3000', credential: () => process.env.TOKEN ?? '' });
 * typeof agent.sendMessage; // → 'function'
 */
export function agentClient(options: ClientOptions): AgentClient {
  const { ask, send, open } = openRequests(options, (token) => ({
    Authorization: `Bearer ${token}`,
    'X-Auth-Type': 'ucan',
  }));

  function stream(source: ReplySource, { after = 0, ...following }: ListenOptions & { after?: number }): ReplyStream {
    async function connect(position: number | undefined, signal: AbortSignal): Promise<Response> {
      const first = source.answer;
      source.answer = undefined;
      if (first) return first;
      source.runId ??= await source.find!(signal);
      return open('GET /runs/{runId}', { path: { runId: source.runId }, query: { after: position }, signal });
    }
    async function* iterate(): AsyncGenerator<ReplyFrame, void, undefined> {
      const followed = { name: 'The reply', after, connect, last: 'done', ...following };
      for await (const { n, event, data } of followEvents(followed, options)) {
        const frame = { n, event, data: JSON.parse(data) } as ReplyFrame;
        if (frame.event === 'run') source.runId = frame.data.runId;
        yield frame;
      }
    }
    return {
      get runId() {
        return source.runId;
      },
      [Symbol.asyncIterator]: iterate,
      whole: () => readWhole(iterate()),
    };
  }

  return {
    ask,
    send,
    follow: (runId, following = {}) => stream({ runId }, following),
    async sendMessage(sessionId, message, following = {}) {
      const path = { sessionId };
      const headers = { 'X-Request-Id': makeId() };
      const body = { ...(typeof message === 'string' ? { message } : message), stream: true };
      const find = async (signal: AbortSignal | undefined): Promise<string> => {
        const { run } = await ask('GET /sessions/{sessionId}/run', { path, signal });
        if (run?.requestId === headers['X-Request-Id']) return run.runId;
        throw new ConnectionError('The reply', 'it is over, or was never begun. The messages of the session say which');
      };
      try {
        const answer = await send('POST /messages/{sessionId}', { path, body, headers, ...following });
        return stream({ runId: answer.headers.get('x-run-id') ?? undefined, answer, find }, following);
      } catch (error) {
        // A try whose answer was lost may have arrived: a later one is refused for its run. And streams may be refused after messages.
        const isOpen = error instanceof ConnectionError || (error instanceof ProblemError && error.status >= 409);
        const runId = isOpen ? await find(following.signal).catch(() => undefined) : undefined;
        if (runId === undefined) throw error;
        return stream({ runId }, following);
      }
    },
  };
}

async function readWhole(frames: AsyncIterable<ReplyFrame>): Promise<WholeReply> {
  let text = '';
  let error: FrameData['error'] | undefined;
  for await (const frame of frames) {
    if (frame.event === 'message') text += frame.data.content;
    else if (frame.event === 'run') text = text.slice(0, frame.data.partialLength);
    else if (frame.event === 'error') error ??= frame.data;
    else if (frame.event === 'done')
      return { text: frame.data.partialText ?? text, status: frame.data.status, ...(error && { error }) };
  }
  throw new ConnectionError('The reply', 'it has no end');
}
