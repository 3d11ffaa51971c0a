// Runs the tests of a draft without errors, shows failures, and updates expectations.

import type { FlowTestFailure } from '../../../../lib/flow/testing/run.ts';
import type { TestedDraft } from '../../studio/draft-work.ts';
import { button, element, findElement } from '../element.ts';
import { post, Refused } from './requests.ts';

export interface SentTests {
  readonly flow: string;
  readonly text: string;
  readonly tests: string;
}

export interface TestingOptions {
  readonly draft: () => SentTests;
  /** Expectations were updated. */
  readonly onUpdate: (tests: string) => void;
  /** A failure was selected. */
  readonly onPick: (pointer: string) => void;
  readonly onTested: (tested: TestedDraft) => void;
}

export interface TestingPart {
  run(): Promise<void>;
  show(tested: TestedDraft): void;
}

/** Problems of the tests and tests that failed. */
export const countFailing = ({ problems, reports }: TestedDraft): number =>
  problems.length + reports.filter(({ failures }) => failures.length).length;

export function testing({ draft, onUpdate, onPick, onTested }: TestingOptions): TestingPart {
  const list = findElement('results');
  const words = findElement('tested');
  let asked = 0;
  let updates = 0;
  /** The draft and tests of the results on the page. */
  let shown: SentTests | undefined;

  // Runs after each change, except during an update, or if nothing has changed since the last run.
  async function run(): Promise<void> {
    const { flow, text, tests } = draft();
    const isShown = shown?.flow === flow && shown.text === text && shown.tests === tests;
    if (!updates && !isShown) await ask(false);
  }

  async function ask(update: boolean): Promise<void> {
    const turn = ++asked;
    const body = draft();
    if (body.tests.trim() === '') return say('There are no tests. Dial, and record what you see.');
    if (update) updates++;
    try {
      const tested = await post<TestedDraft>('/test', { ...body, update });
      if (turn !== asked) return;
      if (update && tested.tests !== undefined && tested.changed) onUpdate(tested.tests);
      show(tested);
      shown = { ...body, tests: tested.tests ?? body.tests };
      onTested(tested);
      if (update)
        words.textContent += ` · ${tested.changed ?? 0} ${tested.changed === 1 ? 'expectation' : 'expectations'} written`;
    } catch (error) {
      if (turn === asked) say(error instanceof Refused ? error.message : String(error));
    }
    if (update) updates--;
  }

  function say(text: string): void {
    shown = undefined;
    words.textContent = text;
    list.replaceChildren();
  }

  function show({ problems, reports, coverage }: TestedDraft): void {
    shown = undefined;
    const failed = reports.filter(({ failures }) => failures.length).length;
    const shares = Object.entries(coverage ?? {}).map(([what, { seen, all }]) => `${seen} of ${all} ${what}`);
    const counts = `${reports.length - failed} passed, ${failed} failed`;
    words.textContent = problems.length ? 'The tests have errors.' : [counts, ...shares].join(' · ');
    list.replaceChildren(
      ...problems.map(({ line, message, fix }) =>
        element('li', { class: 'failed', text: `Line ${line}: ${message} ${fix}` }),
      ),
      ...reports.map(({ name, failures }) =>
        element('li', { class: failures.length ? 'failed' : 'passed' }, [
          element('strong', { text: `${failures.length ? '✘' : '✓'} ${name}` }),
          ...failures.map(drawFailure),
        ]),
      ),
    );
  }

  function drawFailure({ step, typed, message, details, pointer }: FlowTestFailure): HTMLElement {
    const where = step ? `Step ${step}, ${step === 1 ? 'the dial' : `typed ${typed}`}: ` : '';
    const lines = details.map((line) =>
      element('span', {
        class: line.startsWith('+ ') ? 'added' : line.startsWith('- ') ? 'removed' : '',
        text: `${line}\n`,
      }),
    );
    return element('div', {}, [
      element('p', { text: where + message }),
      lines.length > 0 && element('pre', {}, lines),
      pointer !== undefined && button('Show it', () => onPick(pointer)),
    ]);
  }

  findElement('run').addEventListener('click', () => void ask(false));
  findElement('update').addEventListener('click', () => void ask(true));
  return { run, show };
}
