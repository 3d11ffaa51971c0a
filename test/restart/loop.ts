// The restart loop: real processes write on the same files until each is killed with -9, again and again.
//
// One cycle is one process: started, it opens both stores, finds everything that its lane was ever told is stored, writes,
// and is killed after as many acknowledgements as the seed decides. All lanes of a round are dead before the next one begins.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { builtFile } from '../support/build.ts';
import { numbersFrom } from '../support/random.ts';
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
  /** At least so many, and as many more until one was killed between a write and the word of it. */
  readonly cycles: number;
  readonly seed: number;
  readonly onRound?: (so: Restarts) => void;
}

const LANES = ['one', 'two'];
/** Acknowledgements before the kill, at most. */
const ACKNOWLEDGED_MOST = 40;

interface Lane {
  readonly name: string;
  readonly sessions: Record<string, number>;
  readonly documents: Record<string, number>;
  after: number;
}

/** Throws when something that was acknowledged is missing or torn. */
export async function restartLoop({ folder, cycles, seed, onRound }: LoopOptions): Promise<Restarts> {
  const writer = await builtFile('test/restart/writer.ts');
  const so: Restarts = { cycles: 0, sessions: 0, documents: 0, checked: 0, ahead: 0 };
  const lanes = LANES.map((name): Lane => ({ name, sessions: {}, documents: {}, after: 0 }));
  const random = numbersFrom(seed);
  const start = (lane: Lane) =>
    cycle(lane, so, {
      child: fork(writer, [folder, lane.name], { execArgv: [] }),
      acknowledged: 1 + Math.floor(random() * ACKNOWLEDGED_MOST),
    });
  while (so.cycles < cycles || so.ahead === 0) {
    const rounds = lanes.map(start);
    // Nobody may be left behind when one lane fails.
    for (const round of await Promise.allSettled(rounds)) if (round.status === 'rejected') throw round.reason;
    onRound?.(so);
  }
  // What the last ones wrote is looked up too.
  for (const lane of lanes) await start(lane);
  return so;
}

interface Writer {
  readonly child: ChildProcess;
  /** After so many acknowledgements it is killed. */
  readonly acknowledged: number;
}

async function cycle(lane: Lane, so: Restarts, { child, acknowledged }: Writer): Promise<void> {
  const gone = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  let broken: Error | undefined;
  let isChecked = false;
  let left = acknowledged;
  const record: { readonly [kind in Told['kind']]: (told: never) => void } = {
    checked: (told: Extract<Told, { kind: 'checked' }>) => {
      so.checked += Object.keys({ ...told.sessions, ...told.documents }).length;
      so.ahead += ahead(told.sessions, lane.sessions) + ahead(told.documents, lane.documents);
      Object.assign(lane.sessions, told.sessions);
      Object.assign(lane.documents, told.documents);
      lane.after = told.after;
      isChecked = true;
    },
    broken: ({ what }: Extract<Told, { kind: 'broken' }>) => {
      broken ??= new Error(what);
      left = 0;
    },
    session: ({ name, revision }: Write) => {
      so.sessions++;
      left--;
      lane.sessions[name] = revision;
    },
    document: ({ name, revision }: Write) => {
      so.documents++;
      left--;
      lane.documents[name] = revision;
    },
  };
  try {
    await new Promise<void>((resolve) => {
      void gone.then(() => resolve());
      child.on('message', (told: Told) => {
        record[told.kind](told as never);
        if (left <= 0) resolve();
      });
      child.send({ sessions: lane.sessions, documents: lane.documents, after: lane.after });
    });
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

type Write = Extract<Told, { kind: 'session' | 'document' }>;

function ahead(found: Acknowledged, told: Acknowledged): number {
  return Object.entries(found).filter(([name, revision]) => revision > (told[name] ?? 0)).length;
}

/** One line for people. */
export const wordsOf = ({ cycles, sessions, documents, checked, ahead }: Restarts): string =>
  `${cycles} processes killed with -9 while they wrote; ${sessions} commits of sessions and ${documents} writes of documents acknowledged; ${checked} names looked up after restarts, ${ahead} one unacknowledged write ahead; nothing missing, nothing torn`;
