// The name of a request: the client's own when it is fit for logs and headers, else a new one.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const FIT = /^[\w.-]{1,128}$/;
const RUN = randomBytes(6).toString('base64url');
let count = 0;

/** The request's X-Request-Id. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && FIT.test(given) ? given : `${RUN}.${(++count).toString(36)}`;
}
