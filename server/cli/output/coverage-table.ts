// How much of each flow its tests go through, as a table, and the flows that stay below what was asked for.

import type { Coverage, Covered } from '../../../lib/flow/testing/coverage.ts';
import { tableOf } from './table.ts';

export interface CoveredFlow {
  readonly flow: string;
  readonly coverage: Coverage;
}

const KINDS = ['screens', 'options', 'ways'] as const;

/** A row for each flow, and below it what is missing. */
export function coverageTable(flows: readonly CoveredFlow[]): string[] {
  const rows = flows.map(({ flow, coverage }) => [flow, ...KINDS.map((kind) => share(coverage[kind]))]);
  const missing = flows.flatMap(({ flow, coverage }) =>
    KINDS.filter((kind) => coverage[kind].missing.length > 0).map(
      (kind) => `${flow}: no test reaches ${kind} ${coverage[kind].missing.join(', ')}`,
    ),
  );
  return [...tableOf(['flow', ...KINDS], rows), ...missing];
}

/** Flows with a kind of which less than `percent` of 100 is covered, in words. */
export function belowThreshold(flows: readonly CoveredFlow[], percent: number): string[] {
  return flows.flatMap(({ flow, coverage }) =>
    KINDS.filter((kind) => percentOf(coverage[kind]) < percent).map(
      (kind) => `${flow}: ${share(coverage[kind])} of ${kind}, and ${percent} % is asked for`,
    ),
  );
}

const percentOf = ({ seen, all }: Covered) => (all === 0 ? 100 : (100 * seen) / all);
const share = (covered: Covered) =>
  covered.all === 0 ? '-' : `${covered.seen}/${covered.all} (${Math.floor(percentOf(covered))} %)`;
