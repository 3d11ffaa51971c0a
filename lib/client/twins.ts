// The domain service: its routes, and the feed of what happens to twins.

import type { ApiSchemas } from './api.ts';
import { followEvents, type ListenOptions } from './events.ts';
import { type ClientOptions, openRequests, type Requests } from './requests.ts';

/** Which events to hear. */
export interface EventOptions extends ListenOptions {
  /** The `seq` of the last event that is known; 0 from the beginning. @default what happens from now on */
  readonly after?: number;
  /** Types or families, such as `proposal.*`. @default all */
  readonly types?: readonly string[];
  /** Only about this twin. */
  readonly did?: string;
}

/** A client of the domain service. */
export interface TwinsClient extends Requests {
  /** What happens to twins, without an end: after a cut it goes on from the last event, also on a server that has restarted. */
  events(options?: EventOptions): AsyncIterable<ApiSchemas['Event']>;
}

/**
 * A client of the domain service, `/v1`. Its credential is an API key.
 * @example
 * const twins = twinsClient({ url: 'http://127.0.0.1:3000', credential: () => process.env.API_KEY ?? '' });
 * typeof twins.events; // → 'function'
 */
export function twinsClient(options: ClientOptions): TwinsClient {
  const { ask, send, open } = openRequests(options, (key) => ({ Authorization: `Bearer ${key}` }));
  return {
    ask,
    send,
    async *events({ after, types, did, ...following } = {}) {
      // By this name of the type the server tells at once where the stream begins.
      const headers = { Accept: 'text/event-stream' };
      const connect = (position: number | undefined, signal: AbortSignal) =>
        open('GET /v1/events', { query: { after: position, types: types?.join(), did }, headers, signal });
      const followed = { name: 'GET /v1/events', after, connect, ...following };
      for await (const { data } of followEvents(followed, options)) yield JSON.parse(data);
    },
  };
}
