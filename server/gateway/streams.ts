// Answers that are streams of messages: a line of JSON or an event for each, no faster than they are read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import accepts from 'accepts';
import { type HttpAnswer, headersOf, type MessageStream } from '../../lib/gateway/index.ts';
import { LIMITS } from '../../lib/limits.ts';
import { drained } from '../event-streams.ts';
import { WAITING } from '../guard.ts';
import type { Plan } from './catalog.ts';
import type { Exchange } from './exchange.ts';
import { answerOf } from './refusal.ts';
import { begin, reply } from './reply.ts';
import type { Asked } from './request.ts';
import type { Service } from './service.ts';
import { detailsIn } from './unary.ts';

export interface Streams {
  /** Answers with the stream of a call; resolves when all is over. */
  answer(exchange: Exchange, plan: Plan, with_: { readonly asked: Asked; readonly service: Service }): Promise<void>;
  /** Ends all streams with an error that says why. */
  close(): void;
}

interface Form {
  readonly type: string;
  /** What stands around the JSON of a message. */
  readonly before: Buffer;
  readonly after: Buffer;
  error(body: string): string;
}

const FORMS: { readonly [type: string]: Form } = {
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

/** Sends one message; false when the reader has much to take. A large one is not copied. */
function send(res: ServerResponse, { before, after }: Form, json: Buffer): boolean {
  if (json.length <= LIMITS.gatewayBriefBytes) return res.write(Buffer.concat([before, json, after]));
  res.cork();
  res.write(before);
  res.write(json);
  const isTaken = res.write(after);
  res.uncork();
  return isTaken;
}

const UNSTORED = ['Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];
const STOPPING = '{"code":14,"message":"The server is stopping. Ask again.","details":[]}';

export function openStreams(stallMs: number = LIMITS.eventStallMs): Streams {
  const open = new Set<AbortController>();
  let isClosed = false;

  async function answer(exchange: Exchange, plan: Plan, { asked, service }: { asked: Asked; service: Service }) {
    const { req, res } = exchange;
    const form = formOf(req);
    if (req.method === 'HEAD') {
      begin(exchange, ['Content-Type', form.type]);
      return void res.end();
    }
    const ended = new AbortController();
    const leave = () => ended.abort();
    res.once('close', leave);
    open.add(ended);
    try {
      const { request, metadata, deadlineMs } = asked;
      const call = { path: plan.path, requests: [request], metadata, deadlineMs, signal: ended.signal };
      const stream = service.channel.stream(call);
      const messages = stream.messages[Symbol.asyncIterator]();
      const first = await messages.next();
      if (first.done && (await fails(exchange, stream, service))) return;
      const told = headersOf(await stream.headers, service.catalog.settings.forwardHeaders);
      begin(exchange, [...Object.entries(told).flat(), 'Content-Type', form.type, ...UNSTORED]);
      res.emit(WAITING);
      const lines = { first, messages, stream };
      await pump(res, lines, { form, plan, service, signal: ended.signal, deadlineMs });
    } finally {
      open.delete(ended);
      res.off('close', leave);
    }
  }

  async function pump(res: ServerResponse, { first, messages, stream }: Lines, way: Way): Promise<void> {
    const { form, plan, service, signal } = way;
    const { renderer } = service;
    const { answers } = service.catalog;
    let fault: HttpAnswer | undefined;
    try {
      for (let next = first; !next.done; next = await messages.next()) {
        const written = renderer.render(plan, next.value, way);
        const json = Buffer.isBuffer(written) ? written : (await written).json;
        if (!send(res, form, json) && !(await drained(res, { signal, stallMs }))) break;
      }
    } catch (error) {
      fault = answerOf(error, answers);
    }
    await messages.return?.();
    const { status, trailers } = await stream.end;
    if (res.destroyed) return;
    // A reader that takes nothing would never see the end.
    if (res.writableNeedDrain) return void res.destroy();
    if (!fault && status.code !== 0 && !isClosed) fault = answers.ofStatus(status, detailsIn(trailers));
    if (isClosed && signal.aborted) res.end(form.error(STOPPING));
    else res.end(fault && form.error(fault.body));
  }

  return {
    answer,
    close() {
      isClosed = true;
      for (const ended of open) ended.abort();
    },
  };
}

interface Lines {
  readonly first: IteratorResult<Buffer>;
  readonly messages: AsyncIterator<Buffer>;
  readonly stream: MessageStream;
}

interface Way {
  readonly form: Form;
  readonly plan: Plan;
  readonly service: Service;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

function formOf(req: IncomingMessage): Form {
  const type = accepts(req).type(Object.keys(FORMS)) as string | false;
  return FORMS[type || 'application/x-ndjson']!;
}

// A call that failed before its first message is answered like any other.
async function fails(exchange: Exchange, { end, headers }: MessageStream, { catalog }: Service): Promise<boolean> {
  const { status, trailers } = await end;
  if (status.code === 0) return false;
  const { http, body } = catalog.answers.ofStatus(status, detailsIn(trailers));
  const told = headersOf([...(await headers), ...trailers], catalog.settings.forwardHeaders);
  reply(exchange, { http, body, headers: Object.entries(told).flat() });
  return true;
}
