// The headers that tell browsers what an answer may do: those of helmet, asked for once, for they never differ.

import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Names and values. Pages say otherwise where they need more. */
export const SECURITY_HEADERS: readonly (readonly [string, string])[] = headersOfHelmet();

function headersOfHelmet(): [string, string][] {
  const set: [string, string][] = [];
  const recorder = { setHeader: (name: string, value: string) => set.push([name, value]), removeHeader: () => {} };
  const answer = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    // The proxy that speaks TLS knows whether all of its names do.
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'no-referrer' },
  });
  answer({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error) throw error;
  });
  return set;
}
