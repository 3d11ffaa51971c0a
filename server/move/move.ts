// A move of all that stores hold from one place to another one: nothing is written before both sides are found fit for it, what was
// begun goes on after a crash, and in the end both sides are compared.

import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { agreeOnKey, redisMark } from '../stores/key-mark.ts';
import { align, type Compared, compareLists } from './aligned.ts';
import { changeLists, declareKinds, documentLists, listDocuments } from './documents.ts';
import { beginMarks, finishMarks, refuseOtherData, refuseOtherKeys, refuseServed } from './fitness.ts';
import { alignRuns, compareRuns, countRuns, type RunSides } from './runs.ts';
import { alignSessions, compareSessions, countSessions } from './sessions.ts';
import type { MoveSide } from './sides.ts';

export interface MoveOptions {
  readonly source: MoveSide;
  readonly target: MoveSide;
  /** The keys of the servers on the target. */
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** Name of a kind → how many the source has; none that is 0. `sessions`, `runs` and `changes` are no kinds of documents. */
export type Survey = ReadonlyMap<string, number>;
/** Name of a kind → what both sides have. */
export type MoveResult = ReadonlyMap<string, Compared>;

/**
 * Counts what there is to move. Throws ERR_CONFLICT when a server has one of the sides open, ERR_EXISTS when the target holds
 * something else, and ERR_CONFIG when the keys are not those that sealed it. Writes nothing.
 */
export async function surveyMove({ source, target, keyring }: MoveOptions): Promise<Survey> {
  await refuseServed(source, 'moved from');
  await refuseServed(target, 'moved to');
  await refuseOtherKeys(source, keyring);
  await refuseOtherData(source, target);
  const counts = new Map<string, number>();
  if (source.sessions) counts.set('sessions', await countSessions(source.sessions));
  const runs = findRuns(source, source);
  if (runs) counts.set('runs', await countRuns(runs));
  if (source.documents) {
    const { store, transfer } = source.documents;
    for (const kind of await transfer.kinds()) counts.set(kind.name, await countAll(listDocuments(store, kind)));
    counts.set('changes', await countAll(changeLists(source.documents, source.documents).source()));
  }
  return new Map([...counts].filter(([, count]) => count > 0));
}

async function countAll(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

/**
 * Makes the target hold what the source holds, and reads both again to compare them. `onItem` is called for each thing that is copied
 * or was there, and again as it is compared. Call {@link surveyMove} first. Rejects with what a store says; the next call goes on.
 */
export async function move(options: MoveOptions, onItem: () => void = () => {}): Promise<MoveResult> {
  const { source, target, keyring, clock } = options;
  await beginMarks(source, target, clock);
  if (target.sessions?.redis) await agreeOnKey(redisMark(target.sessions.redis), keyring);
  const result = new Map<string, Compared>();
  const feedBefore = await source.documents?.store.lastChange();
  if (source.sessions && target.sessions) await alignSessions(source.sessions, target.sessions, onItem);
  const runs = findRuns(source, target);
  if (runs) await alignRuns(runs, onItem);
  if (source.sessions && target.sessions)
    result.set('sessions', await compareSessions(source.sessions, target.sessions, { now: clock.now, onItem }));
  if (runs) result.set('runs', await compareRuns(runs, onItem));
  if (source.documents && target.documents) {
    const kinds = await declareKinds(source.documents, target.documents);
    for (const kind of kinds) await align(await documentLists(kind, source.documents, target.documents), onItem);
    const changes = changeLists(source.documents, target.documents);
    await align(changes, onItem);
    for (const kind of kinds)
      result.set(kind.name, await compareLists(await documentLists(kind, source.documents, target.documents), onItem));
    result.set('changes', await compareLists(changes, onItem));
  }
  await refuseServed(source, 'moved from');
  if (feedBefore !== (await source.documents?.store.lastChange()))
    throw new TwinlineError(
      'ERR_CONFLICT',
      `${source.documents!.name} was written while it was moved. Stop all servers on it and move again.`,
    );
  const isWhole = [...result.values()].every(isAlike);
  if (isWhole) await finishMarks(source, target, clock);
  return new Map([...result].filter(([, { source: ours, target: theirs }]) => ours.count + theirs.count > 0));
}

/** Whether both sides have the same. */
export function isAlike({ source, target }: Compared): boolean {
  return source.count === target.count && source.hash === target.hash;
}

/** Where frames of runs can be found: documents name the runs. */
function findRuns({ sessions, documents, runDocuments }: MoveSide, target: MoveSide): RunSides | undefined {
  const named = documents?.store ?? runDocuments;
  if (!sessions || !target.sessions || !named) return undefined;
  return { documents: named, source: sessions.logs, target: target.sessions.logs };
}
