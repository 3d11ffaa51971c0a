// Other texts of the same flow, each shown as it differs from the text in the editor: the versions saved here, which can be put
// back, and a file that another program has changed, where the author decides.

import type { EditedFile, EditedFlow } from '../../../menus/files.ts';
import type { VersionEntry } from '../../studio/versions.ts';
import { button, element, findElement } from '../element.ts';
import type { EditedDocument } from './editor.ts';
import type { OpenedFiles } from './flows/opened.ts';
import { showDifference } from './look.ts';
import { get } from './requests.ts';

/** The texts of a version; tests are '' where they were not kept. */
export interface RestoredVersion {
  readonly text: string;
  readonly tests: string;
}

export interface VersionsOptions {
  readonly draft: () => { readonly flow: string; readonly text: string };
  readonly onRestore: (version: RestoredVersion) => void;
}

export function versionsPart({ draft, onRestore }: VersionsOptions): { refresh(): Promise<void> } {
  const list = findElement('versions');
  const restore = findElement<HTMLButtonElement>('restore');
  const box = findElement('version-diff');
  let listed = '';
  let chosen: RestoredVersion = { text: '', tests: '' };

  async function refresh(): Promise<void> {
    const { flow } = draft();
    const { versions } = await get<{ versions: VersionEntry[] }>(`/flows/${flow}/versions`).catch(() => ({
      versions: [],
    }));
    // What is looked at stays while nothing is new.
    const now = JSON.stringify([flow, versions]);
    if (now === listed) return;
    listed = now;
    restore.hidden = true;
    box.hidden = true;
    list.replaceChildren(...versions.map((one) => element('li', {}, [button(describe(one), () => void open(one))])));
    if (!versions.length) list.append(element('li', { class: 'quiet', text: 'No versions yet.' }));
  }

  async function open({ id }: VersionEntry): Promise<void> {
    const { flow, text } = draft();
    const found = await get<RestoredVersion>(`/flows/${flow}/versions/${id}`).catch(() => undefined);
    if (!found) return;
    chosen = found;
    restore.hidden = false;
    box.hidden = false;
    showDifference(box, chosen.text, text);
  }

  restore.addEventListener('click', () => onRestore(chosen));
  return { refresh };
}

function describe({ at, by, stage }: VersionEntry): string {
  return by === 'disk' ? 'Before the first save' : `${new Date(at).toLocaleString()} · ${stage} · ${by}`;
}

// --- conflicts with the file on disk ---

/** The file, and its text on disk. */
export interface Conflict {
  readonly file: EditedDocument;
  readonly present: EditedFile;
}

export interface ConflictOptions {
  readonly onTakeDisk: () => void;
  /** The next save may replace the text on disk. */
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
      tell('Not saved: the file has changed on disk.');
    },
    hide,
  };
}

export interface DiskOptions {
  /** The name of the flow; '' for none. */
  readonly flow: () => string;
  /** The files as they were read. */
  readonly base: () => EditedFlow;
  readonly isDirty: () => boolean;
  readonly onConflict: (conflict: Conflict) => void;
  /** The files have changed, and nothing is unsaved. */
  readonly onNew: (present: OpenedFiles) => void;
}

/** Detects writes of other programs while the page was in the background. */
export function watchDisk({ flow, base, isDirty, onConflict, onNew }: DiskOptions): void {
  async function look(): Promise<void> {
    const name = flow();
    const present = name && (await get<OpenedFiles>(`/flows/${encodeURIComponent(name)}`).catch(() => undefined));
    if (!present || name !== flow()) return;
    const isFlowNew = present.flow.hash !== base().flow.hash;
    if (!isFlowNew && present.tests.hash === base().tests.hash) return;
    if (isDirty())
      onConflict({ file: isFlowNew ? 'flow' : 'tests', present: isFlowNew ? present.flow : present.tests });
    else onNew(present);
  }
  addEventListener('focus', () => void look());
}
