// What `import … from 'twinline'` gives: the engine, flows, the memory stores, clocks and errors. Nothing runs on import.
// Stores with a backend have their own paths (twinline/store/lmdb …), so that no driver is loaded that is not used.

import type { loadFlow as load } from './flow/format/load.ts';

export { type Clock, SimulatedClock, systemClock } from './clock.ts';
export {
  type CallPolicy,
  type Conversation,
  type InspectionEvent,
  type Inspector,
  type Library,
  library,
  type Reply,
  type View,
} from './engine/conversation.ts';
export { createEngine, type Engine, type EngineOptions, type Fact, type TurnReport } from './engine/engine.ts';
export { type Completion, later } from './engine/later.ts';
export {
  type Beginning,
  type Command,
  type Instance,
  type Lifecycle,
  type LifecycleOptions,
  lifecycle,
  type TakeResult,
} from './engine/lifecycle/lifecycle.ts';
export type { CallError } from './engine/machine/failure.ts';
export {
  type EventOf,
  type MachineOptions,
  machineConversation,
  type SnapshotOf,
} from './engine/machine/machine-conversation.ts';
export { type Statechart, XSTATE_RANGE } from './engine/machine/statechart.ts';
export type { ServiceAnswer } from './engine/machine/step.ts';
export { type AtRest, compileMachine, type Effect, type Machine, type Step } from './engine/machine/transition.ts';
export { completeCall } from './engine/session/complete.ts';
export type { RecordProblem } from './engine/session/record.ts';
export {
  type Decision,
  type Ending,
  type SessionState as Seen,
  type TurnMove,
  type TurnRequest,
  type TurnResult,
  takeTurn,
  wakeSession,
} from './engine/session/turn.ts';
export { type SessionView, viewSession } from './engine/sessions.ts';
export { ERROR_CODES, type ErrorCode, TwinlineError } from './errors.ts';
export type { Flow } from './flow/format/flow.ts';
export { type CompiledFlow, type CompileOptions, compileFlow } from './flow/run/compile.ts';
export { checkKey, checkLimit, closedError } from './given.ts';
export { inspectEngine } from './inspection/inspect.ts';
export type { Json, JsonObject } from './json/json.ts';
export { type KeyPurpose, type Keyring, parseKeyring } from './keyring.ts';
export { LIMITS } from './limits.ts';
export {
  type Append as LogAppend,
  checkAppend,
  checkClaim,
  checkMoment,
  checkRead,
  checkWhole,
  cutPage,
  judgeAppend,
  type LogHead,
} from './store/log-rules.ts';
export type {
  AppendOptions,
  AppendResult,
  Claim as LogClaim,
  FollowOptions,
  Frame,
  LogPage,
  LogState,
  LogStore,
  OpenResult,
  ReadOptions,
} from './store/log-store.ts';
export { memoryDocuments, memorySnapshots } from './store/memory/index.ts';
export type {
  Change,
  CommitResult,
  Condition,
  DocumentStore,
  Durability,
  Exists,
  IndexValue,
  InsertResult,
  Kind,
  Query,
  ReplaceResult,
  SessionCommit,
  SnapshotStore,
  StoredDocument,
  StoredSession,
} from './store/store.ts';

/**
 * Reads and checks one flow file. Throws ERR_FLOW_INVALID with every problem in words, and `cause: { problems }`. What reads files
 * is loaded with the first of them, and a server that gets its flows otherwise never loads it.
 * @example
 * const flow = await loadFlow('hello.flow.json');
 * flow.start; // → 'home'
 * await loadFlow('none.flow.json'); // throws ERR_FLOW_INVALID
 */
export const loadFlow: typeof load = async (file, known) => {
  const loader = await import('./flow/format/load.ts');
  return loader.loadFlow(file, known);
};
export {
  LaterAnswer,
  type Service,
  type ServiceCall,
  ServiceError,
  type ServiceErrorOptions,
  type ServiceSession,
  type Services,
} from './engine/service.ts';
