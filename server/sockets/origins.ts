// Which web pages may open a socket: WebSockets know no CORS, so the server looks at the origin itself.

import type { IncomingMessage } from 'node:http';
import type { Config } from '../config/config.ts';

/** Tells whether a request comes from no web page, from one of ours, or from one that CORS_ORIGIN lets in. */
export function mayCall({
  corsOrigins,
  publicUrl,
}: Pick<Config, 'corsOrigins' | 'publicUrl'>): (req: IncomingMessage) => boolean {
  if (corsOrigins === '*') return () => true;
  const known = new Set([...corsOrigins, ...(publicUrl ? [new URL(publicUrl).origin] : [])]);
  return ({ headers: { origin } }) => origin === undefined || known.has(origin);
}
