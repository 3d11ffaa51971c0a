// One request to the gateway and its answer, as Node has them: nothing that Koa makes of a request is needed here.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../http/middleware/request-id.ts';

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The name of the request, for headers and logs. */
  readonly requestId: string;
}

export function exchangeOf({ req, res }: Pick<Exchange, 'req' | 'res'>): Exchange {
  return { req, res, requestId: requestId(req) };
}
