// The files of the open flow as they were read, beside the texts in the editor.

import type { EditedFile, OpenedFlow } from '../../../../menus/files.ts';
import { findElement } from '../../element.ts';
import type { EditedDocument, Editor } from '../editor.ts';

/** The files, and the path of what callers get. */
export type OpenedFiles = OpenedFlow & { readonly file: string };

const NOTHING = { flow: { text: '', hash: '' }, tests: { text: '', hash: '' } };

export interface OpenedPart {
  /** Set it when a file was read. */
  base: OpenedFiles;
  /** Whether the editor has another text. */
  isDirty(): boolean;
  /** Whether the next save keeps a draft. */
  keepsDraft(): boolean;
  /** The body of a request that saves. */
  request(flow: string, asDraft: boolean): object;
  /** The first word of the state. */
  describe(isSaving: boolean): string;
  /** Shows which buttons do what, and which can be pressed. */
  showButtons(isSaving: boolean): void;
}

/** @param savesDrafts Whether saves keep drafts on this server. */
export function openedPart(editor: Editor, savesDrafts: boolean): OpenedPart {
  const fileText = (document: EditedDocument) => keepLineEnds(editor.text(document), part.base[document]);
  const save = findElement<HTMLButtonElement>('save');
  const part: OpenedPart = {
    base: { ...NOTHING, published: NOTHING, stage: 'published', file: '' },
    isDirty: () => !editor.isSame('flow', part.base.flow.text) || !editor.isSame('tests', part.base.tests.text),
    keepsDraft: () => savesDrafts || part.base.stage === 'draft',
    request(flow, asDraft) {
      const tests = fileText('tests');
      return {
        ...{ flow, text: fileText('flow'), base: part.base.flow.hash, asDraft },
        ...(tests !== part.base.tests.text && { tests, testsBase: part.base.tests.hash }),
      };
    },
    describe(isSaving) {
      if (isSaving) return 'Saving …';
      if (part.isDirty()) return 'Not saved';
      return part.base.stage === 'draft' ? 'Saved as a draft' : 'Saved';
    },
    showButtons(isSaving) {
      const isDirty = part.isDirty();
      save.textContent = part.keepsDraft() ? 'Save draft' : 'Save';
      save.disabled = isSaving || !isDirty;
      save.classList.toggle('primary', !part.keepsDraft());
      const keep = findElement<HTMLButtonElement>('save-draft');
      keep.hidden = part.keepsDraft();
      keep.disabled = save.disabled;
      const publish = findElement<HTMLButtonElement>('publish');
      publish.hidden = !part.keepsDraft();
      publish.disabled = isSaving || (!isDirty && part.base.stage === 'published');
    },
  };
  return part;
}

/** A text of the editor, with the line ends of its file. */
function keepLineEnds(text: string, file: EditedFile): string {
  return file.text.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}
