// The drawing and the form below it: what is selected in one is selected in the other, and the cursor of the text follows.

import type { Problem } from '../../../../../lib/flow/format/problem.ts';
import { findElement } from '../../element.ts';
import { callersPart } from '../callers/callers.ts';
import { type DrawnFlow, drawingPart } from '../drawing.ts';
import { redirector, startDragging } from './dragging.ts';
import { type FormOptions, formPart } from './form.ts';

export interface BuildOptions extends Omit<FormOptions, 'onSelect'> {
  /** The offset of a screen in the text. */
  readonly findOffset: (screen: string) => number | undefined;
}

export interface BuildPart {
  /** Draws a draft without errors. */
  draw(draft: DrawnFlow): Promise<void>;
  /** The draft has errors: the drawing is one of before. */
  outdate(): void;
  /** Makes the form anew. */
  refresh(): Promise<void>;
  /** The text was checked. */
  check(problems: readonly Problem[]): void;
  /** The cursor of the text is in a screen. */
  follow(screen: string | undefined): void;
  /** Selects a screen, and moves the focus to its form. */
  open(screen: string): void;
  /** Another flow was opened. */
  restart(): void;
}

export function buildPart({ findOffset, ...options }: BuildOptions): BuildPart {
  const { editor } = options;
  const open = (screen: string) => {
    form.select(screen);
    void form.refresh().then(() => form.focus());
  };
  const drawing = drawingPart({ onPick: open, onDrawn: callersPart().mark });
  const form = formPart({
    ...options,
    onSelect: (screen) => {
      drawing.mark(screen);
      const offset = screen === undefined ? undefined : findOffset(screen);
      if (offset !== undefined) editor.look(offset);
    },
  });
  const lead = redirector({
    draft: () => ({ flow: options.flow(), text: editor.text('flow') }),
    ...{ operate: form.operate, tell: options.tell },
  });
  startDragging(findElement('picture'), (arrow) => void lead(arrow));
  const isShown = () => findElement('drawing').checkVisibility();
  return {
    draw: drawing.draw,
    outdate: drawing.outdate,
    refresh: form.refresh,
    check(problems) {
      form.problems(problems);
      if (isShown()) void form.refresh();
    },
    follow(screen) {
      const isInText = findElement('editor').contains(document.activeElement);
      if (!isInText) return;
      drawing.mark(screen);
      if (screen === undefined || screen === form.screen) return;
      form.select(screen);
      if (isShown()) void form.refresh();
    },
    open,
    restart: () => form.select(undefined),
  };
}
