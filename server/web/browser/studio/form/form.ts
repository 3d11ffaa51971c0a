// The form beside the text: the screen that is selected, made anew after each edit with the focus where it was. It writes no text
// itself; the server says which edits of the text an operation makes.

import type { FlowForm, FlowForms } from '../../../../../lib/flow/editing/form-field.ts';
import type { Problem } from '../../../../../lib/flow/format/problem.ts';
import { button, element, findElement } from '../../element.ts';
import type { Editor } from '../editor.ts';
import { post } from '../requests.ts';
import { addDialog } from './adding.ts';
import { deleteDialog, nameDialog } from './asking.ts';
import { codeHelp } from './completing.ts';
import { type FieldHost, fieldRows } from './fields.ts';
import { keepFocus } from './focus.ts';
import { operator } from './operating.ts';

export interface FormOptions {
  readonly editor: Editor;
  /** The name of the flow. */
  readonly flow: () => string;
  /** A screen was selected here; undefined for the flow around them. */
  readonly onSelect: (screen: string | undefined) => void;
  /** Goes to a place of the text. */
  readonly onText: (pointer: string) => void;
  readonly tell: (words: string) => void;
}

export interface FormPart {
  /** The selected screen; undefined for the flow around them. */
  readonly screen: string | undefined;
  select(screen: string | undefined): void;
  readonly operate: ReturnType<typeof operator>;
  /** Moves the focus to the form. */
  focus(): void;
  /** Makes it anew after a change of the text. */
  refresh(): Promise<void>;
  /** Shows the problems of a checked text at their fields. */
  problems(problems: readonly Problem[]): void;
}

const writePointer = (screen: string | undefined): string =>
  screen === undefined ? '' : `/screens/${screen.replace(/~/g, '~0').replace(/\//g, '~1')}`;

export function formPart({ editor, flow, onSelect, onText, tell }: FormOptions): FormPart {
  const fields = findElement('form-fields');
  const chooser = findElement<HTMLSelectElement>('form-screen');
  let screen: string | undefined;
  let shown: FlowForms = { form: null, screens: [] };
  let problems: readonly Problem[] = [];
  const reader = formReader({ editor, flow });
  const operate = operator({
    ...{ editor, flow, tell },
    onDone: (next) => {
      if (next !== undefined) select(next);
      reader.forget();
      return refresh();
    },
  });
  const add = addDialog({ operate, flow, selected: () => shown.form ?? undefined });
  const askName = nameDialog({ operate });
  const askDelete = deleteDialog({ operate });
  const host: FieldHost = {
    ...{ complete: codeHelp({ editor, flow }), open: new Set() },
    operate: (operation) => void operate(operation),
    addScreen: (way) => void add({ after: screen, way }),
    addVariable: (pointer) => askName('New variable', '', (name) => ({ do: 'declare', pointer, name })),
  };

  function select(next: string | undefined): void {
    if (next === screen) return;
    screen = next;
    chooser.value = next ?? '';
    onSelect(next);
  }

  async function refresh(): Promise<void> {
    const found = await reader.read(writePointer(screen));
    if (!found) return;
    if (found instanceof Error) {
      fields.replaceChildren(element('p', { class: 'quiet', text: found.message }));
      return;
    }
    shown = found;
    listChoices(chooser, found.screens, screen);
    if (found.form) show(found.form);
    else {
      // The screen is gone.
      screen = undefined;
      await refresh();
    }
  }

  function show(form: FlowForm): void {
    const focus = keepFocus(fields);
    for (const one of findElement('form').querySelectorAll<HTMLElement>('.of-screen')) one.hidden = !form.type;
    fields.dataset.shown = form.pointer;
    fields.replaceChildren(...formRows(form, host, { onText, onScreen: choose }));
    focus();
    showProblems(fields, { problems, own: form.pointer });
  }

  const choose = (next: string | undefined) => {
    select(next);
    void refresh();
  };
  chooser.addEventListener('change', () => choose(chooser.value === '' ? undefined : chooser.value));
  press('form-add', () => void add({ after: screen }));
  press('form-text', () => onText(writePointer(screen)));
  pressOnScreen({ selected: () => screen, shown: () => shown, operate, askName, askDelete });

  return {
    get screen() {
      return screen;
    },
    ...{ select, operate },
    focus: () => fields.querySelector<HTMLElement>('textarea, input, select')?.focus(),
    refresh,
    problems(next) {
      problems = next;
      showProblems(fields, { problems, own: writePointer(screen) });
    },
  };
}

/** Reads forms of the present text. What is half typed, and a list of completions, stay where nothing has changed. */
function formReader({ editor, flow }: Pick<FormOptions, 'editor' | 'flow'>) {
  let made = '';
  let asked = 0;
  return {
    /** The next form is made anew in any case. */
    forget() {
      made = '';
    },
    /** Undefined where the form that is shown, or one that was asked for later, is right. */
    async read(pointer: string): Promise<FlowForms | Error | undefined> {
      const body = { flow: flow(), text: editor.text('flow'), pointer };
      const wanted = JSON.stringify(body);
      if (wanted === made) return undefined;
      made = wanted;
      const turn = ++asked;
      const found = await post<FlowForms>('/form', body).catch((error: Error) => error);
      return turn === asked ? found : undefined;
    },
  };
}

function listChoices(chooser: HTMLSelectElement, screens: readonly string[], chosen = ''): void {
  const options = screens.map((id) => element('option', { is: { value: id }, text: id }));
  chooser.replaceChildren(element('option', { is: { value: '' }, text: 'The flow itself' }), ...options);
  chooser.value = chosen;
}

const press = (id: string, work: () => void) => findElement(id).addEventListener('click', work);

interface ScreenButtons {
  readonly selected: () => string | undefined;
  readonly shown: () => FlowForms;
  readonly operate: ReturnType<typeof operator>;
  readonly askName: ReturnType<typeof nameDialog>;
  readonly askDelete: ReturnType<typeof deleteDialog>;
}

/** Starts the buttons for the selected screen. */
function pressOnScreen({ selected, shown, operate, askName, askDelete }: ScreenButtons): void {
  const begin = (id: string, work: (screen: string) => void) =>
    press(id, () => {
      const screen = selected();
      if (screen !== undefined) work(screen);
    });
  begin('form-rename', (screen) => askName(`Rename ${screen}`, screen, (to) => ({ do: 'rename', screen, to })));
  begin('form-duplicate', (screen) => void operate({ do: 'duplicate', screen }));
  begin('form-delete', (screen) => {
    const { form, screens } = shown();
    if (form) askDelete({ screen, screens, ...form });
  });
}

interface RowActions {
  readonly onText: (pointer: string) => void;
  readonly onScreen: (screen: string) => void;
}

function formRows(
  { type, fields, pointer, uses }: FlowForm,
  host: FieldHost,
  { onText, onScreen }: RowActions,
): Node[] {
  const rows = fieldRows(fields, host, pointer);
  if (!type) return rows;
  const head = element('p', { class: 'quiet', is: { id: 'form-type' } }, [
    element('strong', { text: type.name }),
    ` · ${type.about}`,
  ]);
  const lines = uses.map(({ words, screen, pointer: place }) =>
    element('li', {}, [button(words, () => (screen === undefined ? onText(place) : onScreen(screen)))]),
  );
  const used = element('div', { class: 'uses' }, [
    element('h3', { text: uses.length ? 'Where it is used' : 'Nothing leads here yet.' }),
    element('ul', { class: 'stack small' }, lines),
  ]);
  return [head, ...rows, used];
}

/** Shows problems at the row of their value, or of the nearest one around it. */
function showProblems(
  fields: HTMLElement,
  { problems, own }: { readonly problems: readonly Problem[]; readonly own: string },
): void {
  for (const old of fields.querySelectorAll('.field-problem')) old.remove();
  for (const { pointer, message, severity } of problems) {
    if (pointer !== own && !pointer.startsWith(`${own}/`)) continue;
    for (let at = pointer; at.length > own.length; at = at.slice(0, at.lastIndexOf('/'))) {
      const row = fields.querySelector(`[data-pointer="${CSS.escape(at)}"]`);
      if (!row) continue;
      row.append(element('p', { class: `field-problem ${severity === 'error' ? 'bad' : 'quiet'}`, text: message }));
      break;
    }
  }
}
