// Every answer that a test hears of a server is held against the document of that server.

import { createHash } from 'node:crypto';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { type Documented, documented } from './documented.ts';
import type { Answer } from './serve.ts';

interface Heard {
  readonly method: string;
  readonly path: string;
  readonly answer: Answer;
}

/** Routes of plugins and adapters that tests write, and do not describe. */
const OF_TESTS = /^\/(api\/ussd\/zed|failing|leaky|notes|words)\b/;

/** What was heard of each server that runs, by its origin. */
const listening = new Map<string, Heard[]>();
/** Documents that were read, by their hash: most servers have the same one. */
const known = new Map<string, Documented>();

/** Begins to keep what is heard of a server. */
export function listenTo(origin: string): void {
  listening.set(origin, []);
}

/** Keeps an answer of a server that is listened to. */
export function noteAnswer(url: string, method: string, answer: Answer): void {
  const { origin, pathname } = new URL(url);
  listening.get(origin)?.push({ method, path: pathname, answer });
}

/** What was heard otherwise than the document says; forgets what was heard. */
export function undocumentedOf(origin: string, document: Answer): string[] {
  const heard = listening.get(origin) ?? [];
  listening.delete(origin);
  if (document.status !== 200 || heard.length === 0) return [];
  const hash = createHash('sha256').update(document.text).digest('hex');
  const held = known.get(hash) ?? documented(document.json() as OpenApiDocument);
  known.set(hash, held);
  return heard.flatMap(({ method, path, answer }) => {
    const operation = held.operationOf(method, path);
    if (!operation || OF_TESTS.test(path) || /event-stream/.test(answer.headers['content-type'] ?? '')) return [];
    return held.problemsOf(operation, answer);
  });
}
