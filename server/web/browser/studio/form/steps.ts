// The buttons and keys that take edits back, make them again, save, and download the files.

import { download, findElement } from '../../element.ts';
import type { Editor } from '../editor.ts';

export interface StepsOptions {
  /** The name of the flow. */
  readonly flow: () => string;
  readonly editor: Editor;
  readonly onSave: () => void;
}

/** Starts them. `show` says which can be pressed. */
export function editSteps({ editor, flow, onSave }: StepsOptions): { show(): void } {
  const undo = findElement<HTMLButtonElement>('undo');
  const redo = findElement<HTMLButtonElement>('redo');
  findElement('download').addEventListener('click', () => {
    for (const [document, ending] of [
      ['flow', 'flow'],
      ['tests', 'test'],
    ] as const)
      if (editor.text(document) !== '') download(new Blob([editor.text(document)]), `${flow()}.${ending}.json`);
  });
  undo.addEventListener('click', editor.undo);
  redo.addEventListener('click', editor.redo);
  addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    const work = event.key === 's' ? onSave : isTyping(event.target) ? undefined : findStep(event);
    if (!work) return;
    event.preventDefault();
    work();
  });

  function findStep({ key, shiftKey }: KeyboardEvent): (() => void) | undefined {
    if (key === 'z' && !shiftKey) return editor.undo;
    return key === 'y' || key === 'Z' ? editor.redo : undefined;
  }

  return {
    show() {
      undo.disabled = !editor.canUndo();
      redo.disabled = !editor.canRedo();
    },
  };
}

// Fields and the editor take back what is typed in them by themselves.
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.matches('input:not([type="checkbox"]), textarea') || findElement('editor').contains(target);
}
