// Refuses requests before anything else reads them, and counts those that are in progress.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Health } from '../health/health.ts';
import { type Answer, GIVEN, type Listener } from './answer.ts';
import { waitingRequests } from './overload/waiting.ts';
import type { Overload } from './overload/watch.ts';
import type { UnsentBytes } from './unsent.ts';

/** What an answer emits that stays open and mostly waits: it is no work from then on. Its door cuts slow readers off. */
export const WAITING = 'twinline:waiting';

export interface Guards {
  readonly overload: Overload;
  readonly health: Health;
  readonly unsent: UnsentBytes;
  /** Whether requests with this URL never wait for others. */
  readonly isUrgent: (url: string) => boolean;
}

/** Answers requests that two servers could read differently with 400; hands all others on, each when there is time for it. */
export function guardListener(app: RequestListener, { overload, health, unsent, isUrgent }: Guards): Listener {
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
    res.on(GIVEN, leave).on('close', leave).on(WAITING, wait);
    app(req, res);
  };
  const waiting = waitingRequests({ overload, begin });
  return (req, res) => {
    if (isAmbiguous(req)) return refuse(res);
    if (isUrgent(req.url!)) begin(req, res);
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
