// The body of a USSD request as text: small, not encoded, valid UTF-8, or nothing at all.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../../lib/limits.ts';

/** `refused`: too long, encoded, or no UTF-8. `gone`: the sender left before the end. */
export type UssdBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'gone' };

const REFUSED: UssdBody = { kind: 'refused' };
const GONE: UssdBody = { kind: 'gone' };
/** Longer bodies are not even read to their end. */
const PATIENCE_BYTES = 1_048_576;

/** Reads the body; never rejects. What is too long is read on and thrown away, so that the sender gets its answer. */
export function readUssdBody(request: IncomingMessage): Promise<UssdBody> {
  return new Promise((resolve) => {
    const encoding = request.headers['content-encoding'];
    const isEncoded = encoding !== undefined && encoding !== 'identity';
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > PATIENCE_BYTES) resolve(REFUSED);
      else if (length > LIMITS.ussdBodyBytes) more = undefined;
      else if (!first) first = chunk;
      else if (more) more.push(chunk);
      else more = [first, chunk];
    });
    request.on('end', () => {
      if (isEncoded || length > LIMITS.ussdBodyBytes) return resolve(REFUSED);
      const bytes = more ? Buffer.concat(more) : first;
      if (!bytes) return resolve({ kind: 'text', text: '' });
      resolve(isUtf8(bytes) ? { kind: 'text', text: bytes.toString('utf8') } : REFUSED);
    });
    request.on('error', () => resolve(GONE));
    request.on('close', () => resolve(GONE));
  });
}
