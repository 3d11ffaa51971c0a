// What every request passes before a door answers it: overload, whose request it is, and the limit of that client. Koa's
// doors pass it as middleware; USSD and the query gateway answer ahead of Koa, for what Koa makes of a request costs them more
// than their own work (see test/bench).

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Client, ReadClient } from './middleware/client.ts';
import type { ClientLimiter } from './middleware/rate-limit.ts';
import type { Overload } from './overload/watch.ts';

/** Whether a request may pass; `seconds`: when to try again. */
export type Admission =
  | { readonly kind: 'admitted'; readonly client: Client }
  | { readonly kind: 'overloaded'; readonly seconds: number }
  | { readonly kind: 'limited'; readonly seconds: number; readonly client: Client };

export interface AdmissionOptions {
  readonly overload: Pick<Overload, 'isOver'>;
  readonly readClient: ReadClient;
  readonly limiter: ClientLimiter;
}

/** What is not asked of some requests. */
export interface Exceptions {
  /** Answered under overload, too. @default false */
  readonly always?: boolean;
  /** Not counted by the rate limit. @default false */
  readonly uncounted?: boolean;
}

/** Lets a request in, or says why not. Clients of RATE_LIMIT_EXEMPT are not counted here. */
export type Admit = (req: IncomingMessage, exceptions?: Exceptions) => Promise<Admission>;

const OVERLOADED: Admission = { kind: 'overloaded', seconds: 1 };

export function admission({ overload, readClient, limiter }: AdmissionOptions): Admit {
  return async (req, { always = false, uncounted = false } = {}) => {
    if (!always && overload.isOver(req)) return OVERLOADED;
    const client = readClient(req);
    const seconds = client.exempt || uncounted ? 0 : await limiter(client.bucket, client.network);
    return seconds === 0 ? { kind: 'admitted', client } : { kind: 'limited', seconds, client };
  };
}

/** How a door answers ahead of Koa. */
export interface FastPath {
  answer(exchange: Exchange): Promise<void>;
  /** Called when `answer` rejects; the connection is cut then. */
  onFault(error: unknown, requestId: string): void;
}

/** A request and its answer as Node has them: nothing that Koa makes of a request is needed on a fast path. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The name of the request, for headers and logs. */
  readonly requestId: string;
}

/** Answers the requests that have a fast path, and hands all others to `app`: also those of web pages, which need CORS. */
export function answerAhead(
  app: RequestListener,
  find: (req: IncomingMessage) => FastPath | undefined,
): RequestListener {
  return (req, res) => {
    const path = req.headers.origin === undefined ? find(req) : undefined;
    if (!path) return app(req, res);
    const exchange = { req, res, requestId: requestId(req) };
    path.answer(exchange).catch((error) => {
      path.onFault(error, exchange.requestId);
      res.destroy();
    });
  };
}

const FIT = /^[\w.-]{1,128}$/;
const RUN = randomBytes(6).toString('base64url');
let count = 0;

/** The request's X-Request-Id. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && FIT.test(given) ? given : `${RUN}.${(++count).toString(36)}`;
}
