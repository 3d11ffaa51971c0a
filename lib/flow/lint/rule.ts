// What a rule is, and what it sees of a flow.

import type { Finding } from '../format/finding.ts';
import type { Flow, Keys, Variable } from '../format/flow.ts';
import type { Problem } from '../format/problem.ts';
import type { Graph } from './graph.ts';
import type { Parts } from './parts.ts';

/** A flow under inspection. */
export interface Lint {
  readonly flow: Flow;
  readonly parts: Parts;
  readonly graph: Graph;
  readonly vars: ReadonlyMap<string, Variable>;
  readonly screenIds: readonly string[];
  readonly varNames: readonly string[];
  readonly langs: readonly string[];
  readonly keys: Keys;
  /** All flows by name, this one among them; undefined when the others are not known. */
  readonly flows: ReadonlyMap<string, Flow> | undefined;
  /** Names of all services; undefined when they are not known. */
  readonly services: ReadonlySet<string> | undefined;
  /** The screen that an id means: itself, else the nearest that exists. */
  readonly meant: (id: string) => string | undefined;
  /** The known name nearest to a misspelt one. */
  readonly nearest: (name: string, known: readonly string[]) => string | undefined;
}

export interface RuleFinding extends Finding {
  /** @default the rule's own */
  readonly severity?: Problem['severity'];
}

/** One kind of mistake. */
export interface Rule {
  readonly code: string;
  readonly severity: Problem['severity'];
  /** What it is that is wrong. */
  readonly means: string;
  find(lint: Lint): Iterable<RuleFinding>;
}

/** ` Did you mean "x"?`, or '' when there is nothing near. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean "${name}"?`;
}

/** `a, b, c … (12)`: at most eight names. */
export function listed(names: readonly string[]): string {
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} … (${names.length})` : names.join(', ');
}
