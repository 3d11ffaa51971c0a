// The machines that others pass in: which are accepted, and of which versions of XState.

import type { AnyStateMachine } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { ENGINE_LIMITS } from '../limits.ts';

/**
 * A machine that XState's `createMachine` or `setup` returns. Only these members are used of its type, so a machine of another copy of
 * XState is accepted as well.
 */
export interface Statechart {
  readonly id: string;
  readonly config: object;
  readonly implementations: object;
  getInitialSnapshot(...args: readonly never[]): unknown;
}

/** The versions of XState that machines may come from: the peer dependency of the package. */
export const XSTATE_RANGE = '>=5.31.1 <6';

/** The machine, or unless `isOwn` a copy of it, that stops a step after ENGINE_LIMITS.microstepsPerStep microsteps. Throws ERR_CONFIG. */
export function boundedMachine(chart: Statechart, { isOwn }: { readonly isOwn: boolean }): AnyStateMachine {
  requireGiven('compile a machine', { source: chart }, { source: 'statechart' });
  const machine = chart as unknown as AnyStateMachine;
  if ((machine.options as object | undefined) === undefined)
    throw new TwinlineError(
      'ERR_CONFIG',
      `Cannot compile the machine "${chart.id}": it was created by an XState before 5.31, and Twinline needs xstate ${XSTATE_RANGE}. Update xstate.`,
    );
  const source: AnyStateMachine = isOwn ? machine : machine.provide({});
  const { maxIterations } = source.options;
  source.options.maxIterations = Math.min(maxIterations ?? Infinity, ENGINE_LIMITS.microstepsPerStep);
  return source;
}
