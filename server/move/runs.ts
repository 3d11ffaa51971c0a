// The frames of runs of the agent, from one store of logs into another one: those of the runs that are among the documents, with their
// fence, their end and the time at which they expire.

import { RUN } from '../../lib/agent/kinds.ts';
import { logName } from '../../lib/agent/run/frames.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { LogState, LogStore } from '../../lib/store/log-store.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { type Compared, summarize } from './aligned.ts';
import { listDocuments } from './documents.ts';

/** Documents that name the runs, and the logs of both sides. */
export interface RunSides {
  readonly documents: Pick<DocumentStore, 'find' | 'count'>;
  readonly source: LogStore;
  readonly target: LogStore;
}

const PAGE = 500;

/** Makes the target like the source. Killed anywhere in it, the next call goes on. */
export async function alignRuns({ documents, source, target }: RunSides, onItem: () => void): Promise<void> {
  for await (const log of listLogs(documents)) {
    const [ours, theirs] = [await readText(source, log), await readText(target, log)];
    if (ours !== theirs) {
      if (theirs !== undefined) await target.remove(log);
      const state = await source.state(log);
      if (state) await copy(log, state, { source, target });
    }
    if (ours !== undefined) onItem();
  }
}

async function copy(log: string, state: LogState, { source, target }: Omit<RunSides, 'documents'>): Promise<void> {
  const claim = { fence: state.fence, expiresAt: state.expiresAt };
  await target.open(log, claim);
  for await (const { texts, after } of readFrames(source, log))
    requireAppended(log, (await target.append(log, texts, { ...claim, expected: after })).kind);
  if (state.ended)
    requireAppended(log, (await target.append(log, [], { ...claim, expected: state.last, end: true })).kind);
}

function requireAppended(log: string, kind: string): void {
  if (kind !== 'appended')
    throw new TwinlineError(
      'ERR_CONFLICT',
      `The frames of ${log} cannot be written: ${kind}. Does a server use the target?`,
    );
}

/** Reads both stores to their ends. */
export async function compareRuns({ documents, source, target }: RunSides, onItem: () => void): Promise<Compared> {
  const [ours, theirs] = [summarize(), summarize()];
  for await (const log of listLogs(documents)) {
    // In this order: what the second look still finds, the first one did.
    const copy = await readText(target, log);
    const original = await readText(source, log);
    if (original === undefined) continue;
    onItem();
    ours.add(original);
    if (copy !== undefined) theirs.add(copy);
  }
  return { source: ours.read(), target: theirs.read() };
}

/** How many logs the source has. */
export async function countRuns({ documents, source }: RunSides): Promise<number> {
  let count = 0;
  for await (const log of listLogs(documents)) if (await source.state(log)) count++;
  return count;
}

/** The names of the logs of all runs. */
async function* listLogs(documents: RunSides['documents']): AsyncGenerator<string> {
  const isDeclared = await documents.count(RUN).then(() => true, refuseAllButUndeclared);
  if (isDeclared) for await (const { id } of listDocuments(documents, RUN)) yield logName(id);
}

// Where no agent service has ever been.
function refuseAllButUndeclared(error: unknown): false {
  if (error instanceof TwinlineError && error.code === 'ERR_INPUT') return false;
  throw error;
}

// The hash of all of a log; undefined when there is none.
async function readText(logs: LogStore, log: string): Promise<string | undefined> {
  const state = await logs.state(log);
  if (!state) return undefined;
  const all = summarize();
  for await (const { texts } of readFrames(logs, log)) for (const text of texts) all.add(JSON.stringify(text));
  const { first, last, ended, fence, expiresAt } = state;
  return JSON.stringify([log, first, last, ended, fence, expiresAt, all.read()]);
}

async function* readFrames(logs: LogStore, log: string): AsyncGenerator<{ texts: string[]; after: number }> {
  for (let after = 0; ; ) {
    const page = await logs.read(log, { after, limit: PAGE });
    if (!page?.frames.length) return;
    yield { texts: page.frames.map(({ text }) => text), after };
    after = page.frames.at(-1)!.n;
  }
}
