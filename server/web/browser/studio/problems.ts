// What is wrong with the draft: in a list under the text, and in a few words beside the button that saves.

import { button, element, findElement } from '../element.ts';
import type { Problem } from './requests.ts';

export interface ProblemActions {
  /** The place of one was chosen. */
  readonly onPick: (problem: Problem) => void;
  /** The change that mends one is wanted. */
  readonly onMend: (edit: NonNullable<Problem['edit']>) => void;
}

/** Lists the problems. */
export function showProblems(problems: readonly Problem[], { onPick, onMend }: ProblemActions): void {
  const list = findElement('problems');
  list.replaceChildren(
    ...problems.map((problem) => {
      const { line, column, severity, message, fix, edit } = problem;
      const place = button(`${line}:${column}`, () => onPick(problem));
      return element('li', { class: severity }, [
        place,
        element('span', { text: `${message} ${fix}` }),
        edit && button('Mend', () => onMend(edit)),
      ]);
    }),
  );
  list.hidden = !problems.length;
}

export interface DraftCounts {
  readonly errors: number;
  readonly warnings: number;
  /** Tests that fail. */
  readonly failing: number;
}

/** `Not saved · 2 errors · 1 test fails` */
export function describeState(saved: string, { errors, warnings, failing }: DraftCounts): string {
  const counts = [
    countWords(errors, 'error', 'errors'),
    countWords(warnings, 'warning', 'warnings'),
    countWords(failing, 'test fails', 'tests fail'),
  ];
  return [saved, ...counts.filter((words) => words !== '')].join(' · ');
}

function countWords(count: number, one: string, many: string): string {
  return count ? `${count} ${count === 1 ? one : many}` : '';
}
