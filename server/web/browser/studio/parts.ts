// The parts of the page, of which some are open at a time, and the two documents in its editor.

import { findElement } from '../element.ts';
import type { EditedDocument, Editor } from './editor.ts';

export interface PageParts {
  /** Opens a part, such as `phone`. */
  open(part: string): void;
  showDocument(document: EditedDocument): void;
  /** Moves the cursor to a place, and opens the text where it is hidden. */
  reveal(document: EditedDocument, offset: number): void;
  revealPointer(document: EditedDocument, pointer: string): void;
}

/** Starts the tabs. `onOpen` is called with a part that was opened. */
export function pageParts(editor: Editor, onOpen: () => void): PageParts {
  const tabs = document.querySelectorAll<HTMLElement>('.tabs [data-part]');
  const parts: PageParts = {
    open(part) {
      findElement('studio').dataset.part = part;
      for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.part === part));
      onOpen();
    },
    showDocument(shown) {
      editor.show(shown);
      for (const one of ['flow', 'tests'])
        findElement(`show-${one}`).setAttribute('aria-pressed', String(one === shown));
    },
    reveal(shown, offset) {
      if (matchMedia('(max-width: 60rem)').matches) parts.open('text');
      parts.showDocument(shown);
      editor.reveal(shown, offset);
    },
    revealPointer(shown, pointer) {
      const range = editor.find(shown, pointer);
      if (range) parts.reveal(shown, range.from);
    },
  };
  for (const tab of tabs) tab.addEventListener('click', () => parts.open(tab.dataset.part!));
  findElement('show-flow').addEventListener('click', () => parts.showDocument('flow'));
  findElement('show-tests').addEventListener('click', () => parts.showDocument('tests'));
  return parts;
}
