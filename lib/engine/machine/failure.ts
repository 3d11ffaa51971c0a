// How machines fail: XState puts an actor into the status `error`, once, where it was; it takes nothing any more.

import type { AnyMachineSnapshot } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';

/** A failure as machines and callers see it: plain data without secrets. */
export interface CallError {
  /** One of ERROR_CODES, or a code of the service. */
  readonly code: string;
  readonly message: string;
  /** What the service adds. */
  readonly data?: Json;
}

/** What went wrong while a machine took what comes by itself: the outcome of a call, or a timer. */
export interface MachineProblem {
  readonly error: TwinlineError;
  /** The id of the call whose outcome was taken. */
  readonly call?: string;
}

/** The machine as XState leaves one that has failed. */
export function failMachine(live: AnyMachineSnapshot, error: CallError): AnyMachineSnapshot {
  return { ...live, status: 'error', error } as unknown as AnyMachineSnapshot;
}

/** What is stored of an error that a machine threw. Rethrows what is none of ours: a fault of the engine, not of the machine. */
export function readFault(fault: unknown): { readonly told: CallError; readonly error: TwinlineError } {
  if (!(fault instanceof TwinlineError)) throw fault;
  const { code, message } = fault;
  return { told: { code, message }, error: fault };
}

/** What is told of a machine that has failed because nothing takes the failure of its call. */
export function untakenFailure(machine: string, call: string, error: CallError): MachineProblem {
  const words = `Machine "${machine}" has failed: its call "${call}" did (${error.code}: ${error.message}), and no transition takes that. Give its invoke an onError.`;
  return { call, error: new TwinlineError('ERR_MACHINE', words) };
}

/** The problem of what came by itself, with the id of the call whose outcome it was. */
export function machineProblem(error: TwinlineError, call: string | undefined): MachineProblem {
  return call === undefined ? { error } : { error, call };
}
