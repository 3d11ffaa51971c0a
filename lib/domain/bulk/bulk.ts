// Creating many protocols and twins: line by line, several at a time, answered in order; a failed line fails alone.

import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { mintDid } from '../did/did.ts';
import type { Idempotency } from '../idempotency.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, isRefusal, refuse } from '../problems.ts';
import { registry } from '../registry.ts';
import { dryRun } from './dry-run.ts';
import { findEarlier, type ImportTarget, type NewLine } from './known-line.ts';
import { exportCheck, isManifestLine, NO_MANIFEST } from './manifest.ts';
import type { NumberedLine } from './ndjson.ts';
import { type ImportedLine, importRecord, isRecordLine } from './record-lines.ts';

export interface BulkOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
}

export interface BulkRequest {
  readonly lines: AsyncIterable<NumberedLine>;
  /** Checks everything and writes nothing. */
  readonly dryRun: boolean;
  /** The lines are a part of a file that the sender checks: nothing is asked of the first and last line of an export. */
  readonly isPart?: boolean | undefined;
  /** An Idempotency-Key for all lines: the same lines with the same key change nothing. */
  readonly key?: string | undefined;
  /** Called before the first line of an export is taken; what it rejects with is the error of that line. @default nothing */
  readonly beforeRecords?: () => Promise<void>;
}

/** What became of a line: `created`, or it was there already; or why not; or it was the first or last one of an export. */
export type LineResult = { readonly line: number; readonly warning?: string } & (
  | (ImportedLine & { readonly error?: never })
  | { readonly error: unknown; readonly did?: never }
  | { readonly isManifest: true; readonly error?: never; readonly did?: never }
);

export type Bulk = (caller: Caller, request: BulkRequest) => AsyncGenerator<LineResult>;

/** Twins, protocols (`kind: "protocol"`) and records of an export, in lines that may refer to lines before them. */
export function bulk({ documents, clock, idempotency }: BulkOptions): Bulk {
  return (caller, { lines, dryRun: isDry, key, isPart = false, beforeRecords = async () => {} }) => {
    const trial = isDry ? dryRun(documents) : undefined;
    const real = { documents, twins: registry({ documents, clock }) };
    const waitFor = waitingList();
    let begun: Promise<void> | undefined;

    async function beginRecords(): Promise<void> {
      requireRole(caller, 'import records');
      begun ??= beforeRecords();
      await begun.catch((error: unknown) => {
        begun = undefined;
        throw error;
      });
    }

    async function take(line: Extract<NumberedLine, { value: Json }>): Promise<ImportedLine> {
      if (!trial) {
        if (isRecordLine(line.value)) await beginRecords();
        const once = findKey(line, key);
        if (once === undefined) return takeLine(real, caller, { value: line.value });
        return takeOnce(idempotency, { caller, line, key: once }, (token) =>
          takeLine(real, caller, { value: line.value, did: mintDid(token) }),
        );
      }
      const tried = trial.line({ isRecord: isRecordLine(line.value) });
      const place = { documents: tried.documents, twins: registry({ documents: tried.documents, clock }) };
      const result = await takeLine(place, caller, { value: line.value });
      tried.end();
      return result;
    }

    async function work({ warning, ...line }: CheckedLine): Promise<LineResult> {
      const place = { line: line.line, ...(warning !== undefined && { warning }) };
      if ('problem' in line) return { ...place, error: line.problem };
      if (isManifestLine(line.value)) return { ...place, isManifest: true };
      try {
        return { ...place, ...(await waitFor(line.value, () => take(line))) };
      } catch (error) {
        return { ...place, error };
      }
    }
    const limited = limitLines(lines);
    const checked = isPart ? limited : checkLines(limited);
    return inOrder(checked, { width: DOMAIN_LIMITS.bulkAtOnce, work });
  };
}

type CheckedLine = NumberedLine & { readonly warning?: string };

// What is wrong with the file as a whole is told at the line where it is seen, at the latest after the last one.
async function* checkLines(lines: AsyncIterable<NumberedLine>): AsyncGenerator<CheckedLine> {
  const check = exportCheck();
  let last = 0;
  let [isWarned, isTold] = [false, false];
  for await (const line of lines) {
    last = line.line;
    const problem = check.take(line);
    if (problem) {
      isTold = true;
      yield { line: last, problem };
      continue;
    }
    yield check.isBare && !isWarned ? { ...line, warning: NO_MANIFEST } : line;
    isWarned = check.isBare;
  }
  const { problem } = check.finish();
  if (problem && !isTold) yield { line: last + 1, problem };
}

// The line after the last one that is read says why it is the last.
async function* limitLines(lines: AsyncIterable<NumberedLine>): AsyncGenerator<NumberedLine> {
  for await (const line of lines) {
    if (line.line > DOMAIN_LIMITS.bulkLines) {
      yield { line: line.line, problem: tooMany() };
      return;
    }
    yield line;
  }
}

function tooMany(): TwinlineError {
  return refuse('too-large', `One import has at most ${DOMAIN_LIMITS.bulkLines} lines. Send the rest in another one.`);
}

async function takeLine(
  place: ImportTarget,
  caller: Caller,
  { value, did }: { value: Json; did?: string },
): Promise<ImportedLine> {
  if (isRecordLine(value)) return importRecord(place.documents, caller, value);
  const form = readForm(value);
  const earlier = await findEarlier(place, caller, form);
  if (earlier) return earlier;
  const { kind, body } = form;
  const { twins } = place;
  try {
    if (kind === 'protocol') return { did: (await twins.protocols.create(caller, body, did)).body.did, created: true };
    const reference = kind === 'entity' ? 'protocol' : 'class';
    return {
      did: (await twins.create(caller, { body, wanted: reference, ...(did !== undefined && { did }) })).id,
      created: true,
    };
  } catch (error) {
    // Somebody else was first, with the same name.
    const other = isRefusal(error, 'already-exists') ? await findEarlier(place, caller, form) : undefined;
    if (!other) throw error;
    return other;
  }
}

function readForm(value: Json): NewLine {
  if (!isObject(value)) throw invalid('A line is a JSON object.', [{ field: '/', error: 'must be an object' }]);
  const { kind, idempotencyKey: _key, ...body } = value;
  if (kind === 'protocol') return { kind, body: { type: 'Protocol', ...body } };
  if (kind === undefined) return { kind: body.type === 'Protocol' ? 'protocol' : 'domain', body };
  if (kind === 'domain' || kind === 'entity') return { kind, body };
  throw invalid('The line is of an unknown kind.', [{ field: '/kind', error: 'must be protocol, domain or entity' }]);
}

/** The key of a line: its own, or one from that of the request for a line that nothing else tells from its like. */
function findKey({ value, line }: { value: Json; line: number }, key: string | undefined): string | undefined {
  if (!isObject(value) || isRecordLine(value)) return undefined;
  const { idempotencyKey: own, externalId, alsoKnownAs } = value;
  if (typeof own === 'string') return own;
  if (own !== undefined)
    throw invalid('The key of the line cannot be used.', [{ field: '/idempotencyKey', error: 'must be a string' }]);
  if (key === undefined || externalId !== undefined || alsoKnownAs !== undefined) return undefined;
  return createHash('sha256').update(`${line} ${key}`).digest('base64url');
}

interface Once {
  readonly caller: Caller;
  readonly line: { readonly text: string };
  readonly key: string;
}

async function takeOnce(
  idempotency: Idempotency,
  { caller, line, key }: Once,
  work: (token: string) => Promise<ImportedLine>,
): Promise<ImportedLine> {
  const scope = [caller.tenant, caller.principal, 'bulk'];
  let result: ImportedLine | undefined;
  const { did } = await idempotency.runOnce({ scope, key, content: line.text.trim() }, async (token) => {
    result = await work(token);
    return { did: result.did };
  });
  return result ?? { did, created: false };
}

/** Lets lines that name each other wait for the earlier one. Everything else goes on at the same time. */
function waitingList() {
  const busy = new Map<string, Promise<unknown>>();
  return async (value: Json, work: () => Promise<ImportedLine>): Promise<ImportedLine> => {
    const texts = textsIn(value);
    const before = [...texts].flatMap((text) => busy.get(text) ?? []);
    const names = listOwnNames(value);
    const run = Promise.allSettled(before).then(work);
    for (const name of names) busy.set(name, run);
    try {
      return await run;
    } finally {
      for (const name of names) if (busy.get(name) === run) busy.delete(name);
    }
  };
}

function listOwnNames(value: Json): string[] {
  if (!isObject(value)) return [];
  const { id, externalId, alsoKnownAs, idempotencyKey } = value;
  const names = isRecordLine(value) ? [id] : [externalId, idempotencyKey, alsoKnownAs].flat();
  return names.filter((name) => typeof name === 'string');
}

function textsIn(value: Json): Set<string> {
  const texts = new Set<string>();
  for (const stack: Json[] = [value]; stack.length; ) {
    const part = stack.pop()!;
    if (typeof part === 'string') texts.add(part);
    else if (typeof part === 'object' && part !== null) for (const inner of Object.values(part)) stack.push(inner);
  }
  return texts;
}

/** Starts `work` on up to `width` items; gives its answers in order, each as soon as it can be. `work` never rejects. */
export async function* inOrder<T, A>(
  items: AsyncIterable<T>,
  { width, work }: { readonly width: number; readonly work: (item: T) => Promise<A> },
): AsyncGenerator<A> {
  const source = items[Symbol.asyncIterator]();
  const running: Promise<{ answer: A }>[] = [];
  const ask = () => source.next().then((item) => ({ item }));
  let next: ReturnType<typeof ask> | undefined = ask();
  try {
    while (next || running.length) {
      const first = running[0];
      const turns = [...(first ? [first] : []), ...(next && running.length < width ? [next] : [])];
      const turn = await Promise.race<{ answer: A } | { item: IteratorResult<T> }>(turns);
      if ('answer' in turn) {
        void running.shift();
        yield turn.answer;
      } else if (turn.item.done) next = undefined;
      else {
        running.push(work(turn.item.value).then((answer) => ({ answer })));
        next = ask();
      }
    }
  } finally {
    // Does not wait for a source that has stopped producing lines.
    next?.catch(() => {});
    void source.return?.().catch(() => {});
  }
}
