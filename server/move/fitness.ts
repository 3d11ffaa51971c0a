// What has to be so before a move, and the marks that tell of it: nobody serves either side, the keys are those that sealed what is
// moved, and the target is empty or holds the beginning of this very move.

import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { checkCanary } from '../../lib/sealing.ts';
import { AUDIT_KINDS } from '../audit/audit.ts';
import { redisMark, SERVER } from '../stores/key-mark.ts';
import { documentMarks, type MoveMarks, sessionMarks } from '../stores/move-mark.ts';
import { listHeld } from '../stores/passed-over.ts';
import { readPinCanary } from '../stores/stores.ts';
import { countSessions } from './sessions.ts';
import type { MoveSide } from './sides.ts';

/** Kinds of what a server leaves in empty stores that is only started. */
const OF_STARTS = new Set([SERVER, ...AUDIT_KINDS].map(({ name }) => name));

/** Throws ERR_CONFLICT when other processes have this side open. Where a backend does not tell, nothing is said. */
export async function refuseServed({ presence }: MoveSide, what: 'moved from' | 'moved to'): Promise<void> {
  const others = (await presence?.transfer.others()) ?? [];
  if (!others.length) return;
  const who = others.slice(0, 3).join(', ');
  throw new TwinlineError(
    'ERR_CONFLICT',
    `${presence!.name}, which is ${what}, is in use by ${who}. Stop all servers on it first, and close other commands that have it open.`,
  );
}

/** Throws ERR_CONFIG when PINs or sessions of this side were sealed with a key that is not in the keyring. */
export async function refuseOtherKeys({ sessions, documents }: MoveSide, keyring: Keyring): Promise<void> {
  const kinds = (await documents?.transfer.kinds()) ?? [];
  const isMarked = kinds.some(({ name }) => name === SERVER.name);
  const canary = isMarked ? await readPinCanary(documents!.store) : undefined;
  if (canary !== undefined) checkCanary(keyring, canary);
  const kept = sessions?.redis && (await redisMark(sessions.redis).read());
  if (kept) checkCanary(keyring, kept.text, 'sessions');
}

/** The marks of the stores that are moved, each with the place that its store is filled from. */
function listMarks(
  source: MoveSide,
  target: MoveSide,
): { readonly marks: MoveMarks; readonly from: string; readonly name: string }[] {
  const { sessions, documents } = target;
  return [
    ...(sessions && source.sessions
      ? [{ marks: sessionMarks(sessions.store), from: source.sessions.place, name: sessions.name }]
      : []),
    ...(documents && source.documents
      ? [
          {
            marks: documentMarks(documents.store, documents.transfer),
            from: source.documents.place,
            name: documents.name,
          },
        ]
      : []),
  ];
}

/** Throws ERR_EXISTS when the target holds anything but what a server leaves that was only started, or the beginning of this move. */
export async function refuseOtherData(source: MoveSide, target: MoveSide): Promise<void> {
  let isBegun = false;
  for (const { marks, from, name } of listMarks(source, target)) {
    const mark = await marks.underWay();
    if (mark && mark.from !== from)
      throw new TwinlineError(
        'ERR_EXISTS',
        `${name} is being filled from ${mark.from}. Let that move end, or empty it.`,
      );
    isBegun ||= mark !== undefined;
  }
  if (isBegun) return;
  const found = [...(await countInDocuments(target)), ...(await countInSessions(target))];
  if (found.length)
    throw new TwinlineError(
      'ERR_EXISTS',
      `The target is not empty: ${found.join(', ')}. Nothing was changed. Name other stores, or empty these if nobody needs what they hold.`,
    );
}

async function countInSessions({ sessions }: MoveSide): Promise<string[]> {
  const count = sessions ? await countSessions(sessions) : 0;
  return count ? [`${sessions!.name} holds ${count} of sessions`] : [];
}

async function countInDocuments({ documents }: MoveSide): Promise<string[]> {
  if (!documents) return [];
  const { store, transfer, name } = documents;
  const counts = await listHeld(store, await transfer.kinds());
  // Documents that are gone have left their changes.
  const changes = (await store.changes(0, 100)).filter(({ kind }) => !OF_STARTS.has(kind));
  if (!counts.length && changes.length) counts.push('changes of documents that were removed');
  return counts.length ? [`${name} holds ${counts.join(', ')}`] : [];
}

/** Keeps servers out of the target until the move has ended. */
export async function beginMarks(source: MoveSide, target: MoveSide, clock: Pick<Clock, 'now'>): Promise<void> {
  await target.documents?.store.declare([SERVER]);
  for (const { marks, from } of listMarks(source, target))
    if (!(await marks.underWay())) await marks.begin({ from, at: formatTime(clock) });
}

/** Lets servers in. */
export async function finishMarks(source: MoveSide, target: MoveSide, clock: Pick<Clock, 'now'>): Promise<void> {
  for (const { marks, from } of listMarks(source, target)) await marks.finish({ from, at: formatTime(clock) });
}

const formatTime = (clock: Pick<Clock, 'now'>) => new Date(clock.now()).toISOString();
