// An answer as Node sends it, which also says when its handler has done its part: the rest is up to the client.

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { UnsentBytes } from './unsent.ts';

/** What an answer emits when its handler has given all of it to Node. */
export const GIVEN = 'twinline:given';

export class Answer<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /** Whether it counts as a request that is being worked on. */
  isInFlight = false;
  /** Whether it stays open and mostly waits, as a stream of events does. */
  isWaiting = false;
  /** Where large bodies are counted until the client has taken them; missing where nobody counts. */
  unsent: UnsentBytes | undefined;

  override end(...given: unknown[]): this {
    super.end(...(given as []));
    // A reader that gave the body up has left it paused, and Node reads on only what nobody has begun to read: the next request
    // of the connection, perhaps of another client behind the same proxy, would get no answer.
    if (this.req.readableFlowing === false && !this.req.complete) this.req.resume();
    this.emit(GIVEN);
    return this;
  }
}

/** Answers requests. Node's own listeners fit. */
export type Listener = (req: IncomingMessage, res: Answer) => void;
