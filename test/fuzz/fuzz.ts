// Random requests to a server, one after the other; what breaks a promise is made smaller and kept.

import fc from 'fast-check';
import { checker } from './check.ts';
import { withFuzzedServer } from './place.ts';
import { type FuzzRequest, requestsOf } from './requests.ts';

export interface Finding {
  readonly request: FuzzRequest;
  readonly problems: readonly string[];
}

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Called after each request; false ends the run. */
  readonly onRequest?: (sent: number, findings: number) => boolean;
  /** Called with each finding as soon as it is small. */
  readonly onFinding?: (finding: Finding) => void;
}

export interface FuzzResult {
  readonly sent: number;
  readonly findings: readonly Finding[];
  /** Answers by operation and status, such as `GET /v1/domains 200`. */
  readonly answers: ReadonlySet<string>;
}

/** So many for one server: then another begins, with nothing in its stores. */
const PER_SERVER = 5_000;
const FINDINGS_MAX = 40;

/** Sends the requests. */
export async function fuzz({ requests, seed, onRequest = () => true, onFinding }: FuzzOptions): Promise<FuzzResult> {
  const findings: Finding[] = [];
  const known = new Set<string>();
  const answers = new Set<string>();
  let sent = 0;
  let goesOn = true;
  for (let round = 0; sent < requests && goesOn && findings.length < FINDINGS_MAX; round++)
    await withFuzzedServer(async (place) => {
      const { check, seen } = checker(place);
      const end = Math.min(requests, sent + PER_SERVER);
      for (let part = 0; sent < end && goesOn && findings.length < FINDINGS_MAX; part++) {
        let problems: string[] = [];
        const property = fc.asyncProperty(requestsOf(place.document), async (asked) => {
          if (sent >= end || !goesOn) return true;
          goesOn = onRequest(++sent, findings.length);
          const found = (await check(asked)).filter((problem) => !known.has(kindOf(problem)));
          if (found.length) problems = found;
          return found.length === 0;
        });
        const run = await fc.check(property, {
          seed: seed + round * 1_000 + part,
          numRuns: end - sent,
          endOnFailure: false,
        });
        if (!run.failed) continue;
        if (!run.counterexample || problems.length === 0)
          throw new Error(`fast-check: ${run.errorInstance ?? 'failed'}`);
        const finding = { request: run.counterexample[0], problems };
        findings.push(finding);
        onFinding?.(finding);
        for (const problem of problems) known.add(kindOf(problem));
      }
      for (const [operation, statuses] of seen) for (const status of statuses) answers.add(`${operation} ${status}`);
    });
  return { sent, findings, answers };
}

/** Problems of one kind are told once: digits and quoted words differ from one request to the next. */
const kindOf = (problem: string): string => problem.replaceAll(/"[^"]*"|\d{4,}/g, '…').slice(0, 160);

/** The request for a shell, with what a server of the test put in the place of `<<>>` left as it is. */
export function asCurl({ method, path, headers, body }: FuzzRequest): string {
  const quoted = (text: string) =>
    `$'${text.replaceAll(/[\\']/g, '\\$&').replaceAll(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : [`--data-binary ${quoted(body)}`];
  return ['curl --path-as-is -X', method, quoted(`http://127.0.0.1:3000${path}`), ...given, ...data].join(' ');
}
