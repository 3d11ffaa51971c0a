// What stands before everything else that reads a request: its answer, which says when the rest is up to the client; its turn among
// the requests of its connection; the refusal of what two servers could read differently; a span where spans are taken; the count of
// requests that are in progress.

import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SpanStatusCode } from '@opentelemetry/api';
import { describeSpan, isTracing, openSpan } from '../../lib/http/tracing.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
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

  override end(...args: unknown[]): this {
    super.end(...(args as []));
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
  /** Whether the server is about to stop. */
  readonly health: { readonly draining: boolean };
  readonly unsent: UnsentBytes;
  readonly live: LivePlaces;
  /** URLs of requests that never wait for others. */
  readonly urgent: ReadonlySet<string>;
}

/** Hands requests on, each when there is time for it. */
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
    if (urgent.has(req.url!)) begin(req, res);
    else waiting.enter(req, res);
  };
}

/**
 * Makes listeners that begin one request of a connection at a time. Node would begin all that a client sent in one write, but tells only
 * the answer that owns the connection when that closes: whatever began behind it would go on, and be counted, for nobody. Here each has the
 * connection to itself, so the `close` of an answer always comes. A request that waited behind another begins in a turn of the event loop of
 * its own: other clients come in between. `onFlood` hears of clients that send more ahead than may wait; they are cut off.
 */
export function answerInTurn(onFlood: () => void): (begin: Listener) => Listener {
  const waiting = new WeakMap<Socket, number>();

  function wait(req: IncomingMessage, res: Answer, begin: Listener): void {
    const { socket } = req;
    // One that was cut off may have sent more in the same bytes.
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > SERVER_LIMITS.requestsAhead) {
      onFlood();
      return void socket.destroy();
    }
    waiting.set(socket, count);
    res.once('socket', () =>
      setImmediate(() => {
        waiting.set(socket, waiting.get(socket)! - 1);
        if (!res.destroyed) begin(req, res);
      }),
    );
  }

  // Node gives the connection to an answer when the one before is done.
  return (begin) => (req, res) => (res.socket ? begin(req, res) : wait(req, res, begin));
}

interface Flaw {
  readonly status: number;
  readonly body: string;
}

const AMBIGUOUS: Flaw = { status: 400, body: '{"error":"Bad request","code":"bad-request"}' };
const MANY_HEADERS: Flaw = {
  status: 431,
  body: `{"error":"This request has more than ${SERVER_LIMITS.headersPerRequest} header fields. Send fewer.","code":"too-many-headers"}`,
};
const UNKNOWN_EXPECTATION: Flaw = {
  status: 417,
  body: '{"error":"The only expectation that is met is 100-continue","code":"bad-request"}',
};

/** How requests begin: what may be misread is refused before anything reads its headers. `app` answers all others. */
export function refuseUnclear(app: Listener): {
  readonly plain: Listener;
  /** For those that wait for `100 Continue` before they send their body. */
  readonly continued: Listener;
  /** For those that expect anything else. */
  readonly unmet: Listener;
} {
  return {
    plain: (req, res) => {
      takeAbsoluteForm(req);
      const flaw = findFlaw(req);
      if (flaw) refuse(res, flaw);
      else app(req, res);
    },
    continued: (req, res) => {
      takeAbsoluteForm(req);
      const flaw = findFlaw(req);
      if (flaw) return refuse(res, flaw);
      res.writeContinue();
      app(req, res);
    },
    unmet: (_req, res) => refuse(res, UNKNOWN_EXPECTATION),
  };
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?#@]+)([/?].*)?$/is;

/** Clients write a whole URL to what they take for a proxy (RFC 9112, 3.2.2): where it names the same server as Host, its path counts. */
function takeAbsoluteForm(req: IncomingMessage): void {
  if (req.url!.charCodeAt(0) === 0x2f) return;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(req.url!) ?? [];
  if (authority?.toLowerCase() === req.headers.host?.toLowerCase()) req.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Node leaves header fields beyond its bound out of `headers`, and says so nowhere; X-Forwarded-For may be one of them. Of two fields
 * with one value each it takes the first, as another server may not; and a URL with a host other than Host goes before it.
 */
export function findFlaw({ url = '', rawHeaders, httpVersionMinor }: IncomingMessage): Flaw | undefined {
  if (rawHeaders.length > 2 * SERVER_LIMITS.headersPerRequest) return MANY_HEADERS;
  if (url.charCodeAt(0) !== 0x2f && url !== '*') return AMBIGUOUS;
  let [hosts, types, credentials] = [0, 0, 0];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4) hosts += isNamed(name, 'host');
    else if (name.length === 12) types += isNamed(name, 'content-type');
    else if (name.length === 13) credentials += isNamed(name, 'authorization');
  }
  const isClear = hosts <= 1 && types <= 1 && credentials <= 1 && (hosts === 1 || httpVersionMinor === 0);
  return isClear ? undefined : AMBIGUOUS;
}

const isNamed = (name: string, expected: string) => (name.toLowerCase() === expected ? 1 : 0);

/** Answers a request that is not handed on, and ends its connection. */
function refuse(res: ServerResponse, { status, body }: Flaw): void {
  const length = String(Buffer.byteLength(body));
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, Connection: 'close' });
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

/** The template of a request that no route takes. */
export const NO_ROUTE = 'none';

interface NamedRequest {
  readonly method: string;
  /** Its template, or NO_ROUTE. */
  readonly route: string;
  readonly requestId: string;
}

/** Names the span of the present request by its route, where there is one. */
export function nameSpan({ method, route, requestId }: NamedRequest): void {
  if (!isTracing()) return;
  const id = { 'twinline.request.id': requestId };
  if (route === NO_ROUTE) describeSpan(id);
  else describeSpan({ 'http.route': route, ...id }, `${method} ${route}`);
}
