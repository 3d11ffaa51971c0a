// A file that another program has written meanwhile: shown beside what is in the editor, and the author decides.

import type { EditedFile } from '../../../menus/files.ts';
import { findElement } from '../element.ts';
import type { EditedDocument } from './editor.ts';
import { showDifference } from './look.ts';

/** Which file it is, and its text on disk. */
export interface Conflict {
  readonly file: EditedDocument;
  readonly present: EditedFile;
}

export interface ConflictOptions {
  readonly onTakeDisk: () => void;
  /** The next save may replace this text. */
  readonly onKeepMine: (conflict: Conflict) => void;
  readonly tell: (words: string) => void;
}

export interface ConflictPart {
  show(conflict: Conflict, mine: string): void;
  hide(): void;
}

export function conflictPart({ onTakeDisk, onKeepMine, tell }: ConflictOptions): ConflictPart {
  const box = findElement('conflict');
  let shown: Conflict | undefined;
  const hide = () => {
    box.hidden = true;
  };
  findElement('take-disk').addEventListener('click', () => {
    hide();
    onTakeDisk();
  });
  findElement('keep-mine').addEventListener('click', () => {
    hide();
    if (shown) onKeepMine(shown);
  });
  return {
    show(conflict, mine) {
      shown = conflict;
      box.hidden = false;
      showDifference(findElement('conflict-diff'), conflict.present.text, mine);
      box.scrollIntoView({ block: 'nearest' });
      tell('Not saved: the file was changed on disk meanwhile.');
    },
    hide,
  };
}
