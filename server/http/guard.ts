// What stands before everything else that reads a request: its answer, which says when the rest is up to the client; a span where
// spans are taken; the refusal of what two servers could read differently; the count of requests that are in progress.

import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { SpanStatusCode } from '@opentelemetry/api';
import { isTracing, openSpan } from '../../lib/http/tracing.ts';
import type { Health } from '../health/health.ts';
import { type Overload, waitingRequests } from './overload.ts';

export interface UnsentBytes {
  /** Bytes of large answers that have not been taken. */
  readonly bytes: number;
  /**
   * Counts an answer of so many bytes until it was sent or given up; small ones are not counted. False: there is no room,
   * nothing is counted, and it may not be sent. The only one of a client, or of all, is never refused.
   */
  admit(answer: ServerResponse, bytes: number): boolean;
  /** Counts it, room or not. */
  count(answer: ServerResponse, bytes: number): void;
}

export interface LivePlaces {
  /** Streams and sockets that are open. */
  readonly open: number;
  /** Takes a place for the client of a request; undefined: it has as many as it may. To call the result again is harmless. */
  take(req: IncomingMessage): (() => void) | undefined;
  /** What a client without a place is answered. */
  readonly words: string;
}

/** What an answer emits when its handler has given all of it to Node. */
export const GIVEN = 'twinline:given';

export class Answer<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /** Whether it counts as a request that is being worked on. */
  isInFlight = false;
  /** Whether it stays open and mostly waits, as a stream of events does. */
  isWaiting = false;
  /** Where large bodies are counted until the client has taken them; missing where it is not counted. */
  unsent: UnsentBytes | undefined;
  /** Where it is counted when it stays open; missing where it is not counted. */
  live: LivePlaces | undefined;

  override end(...given: unknown[]): this {
    super.end(...(given as []));
    // A reader that gave the body up has left it paused. Node goes on by itself only with a body that nothing has begun to read, and
    // the next request of the connection, perhaps of another client behind the same proxy, would get no answer.
    if (this.req.readableFlowing === false && !this.req.complete) this.req.resume();
    this.emit(GIVEN);
    return this;
  }
}

/** Answers requests. Node's own listeners fit. */
export type Listener = (req: IncomingMessage, res: Answer) => void;

/** What an answer emits that stays open and mostly waits: it is no work from then on. Its door cuts slow readers off. */
export const WAITING = 'twinline:waiting';

export interface Guards {
  readonly overload: Overload;
  readonly health: Health;
  readonly unsent: UnsentBytes;
  readonly live: LivePlaces;
  /** URLs of requests that never wait for others. */
  readonly urgent: ReadonlySet<string>;
}

/** Answers requests that two servers could read differently with 400; hands all others on, each when there is time for it. */
export function guardListener(app: RequestListener, { overload, health, unsent, live, urgent }: Guards): Listener {
  // Once for each answer, whichever comes first: what its client has not taken yet is no work of ours.
  function leave(this: Answer): void {
    if (!this.isInFlight) return;
    this.isInFlight = false;
    overload.inFlight--;
    waiting.left();
  }
  function wait(this: Answer): void {
    this.isWaiting = true;
    leave.call(this);
  }
  const begin: Listener = (req, res) => {
    // The client goes elsewhere after this answer, rather than be cut off when the server closes.
    if (health.draining) res.shouldKeepAlive = false;
    overload.inFlight++;
    res.isInFlight = true;
    res.unsent = unsent;
    res.live = live;
    res.on(GIVEN, leave).on('close', leave).on(WAITING, wait);
    app(req, res);
  };
  const waiting = waitingRequests({ overload, begin });
  return (req, res) => {
    if (isAmbiguous(req)) return refuse(res);
    if (urgent.has(req.url!)) begin(req, res);
    else waiting.enter(req, res);
  };
}

// Node takes the first of two Host headers, and a URL with a host of its own beside the Host header.
function isAmbiguous({ url = '', rawHeaders }: IncomingMessage): boolean {
  if (url.charCodeAt(0) !== 0x2f && url !== '*') return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

function refuse(res: ServerResponse): void {
  const body = '{"error":"Bad request","code":"bad-request"}';
  const length = String(body.length);
  res.writeHead(400, { 'Content-Type': 'application/json', 'Content-Length': length, Connection: 'close' });
  res.end(body);
}

/** Asked every few seconds by machines. */
const PROBES = new Set(['/livez', '/readyz', '/metrics']);

/** The same listener; each request but probes is a span, whose parent is its `traceparent`. Who answers knows the route, and names the span by it. */
export function traceRequests(listener: Listener): Listener {
  return (req, res) => {
    if (!isTracing() || PROBES.has(req.url!)) return listener(req, res);
    const { method = 'GET', headers, httpVersion, socket } = req;
    const attributes = {
      'http.request.method': method,
      'url.scheme': 'http',
      'server.port': socket.localPort,
      'network.protocol.version': httpVersion,
    };
    return openSpan(method, { way: 'in', attributes, headers }, (span) => {
      res.once('close', () => {
        span.setAttribute('http.response.status_code', res.statusCode);
        if (res.statusCode >= 500) {
          span.setAttribute('error.type', String(res.statusCode));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      });
      return listener(req, res);
    });
  };
}
