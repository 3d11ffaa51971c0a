// One SCXML case with nothing kept alive: every event and every timer meets a new engine, a new machine and the store.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import type { StateValue } from 'xstate';
import { SimulatedClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { decodeRecord, type SessionRecord } from '../../lib/engine/session/record.ts';
import { type Decision, takeTurn, wakeSession } from '../../lib/engine/session/turn.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { toMachine } from './convert.ts';
import { safeId } from './datamodel.ts';
import { type Element, readDocument } from './document.ts';

const FOLDER = join(
  dirname(createRequire(import.meta.url).resolve('@scion-scxml/test-framework/package.json')),
  'test',
);

// Three cases count to 100 in one step on purpose.
const MICROSTEPS = 300;

interface Script {
  readonly initialConfiguration: readonly string[];
  readonly events: readonly {
    readonly after?: number;
    readonly event: { readonly name: string };
    readonly nextConfiguration: readonly string[];
  }[];
}

interface Session {
  readonly document: Element;
  readonly clock: SimulatedClock;
  readonly store: SnapshotStore;
}

/** Runs `group/name`; rejects when a configuration is not the expected one. */
export async function runCase(name: string): Promise<void> {
  const script = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Script;
  const clock = new SimulatedClock();
  const document = readDocument(join(FOLDER, `${name}.scxml`));
  const session: Session = { document, clock, store: memorySnapshots({ clock }) };
  await turn(session, { kind: 'begin', conversation: 'scxml' });
  const isW3c = name.startsWith('w3c-ecma/');
  // What the W3C scripts begin with may be a configuration that is left again before the first event.
  if (!isW3c) assert.equal(configuration(session), sorted(script.initialConfiguration));
  for (const { after = 0, event, nextConfiguration } of script.events) {
    await pass(session, after);
    if (stored(session).ended) break;
    await turn(session, { kind: 'input', input: { type: event.name } });
    if (!isW3c) assert.equal(configuration(session), sorted(nextConfiguration));
  }
  if (isW3c) assert.equal(configuration(session), ['pass']);
}

function turn(session: Session, decision: Decision) {
  return takeTurn(restarted(session), { key: 'case', decide: () => decision });
}

/** Lets time pass as a scheduler would: at every moment when the session is due it is woken. */
async function pass(session: Session, ms: number): Promise<void> {
  const { clock } = session;
  const end = clock.now() + ms;
  for (let { dueAt } = stored(session); dueAt !== null && dueAt <= end; { dueAt } = stored(session)) {
    await clock.advance(dueAt - clock.now());
    await wakeSession(restarted(session), 'case');
  }
  await clock.advance(end - clock.now());
}

function restarted({ document, store, clock }: Session) {
  const machine = compileMachine(toMachine(document));
  machine.source.options.maxIterations = MICROSTEPS;
  return createEngine({ store, clock, conversations: [machineConversation(machine, { shown: 'all' })] });
}

function stored({ store }: Session) {
  const session = store.load('case');
  if (!session || session instanceof Promise) throw new Error('nothing is stored');
  return session;
}

function recordOf(session: Session): SessionRecord {
  const record = decodeRecord('case', stored(session).record, []);
  if (typeof record === 'string') throw new Error(record);
  return record;
}

const configuration = (session: Session) => leaves(recordOf(session).rest.state).sort();
const sorted = (ids: readonly string[]) => ids.map(safeId).sort();

function leaves(value: StateValue): string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([id, inner]) => {
    const below = leaves(inner!);
    return below.length ? below : [id];
  });
}
