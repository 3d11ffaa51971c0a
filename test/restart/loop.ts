// The restart loop: real processes write on the same files until each is killed with -9, again and again.
//
// One cycle is one process: started, it opens both stores, finds everything that its lane was ever told is stored, writes,
// and is killed at a moment that chance decides. All lanes of a round are dead before the next one begins.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { builtFile } from '../support/build.ts';
import type { Acknowledged, Told } from './messages.ts';

export interface Restarts {
  /** Processes that were killed while they wrote. */
  cycles: number;
  /** Acknowledged writes of sessions and of documents. */
  sessions: number;
  documents: number;
  /** Names that were looked up after a restart. */
  checked: number;
  /** Writes that were stored although their process was killed before it could say so. */
  ahead: number;
}

export interface LoopOptions {
  readonly folder: string;
  readonly cycles: number;
  readonly onRound?: (so: Restarts) => void;
}

const LANES = ['one', 'two'];
/** Milliseconds of writing before the kill. */
const WRITING_MS = 40;

interface Lane {
  readonly name: string;
  readonly sessions: Record<string, number>;
  readonly documents: Record<string, number>;
  after: number;
}

/** Throws when something that was acknowledged is missing or torn. */
export async function restartLoop({ folder, cycles, onRound }: LoopOptions): Promise<Restarts> {
  const writer = await builtFile('test/restart/writer.ts');
  const so: Restarts = { cycles: 0, sessions: 0, documents: 0, checked: 0, ahead: 0 };
  const lanes = LANES.map((name): Lane => ({ name, sessions: {}, documents: {}, after: 0 }));
  while (so.cycles < cycles) {
    const rounds = lanes.map((lane) => cycle(lane, fork(writer, [folder, lane.name], { execArgv: [] }), so));
    // Nobody may be left behind when one lane fails.
    for (const round of await Promise.allSettled(rounds)) if (round.status === 'rejected') throw round.reason;
    onRound?.(so);
  }
  // What the last ones wrote is looked up too.
  for (const lane of lanes) await cycle(lane, fork(writer, [folder, lane.name], { execArgv: [] }), so);
  return so;
}

async function cycle(lane: Lane, child: ChildProcess, so: Restarts): Promise<void> {
  const gone = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  let broken: Error | undefined;
  let isChecked = false;
  try {
    await new Promise<void>((resolve) => {
      void gone.then(() => resolve());
      child.on('message', (told: Told) => {
        switch (told.kind) {
          case 'checked':
            so.checked += Object.keys({ ...told.sessions, ...told.documents }).length;
            so.ahead += ahead(told.sessions, lane.sessions) + ahead(told.documents, lane.documents);
            Object.assign(lane.sessions, told.sessions);
            Object.assign(lane.documents, told.documents);
            lane.after = told.after;
            isChecked = true;
            return;
          case 'broken':
            broken ??= new Error(told.what);
            return resolve();
          case 'session':
            so.sessions++;
            lane.sessions[told.name] = told.revision;
            return resolve();
          case 'document':
            so.documents++;
            lane.documents[told.name] = told.revision;
            return resolve();
        }
      });
      child.send({ sessions: lane.sessions, documents: lane.documents, after: lane.after });
    });
    if (!broken) await pause(Math.random() * WRITING_MS);
  } finally {
    // Before this nobody ended it, so a process that is gone has failed.
    if (!child.kill('SIGKILL')) broken ??= new Error(`the writer of lane ${lane.name} ended with ${child.exitCode}`);
    // What it had told is still read.
    await gone;
  }
  if (broken) throw broken;
  if (!isChecked) throw new Error(`the writer of lane ${lane.name} wrote before it looked`);
  so.cycles++;
}

function ahead(found: Acknowledged, told: Acknowledged): number {
  return Object.entries(found).filter(([name, revision]) => revision > (told[name] ?? 0)).length;
}

/** One line for people. */
export const wordsOf = ({ cycles, sessions, documents, checked, ahead }: Restarts): string =>
  `${cycles} processes killed with -9 while they wrote; ${sessions} commits of sessions and ${documents} writes of documents acknowledged; ${checked} names looked up after restarts, ${ahead} one unacknowledged write ahead; nothing missing, nothing torn`;
