// One case on both sides: XState in memory, and Twinline with a restore between all events.

import * as assert from 'uvu/assert';
import type { AnyStateMachine } from 'xstate';
import type { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { Durable } from './durable.ts';
import type { ScriptStep } from './generate.ts';
import { type Behaviours, type InMemory, inMemory, type Standing } from './in-memory.ts';

/** How the services of random machines answer. Their times meet no timer's. */
export const BEHAVIOURS: Behaviours = {
  quick: { after: 7, answer: ({ n }) => ({ twice: 2 * (n as number) }) },
  slow: { after: 93, answer: ({ n }) => [n as number] },
  bad: { after: 13, error: { code: 'ERR_INPUT', message: 'no' } },
  never: { after: undefined },
};

export interface Script {
  readonly input?: JsonObject;
  readonly script: readonly ScriptStep[];
  readonly isAsleep?: boolean;
}

/** Begins a machine that is stored between any two events. */
export type Begin = (machine: AnyStateMachine, behaviours: Behaviours, input?: JsonObject) => Promise<Durable>;

/** Runs the script on both; rejects at the first difference. True: it was compared to its end. */
export async function compare(
  machine: AnyStateMachine,
  { input = {}, script, isAsleep = false, behaviours = BEHAVIOURS }: Script & { behaviours?: Behaviours },
  begin: Begin,
): Promise<boolean> {
  const theirs = inMemory(machine, behaviours, input);
  if (theirs.isIncomparable) return false;
  if (theirs.hasThrown) return isRefused(begin(machine, behaviours, input), theirs);
  theirs.advance(0);
  if (theirs.isIncomparable) return false;
  const ours = await begin(machine, behaviours, input).catch((error: TwinlineError) => {
    if (/^Cannot compile .* while the state .* may do so, too/.test(error.message)) return undefined;
    throw error;
  });
  if (!ours) return false;
  await ours.wake();
  try {
    return await follow(theirs, ours, { script, isAsleep });
  } finally {
    await ours.close();
  }
}

async function follow(theirs: InMemory, ours: Durable, { script, isAsleep = false }: Script): Promise<boolean> {
  same(theirs, ours, 'at the beginning');
  for (const [at, { ms, event }] of script.entries()) {
    if (theirs.look().status !== 'active') return true;
    theirs.advance(ms);
    if (theirs.isIncomparable) return false;
    await ours.pass(ms, isAsleep);
    if (event) {
      const wasActive = theirs.look().status === 'active';
      theirs.send(event);
      if (theirs.isIncomparable) return false;
      if (wasActive && theirs.hasThrown) return isRefused(ours.send(event), theirs);
      theirs.advance(0);
      if (theirs.isIncomparable) return false;
      await ours.send(event);
    }
    await ours.wake();
    if (theirs.mayLoop && ours.look().error === 'ERR_TURN_LIMIT') return false;
    same(theirs, ours, `after step ${at + 1}, ${event?.type ?? 'a look'}`);
  }
  return true;
}

/** An actor fails of an event on which it throws; Twinline refuses the event, and the machine stays where it is. */
async function isRefused(work: Promise<unknown>, theirs: InMemory): Promise<boolean> {
  const error = await work.then(
    () => undefined,
    (reason: TwinlineError) => reason,
  );
  if (error && /^Cannot compile /.test(error.message)) return false;
  assert.is(error?.code, theirs.look().error, `a step throws, and Twinline says ${error?.stack}`);
  return true;
}

function same(theirs: InMemory, ours: Durable, when: string): void {
  // Of a step that fails Twinline tells nothing; an actor has told what came before the fault.
  const view = (standing: Standing) => (theirs.hasThrown ? { ...standing, told: [] } : standing);
  const [expected, actual] = [view(theirs.look()), view(ours.look())];
  assert.equal(actual, expected, `${when}: Twinline ${brief(actual)}, XState ${brief(expected)}`);
}

const TAIL_CHARS = 600;

/** What it says at its end, where it differs. */
function brief(standing: object): string {
  const text = JSON.stringify(standing);
  return text.length > 2 * TAIL_CHARS ? `${text.slice(0, TAIL_CHARS / 3)} … ${text.slice(-TAIL_CHARS)}` : text;
}
