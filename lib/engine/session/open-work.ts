// The working copy of a session: as a conversation begins, and from its record.

import type { JsonObject } from '../../json/json.ts';
import { startTrace } from '../conversation.ts';
import { currentConversation, type Engine } from '../engine.ts';
import { begin } from '../machine/step.ts';
import { NO_EVENT } from '../machine/transition.ts';
import { findOwner, type TurnMemory, turnMemory } from '../memory/keeping.ts';
import type { Live } from './open.ts';
import type { SessionRecord, SessionTask } from './record.ts';
import { applyResult, feed, type Work } from './work.ts';
import { readInput, type WorkingCall, workingCall } from './working-calls.ts';

const NO_TASKS: readonly SessionTask[] = [];

interface FirstWork {
  readonly conversation: string;
  readonly input?: JsonObject;
  /** The record of an earlier dial with the same key. */
  readonly after?: SessionRecord;
  readonly memory?: TurnMemory | undefined;
}

/** Begins a conversation at its initial state. */
export function beginWork(engine: Engine, key: string, first: FirstWork): Work {
  const conversation = currentConversation(engine, first.conversation);
  const at = engine.clock.now();
  const result = begin(conversation.machine, first.input ?? {}, { at });
  const work: Work = {
    key,
    conversation,
    turn: (first.after?.turn ?? 0) + 1,
    startedAt: at,
    live: result.live,
    door: {},
    timers: [],
    calls: [],
    waiting: false,
    refusal: undefined,
    busy: undefined,
    others: [],
    isOvertaken: false,
    isOverlapping: false,
    steps: 0,
    completed: [],
    answered: [],
    started: [],
    facts: [],
    tasks: first.after?.tasks ?? NO_TASKS,
    newTasks: [],
    problems: [],
    events: [],
    resumableUntil: undefined,
    memory: first.memory,
    trace: startTrace(engine.inspector),
  };
  applyResult(engine, work, result);
  return work;
}

/** Continues a session from its record. What a try in vain has `rewritten` in the memory of its caller is written again. */
export function resumeWork(
  engine: Engine,
  key: string,
  { conversation, record, isMigrated, live }: Live,
  rewritten?: readonly string[],
): Work {
  const owner = conversation.keeping && findOwner(engine, conversation, record.door);
  const work: Work = {
    key,
    conversation,
    turn: record.turn + 1,
    startedAt: record.startedAt,
    live,
    door: record.door,
    timers: record.timers,
    calls: record.calls.map((call) => ({
      id: call.id,
      call,
      stored: true,
      ...readInput(engine, call),
    })),
    // The outcome of a turn that was begun and never answered was not shown to the caller either.
    waiting: record.waiting === true || record.calls.length > 0,
    refusal: undefined,
    busy: record.busy,
    others: record.others ?? [],
    isOvertaken: record.isOvertaken === true,
    isOverlapping: false,
    steps: 0,
    completed: record.completed ?? [],
    answered: [],
    started: [],
    facts: [],
    tasks: record.tasks ?? NO_TASKS,
    newTasks: [],
    problems: [],
    events: [],
    resumableUntil: record.resumableUntil,
    memory: owner && turnMemory(owner, conversation.keeping!.read(record.rest.context), rewritten),
    trace: startTrace(engine.inspector),
  };
  if (isMigrated) enterMigrated(engine, work);
  return work;
}

// The state of a migrated record was never entered in this version: its calls are made now, and its eventless
// transitions taken. A pending call of the same name goes on; a new one that needs a secret fails, for the secret is gone.
function enterMigrated(engine: Engine, work: Work): void {
  const { machine } = work.conversation;
  const pending = new Set(work.calls.map(({ id }) => id));
  const missing = machine.listCalls(work.live).filter(({ id }) => !pending.has(id));
  const additions = missing.map((call) => workingCall(engine, work, { ...call, hops: 0 }));
  const failure = ({ id, call }: WorkingCall): WorkingCall => ({ id, call: { ...call, until: 0 }, stored: true });
  work.calls = [
    ...work.calls,
    ...additions.map((call) => (call.call.input === undefined && !call.call.sealed ? failure(call) : call)),
  ];
  feed(engine, work, NO_EVENT);
  work.waiting ||= work.calls.length > 0;
}
