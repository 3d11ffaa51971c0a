// Streaming replies: one line of JSON or one SSE event per message, no faster than the client reads.

import type { IncomingMessage, ServerResponse } from 'node:http';
import accepts from 'accepts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import {
  earlyTrailers,
  type HttpAnswer,
  type MessageStream,
  readHttpBody,
  toHeaders,
  toTrailers,
} from '../../../lib/gateway/index.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { waitUntilTaken } from '../../http/event-streams.ts';
import type { Exchange } from '../../http/fast-path.ts';
import { WAITING } from '../../http/guard.ts';
import { takeLivePlace } from '../../http/unsent.ts';
import type { GatewayRoute } from '../catalog.ts';
import type { NodeRequest } from '../request.ts';
import { beginResponse, errorResponse, sendResponse } from './response.ts';
import { challengeHeaders, describeStatus, RAW, renderReply, type Service } from './unary.ts';

export interface Streams {
  /** Answers with the stream of a call; resolves when it is over. */
  answer(
    exchange: Exchange,
    route: GatewayRoute,
    options: { readonly request: NodeRequest; readonly service: Service },
  ): Promise<void>;
  /** Ends all streams with an error that says why. */
  close(): void;
}

interface StreamForm {
  readonly type: string;
  /** Headers as alternating names and values. */
  readonly headers?: readonly string[];
  /** What surrounds a message. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** The end of a failed stream; undefined when the form has none, and the connection is cut instead. */
  error(body: string): string | undefined;
}

const FORMS: { readonly [type: string]: StreamForm } = {
  'application/x-ndjson': {
    type: 'application/x-ndjson',
    before: Buffer.from('{"result":'),
    after: Buffer.from('}\n'),
    error: (body) => `{"error":${body}}\n`,
  },
  'text/event-stream': {
    type: 'text/event-stream; charset=utf-8',
    before: Buffer.from('data: {"result":'),
    after: Buffer.from('}\n\n'),
    error: (body) => `event: error\ndata: {"error":${body}}\n\n`,
  },
};

/** Sends one message without copying a large one; false when the client should catch up first. */
function send(res: ServerResponse, { before, after }: StreamForm, message: Buffer): boolean {
  if (message.length <= SERVER_LIMITS.gatewayBriefBytes) return res.write(Buffer.concat([before, message, after]));
  res.cork();
  res.write(before);
  res.write(message);
  const isTaken = res.write(after);
  res.uncork();
  return isTaken;
}

const UNSTORED = ['Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];
const STOPPING = '{"code":14,"message":"The server is stopping. Try again.","details":[]}';

interface StreamRules {
  /** Milliseconds that a client may read nothing. */
  readonly stallMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

export function openStreams({ stallMs = SERVER_LIMITS.eventStallMs, clock = systemClock }: StreamRules = {}): Streams {
  const open = new Set<AbortController>();
  let isClosed = false;

  async function answer(
    exchange: Exchange,
    route: GatewayRoute,
    { request, service }: { request: NodeRequest; service: Service },
  ) {
    const { req, res } = exchange;
    const jsonForm = chooseForm(req);
    if (req.method === 'HEAD') {
      beginResponse(exchange, ['Content-Type', jsonForm.type]);
      return void res.end();
    }
    const freePlace = takeLivePlace(res);
    const ending = new AbortController();
    const leave = () => ending.abort();
    res.once('close', leave);
    open.add(ending);
    try {
      const { message, metadata, deadlineMs } = request;
      const call = { path: route.grpcPath, requests: [message], metadata, deadlineMs, signal: ending.signal };
      const stream = service.channel.stream(call);
      const messages = stream.messages[Symbol.asyncIterator]();
      const first = await messages.next();
      const waiting = { deadlineMs, signal: ending.signal };
      if (first.done && (await fails(exchange, stream, { service, waiting }))) return;
      const metadataHeaders = toHeaders(await stream.headers, service.catalog.back);
      const form = route.isRaw && !first.done ? rawForm(first.value) : jsonForm;
      const own = ['Content-Type', form.type, ...(form.headers ?? [])];
      beginResponse(exchange, [...Object.entries(metadataHeaders).flat(), ...own, ...UNSTORED]);
      res.emit(WAITING);
      const lines = { first, messages, stream };
      await pump(res, lines, { form, route, service, waiting });
    } finally {
      // Cancels the call if an error was thrown before its messages were read.
      ending.abort();
      open.delete(ending);
      freePlace();
      res.off('close', leave);
    }
  }

  async function pump(res: ServerResponse, { first, messages, stream }: Lines, way: StreamRequest): Promise<void> {
    const { form, route, service, waiting } = way;
    const { signal } = waiting;
    let fault: HttpAnswer | undefined;
    try {
      for (let next = first; !next.done; next = await messages.next()) {
        const message = await writeMessage(next.value, { route, service, waiting });
        if (!send(res, form, message) && !(await waitUntilTaken(res, { signal, stallMs, clock }))) break;
      }
    } catch (error) {
      fault = errorResponse(error, service.catalog.answers);
    }
    await messages.return?.();
    const { status, trailers } = await stream.end;
    if (res.destroyed) return;
    // A client that reads nothing would never see the end.
    if (res.writableNeedDrain) return void res.destroy();
    if (!fault && status.code !== 0 && !isClosed) fault = await describeStatus({ status, trailers }, service, waiting);
    const words = isClosed && signal.aborted ? STOPPING : fault?.body;
    const last = words === undefined ? '' : form.error(words);
    if (last === undefined) res.destroy();
    else res.end(last);
  }

  return {
    answer,
    close() {
      isClosed = true;
      for (const ending of open) ending.abort();
    },
  };
}

interface Lines {
  readonly first: IteratorResult<Buffer>;
  readonly messages: AsyncIterator<Buffer>;
  readonly stream: MessageStream;
}

interface StreamRequest {
  readonly form: StreamForm;
  readonly route: GatewayRoute;
  readonly service: Service;
  readonly waiting: { readonly deadlineMs: number; readonly signal: AbortSignal };
}

/** Converts one message to its form in the response. */
async function writeMessage(bytes: Buffer, { route, service, waiting }: Omit<StreamRequest, 'form'>): Promise<Buffer> {
  if (route.isRaw) return readHttpBody(bytes).data;
  return (await renderReply({ route, bytes }, service, waiting)).value.json;
}

function chooseForm(req: IncomingMessage): StreamForm {
  const type = accepts(req).type(Object.keys(FORMS)) as string | false;
  return FORMS[type || 'application/x-ndjson']!;
}

/**
 * The form of google.api.HttpBody messages, chosen by the first one. As in grpc-gateway, text messages end with a newline;
 * bytes of another type form a single file, which a newline would corrupt.
 */
function rawForm(first: Buffer): StreamForm {
  const { type } = readHttpBody(first);
  const isText = /^(text\/|application\/(json|x-ndjson))/i.test(type);
  return { type, headers: RAW, before: NOTHING, after: isText ? LINE_END : NOTHING, error: () => undefined };
}

const LINE_END = Buffer.from('\n');
const NOTHING = Buffer.alloc(0);

// A call that failed before its first message gets an ordinary error response.
async function fails(
  exchange: Exchange,
  { end, headers }: MessageStream,
  { service, waiting }: Pick<StreamRequest, 'service' | 'waiting'>,
): Promise<boolean> {
  const { status, trailers } = await end;
  if (status.code === 0) return false;
  const { back } = service.catalog;
  const answer = await describeStatus({ status, trailers }, service, waiting);
  const metadata = await headers;
  const metadataHeaders = toHeaders([...metadata, ...earlyTrailers(trailers, back)], back);
  const list = [...challengeHeaders(answer, [...metadata, ...trailers]), ...Object.entries(metadataHeaders).flat()];
  sendResponse(exchange, { ...answer, headers: list, trailers: toTrailers(trailers, back) });
  return true;
}
