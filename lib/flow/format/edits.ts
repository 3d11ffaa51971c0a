// Which edits of problems are certain: those after which the check of the mended text no longer finds the problem, and no new error.

import type { Flow } from './flow.ts';
import type { Problem, TextEdit } from './problem.ts';
import { offsetAt } from './source.ts';

export interface CheckedText {
  /** Undefined where the text is no flow, so that no rule was applied. */
  readonly flow?: Flow | undefined;
  readonly problems: readonly Problem[];
}

/** How many characters may be checked again in all, and how often at least and at most. */
const CHECKED_CHARS = 600_000;
const CHECKS_LEAST = 3;
const CHECKS_MOST = 40;

/**
 * The problems of `text`, without the edits that do not mend it: all edits are tried at once, and by halves where that fails. Edits
 * that the limits above leave untried are taken away too.
 */
export function dropWrongEdits(
  text: string,
  checkedText: CheckedText,
  check: (text: string) => CheckedText,
): readonly Problem[] {
  const edited = checkedText.problems.filter(hasEdit);
  if (!edited.length) return checkedText.problems;
  let left = Math.min(Math.max(Math.round(CHECKED_CHARS / text.length), CHECKS_LEAST), CHECKS_MOST);
  const sure = new Set<Problem>();
  const tryEdits = (edits: readonly Edited[]): void => {
    if (!edits.length || left-- <= 0) return;
    if (isMended(text, { found: checkedText, tried: edits, after: check(applyEdits(text, edits)) })) {
      for (const problem of edits) sure.add(problem);
    } else if (edits.length > 1) {
      const half = Math.ceil(edits.length / 2);
      tryEdits(edits.slice(0, half));
      tryEdits(edits.slice(half));
    }
  };
  for (const layer of splitOverlapping(edited)) tryEdits(layer);
  return checkedText.problems.map((problem) => {
    if (!hasEdit(problem) || sure.has(problem)) return problem;
    const { edit: _, ...rest } = problem;
    return rest;
  });
}

type Edited = Problem & { readonly edit: TextEdit };

const hasEdit = (problem: Problem): problem is Edited => problem.edit !== undefined;

/** The text after edits that are in its order and do not overlap. */
function applyEdits(text: string, edits: readonly Edited[]): string {
  let done = '';
  let at = 0;
  for (const { edit } of edits) {
    done += text.slice(at, edit.from) + edit.insert;
    at = edit.to;
  }
  return done + text.slice(at);
}

/** Lists in the order of the text, in each of which no two edits overlap. */
function splitOverlapping(edits: readonly Edited[]): Edited[][] {
  const layers: Edited[][] = [];
  for (const problem of [...edits].sort((a, b) => a.edit.from - b.edit.from)) {
    const free = layers.find((layer) => layer.at(-1)!.edit.to <= problem.edit.from);
    if (free) free.push(problem);
    else layers.push([problem]);
  }
  return layers;
}

interface Trial {
  readonly found: CheckedText;
  readonly tried: readonly Edited[];
  readonly after: CheckedText;
}

function isMended(text: string, { found, tried, after }: Trial): boolean {
  const mended = applyEdits(text, tried);
  const still = new Set(after.problems.map((problem) => `${problem.code} ${offsetAt(mended, problem)}`));
  if (tried.some((problem) => still.has(`${problem.code} ${movedOffset(offsetAt(text, problem), tried)}`)))
    return false;
  // What no rule has seen before may hold other errors, which the edit has not made.
  return !found.flow || (after.flow !== undefined && !hasNewErrors(found.problems, after.problems));
}

/** Where a place of the text is after the edits before it. */
function movedOffset(offset: number, edits: readonly Edited[]): number {
  let moved = offset;
  for (const { edit } of edits) if (edit.to <= offset) moved += edit.insert.length - (edit.to - edit.from);
  return moved;
}

// Counted by place: where an expression has two faults, mending one shows the other.
function hasNewErrors(before: readonly Problem[], after: readonly Problem[]): boolean {
  const counts = new Map<string, number>();
  const count = ({ code, pointer, severity }: Problem, step: 1 | -1): number => {
    if (severity === 'warning') return 0;
    const key = `${code} ${pointer}`;
    counts.set(key, (counts.get(key) ?? 0) + step);
    return counts.get(key)!;
  };
  for (const problem of before) count(problem, -1);
  return after.some((problem) => count(problem, 1) > 0);
}
