// What is wrong with the answer to a request, and with what the server logged meanwhile.

import { type Documented, documented } from '../server/support/documented.ts';
import type { FuzzedServer } from './place.ts';
import type { FuzzRequest } from './requests.ts';

/** Statuses of requests that reach no route or another one, such as one that has what is there: 304; or a node whose deadline of 1 ns passes: 504. */
const UNROUTED = new Set([200, 204, 304, 400, 401, 403, 404, 405, 406, 413, 414, 415, 417, 429, 431, 501, 504]);
/** What Node answers before any route is looked for. */
const UNREAD = new Set([417, 431]);
const ERROR_LEVEL = 50;

export interface Checker {
  /** Statuses that each operation was seen to answer. */
  readonly seen: Documented['seen'];
  /** Sends a request; what is wrong, empty when nothing. */
  check(asked: FuzzRequest): Promise<string[]>;
}

/** Holds a server to its document. */
export function checker({ server, document, secrets, send }: FuzzedServer): Checker {
  const held = documented(document);
  let logged = 0;

  function secretsIn(text: string, where: string): string[] {
    return [...secrets].flatMap(([name, secret]) => (text.includes(secret) ? [`the ${name} is in ${where}`] : []));
  }

  async function answerProblems(asked: FuzzRequest): Promise<string[]> {
    const answer = await send(asked);
    const { status, text, headers } = answer;
    const leaks = secretsIn(`${text}${JSON.stringify(headers)}`, 'the answer');
    if (UNREAD.has(status)) return leaks;
    if (!asked.operation || isElsewhere(asked)) {
      return UNROUTED.has(status) ? leaks : [`${asked.method} elsewhere ${status}: ${text.slice(0, 200)}`, ...leaks];
    }
    if (/event-stream/.test(headers['content-type'] ?? '')) return leaks;
    // 501 and 504 are answers of DID resolution and of a node; other faults of the server are none.
    const faults =
      status < 500 || status === 501 || status === 504 ? [] : [`${asked.operation} ${status}: ${text.slice(0, 200)}`];
    try {
      return [...faults, ...held.problemsOf(asked.operation, answer), ...leaks];
    } catch (error) {
      return [...faults, `${asked.operation} ${status} cannot be read: ${(error as Error).message}`, ...leaks];
    }
  }

  return {
    seen: held.seen,
    async check(asked) {
      const problems = await answerProblems(asked).catch((error: Error) => [
        `${asked.operation ?? asked.method} has no answer: ${error.message}`,
      ]);
      for (; logged < server.logged.length; logged++) {
        const line = server.logged[logged]!;
        const text = JSON.stringify(line);
        problems.push(...secretsIn(text, 'the log'));
        if (Number(line.level) >= ERROR_LEVEL) problems.push(`logged: ${text.slice(0, 600)}`);
      }
      return problems;
    },
  };
}

/** Whether a segment of the path leads to another route, as `..` and an encoded slash may. */
const isElsewhere = ({ path }: FuzzRequest) =>
  /%2f|\/\.{1,2}(\/|$)|\/(\/|$|\?)/i.test(path.split('?')[0]!) && path !== '/';
