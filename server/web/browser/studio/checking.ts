// Checks the flow after changes, one check at a time, and maps its problems and screens to the current text.

import type { Problem } from '../../../../lib/flow/format/problem.ts';
import type { CheckedDraft } from '../../studio/draft-work.ts';
import { button, element, findElement } from '../element.ts';
import type { Editor } from './editor.ts';
import type { SentText } from './followed.ts';
import { post } from './requests.ts';

export interface CheckingOptions {
  readonly editor: Editor;
  /** The name of the flow. */
  readonly flow: () => string;
  /** A problem was selected. */
  readonly onPick: (offset: number) => void;
  /** The current text was checked. */
  readonly onChecked: () => void;
  readonly tell: (words: string) => void;
}

export interface CheckingPart {
  readonly errors: number;
  readonly warnings: number;
  /** Of the text that was checked last. */
  readonly problems: readonly Problem[];
  soon(): void;
  now(): Promise<void>;
  /** The screen at an offset. */
  findScreen(offset: number): string | undefined;
  /** The offset of a screen. */
  findOffset(screen: string): number | undefined;
}

const CHECK_MS = 250;

export function checking({ editor, flow, onPick, onChecked, tell }: CheckingOptions): CheckingPart {
  let checked: CheckedDraft = { problems: [], screens: [] };
  let sent: SentText | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChecking = false;
  let isOld = false;
  const count = (severity: Problem['severity']) =>
    checked.problems.filter((problem) => problem.severity === severity).length;

  async function check(): Promise<void> {
    clearTimeout(timer);
    isOld = true;
    // One at a time: the check of a large flow may take longer than pauses in typing.
    if (isChecking) return;
    isChecking = true;
    while (isOld) {
      isOld = false;
      const now = editor.send('flow');
      const found = await post<CheckedDraft>('/check', { flow: flow(), text: now.text }).catch((error: Error) => {
        tell(error.message);
        return undefined;
      });
      if (found && now.isCurrent()) show(found, now);
    }
    isChecking = false;
  }

  function show(found: CheckedDraft, now: SentText): void {
    checked = found;
    sent = now;
    const { problems } = found;
    editor.problems('flow', problems, now);
    showProblems(problems, {
      onPick: ({ line, column }) => {
        const offset = now.findPlace(line, column);
        if (offset !== undefined) onPick(offset);
      },
      onMend: ({ edit }) => edit && editor.mend('flow', { edit, sent: now }),
    });
    if (!isOld) onChecked();
  }

  return {
    get errors() {
      return count('error');
    },
    get warnings() {
      return count('warning');
    },
    get problems() {
      return checked.problems;
    },
    soon() {
      clearTimeout(timer);
      timer = setTimeout(() => void check(), CHECK_MS);
    },
    now: check,
    findScreen(offset) {
      const place = sent?.findSent(offset);
      if (place === undefined) return undefined;
      return checked.screens.find(([, from, to]) => from <= place && place <= to)?.[0];
    },
    findOffset(screen) {
      const found = checked.screens.find(([id]) => id === screen);
      return found && sent?.findOffset(found[1]);
    },
  };
}

interface ProblemActions {
  /** A problem was selected. */
  readonly onPick: (problem: Problem) => void;
  /** A fix was requested. */
  readonly onMend: (problem: Problem) => void;
}

/** Problems shown at most. */
const ROWS = 200;

/** Lists the first problems, and the number of others. */
function showProblems(problems: readonly Problem[], { onPick, onMend }: ProblemActions): void {
  const list = findElement('problems');
  list.replaceChildren(
    ...problems.slice(0, ROWS).map((problem) => {
      const { line, column, severity, message, fix, edit } = problem;
      const place = button(`${line}:${column}`, () => onPick(problem));
      return element('li', { class: severity }, [
        place,
        element('span', { text: `${message} ${fix}` }),
        edit && button('Fix', () => onMend(problem)),
      ]);
    }),
  );
  if (problems.length > ROWS)
    list.append(element('li', { class: 'quiet', text: `and ${problems.length - ROWS} more` }));
  list.hidden = !problems.length;
}

export interface DraftCounts {
  readonly errors: number;
  readonly warnings: number;
  /** Failing tests. */
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
