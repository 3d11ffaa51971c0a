// Completion for code in a field of the form: what the text would be with the field's words in it is completed by the server.

import type { FormField } from '../../../../../lib/flow/editing/form-field.ts';
import type { Completion } from '../../../../../lib/flow/editing/proposals.ts';
import type { Editor } from '../editor.ts';
import { post } from '../requests.ts';
import { openListbox } from './listbox.ts';

interface Proposed {
  readonly from: number;
  readonly to: number;
  readonly items: readonly Completion[];
}

const ITEMS = 12;

/** Returns what completes the code in an input. */
export function codeHelp({ editor, flow }: { readonly editor: Editor; readonly flow: () => string }) {
  return (input: HTMLInputElement, { pointer }: Pick<FormField, 'pointer'>): void => {
    let place = { from: 0, to: 0 };
    let asked = 0;
    const list = openListbox(input, ({ insert, caret = insert.length }) => {
      input.setRangeText(insert, place.from, place.to, 'end');
      input.setSelectionRange(place.from + caret, place.from + caret);
    });

    async function ask(): Promise<void> {
      const turn = ++asked;
      const caret = input.selectionStart ?? input.value.length;
      if (!/[\w.]$/.test(input.value.slice(0, caret))) return list.close();
      const draft = writeField(editor, { pointer, typed: input.value, caret });
      if (!draft) return list.close();
      const body = { flow: flow(), text: draft.text, offset: draft.offset };
      const found = await post<Proposed>('/complete', body).catch(() => undefined);
      if (turn !== asked || !found || document.activeElement !== input) return;
      place = { from: caret - (draft.offset - found.from), to: caret };
      const typed = input.value.slice(place.from, caret).toLowerCase();
      const items = found.items.filter(({ label }) => label.toLowerCase().startsWith(typed) && label !== typed);
      if (items.length) list.show(items.slice(0, ITEMS));
      else list.close();
    }

    input.addEventListener('input', () => void ask());
  };
}

/** The text with what is typed in the place of a value, and the offset of the caret in it. */
function writeField(editor: Editor, { pointer, typed, caret }: { pointer: string; typed: string; caret: number }) {
  const text = editor.text('flow');
  const place = editor.find('flow', pointer);
  const head = JSON.stringify(typed.slice(0, caret)).length - 1;
  if (place) {
    const written = JSON.stringify(typed);
    return { text: text.slice(0, place.from) + written + text.slice(place.to), offset: place.from + head };
  }
  // A value that is not there yet is put where a new member of its screen would stand.
  const steps = pointer.split('/');
  const screen = editor.find('flow', steps.slice(0, 3).join('/'));
  if (!screen) return undefined;
  const at = screen.from + 1;
  const before = `"branch": [{ "when": `;
  const isValue = steps.includes('set') || steps.includes('with') || steps.includes('output');
  const key = isValue ? '"set": { "x": ' : before;
  const written = `${key}${JSON.stringify(typed)}${isValue ? ' }' : ' }]'}, `;
  return { text: text.slice(0, at) + written + text.slice(at), offset: at + key.length + head };
}
