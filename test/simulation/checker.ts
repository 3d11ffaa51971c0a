// What a checker is: it is shown what can be seen from outside of the engine, and says when a promise was broken.

import type { SessionRecord } from '../../lib/engine/session/record.ts';
import type { SessionCommit } from '../../lib/store/store.ts';

/** The store has taken a commit. */
export interface Committed {
  readonly key: string;
  readonly expected: number;
  readonly revision: number;
  readonly next: SessionCommit;
}

/** An answer has reached its caller. */
export interface Answered {
  readonly session: string;
  /** 0 is the dial. */
  readonly turn: number;
  readonly kind: string;
  readonly text: string;
  /** Inputs that the caller has typed up to that turn. */
  readonly inputs: readonly string[];
  /** The caller has typed nothing since. */
  readonly isLatest: boolean;
}

/** A service was asked to act, and acted unless this key had acted already. */
export interface Effect {
  readonly session: string;
  readonly service: string;
  readonly token: string;
  readonly key: string;
  /** The service said no, and did nothing. */
  readonly isRefused: boolean;
}

/** A caller when everything is over. */
export interface CallerAtEnd {
  readonly session: string;
  readonly inputs: readonly string[];
  /** What it was answered last. */
  readonly lastText: string;
  readonly isDone: boolean;
  /** What is stored of it, or why that cannot be read. */
  readonly record: SessionRecord | string;
  readonly dueAt: number | null;
}

/** Keeps what it needs of one simulation. Each method returns what is wrong, if anything is. */
export interface Checker {
  readonly promise: string;
  committed?(seen: Committed): string | undefined;
  answered?(seen: Answered): string | undefined;
  acted?(seen: Effect): string | undefined;
  /** Something rejected or was refused that never should be. */
  failed?(session: string, reason: string): string | undefined;
  ended?(callers: readonly CallerAtEnd[]): string | undefined;
}

export interface Violation {
  readonly promise: string;
  readonly what: string;
  /** How many lines the trace had by then. */
  readonly line: number;
}

/** All checkers of one simulation; keeps the first violation of each. */
export interface Watch {
  committed(seen: Committed): void;
  answered(seen: Answered): void;
  acted(seen: Effect): void;
  failed(session: string, reason: string): void;
  ended(callers: readonly CallerAtEnd[]): void;
  readonly violations: readonly Violation[];
}

export function watchWith(checkers: readonly Checker[], line: () => number): Watch {
  const violations: Violation[] = [];
  const judge = (checker: Checker, what: string | undefined) => {
    if (what === undefined || violations.some(({ promise }) => promise === checker.promise)) return;
    violations.push({ promise: checker.promise, what, line: line() });
  };
  return {
    committed: (seen) => {
      for (const checker of checkers) judge(checker, checker.committed?.(seen));
    },
    answered: (seen) => {
      for (const checker of checkers) judge(checker, checker.answered?.(seen));
    },
    acted: (seen) => {
      for (const checker of checkers) judge(checker, checker.acted?.(seen));
    },
    failed: (session, reason) => {
      for (const checker of checkers) judge(checker, checker.failed?.(session, reason));
    },
    ended: (callers) => {
      for (const checker of checkers) judge(checker, checker.ended?.(callers));
    },
    violations,
  };
}
