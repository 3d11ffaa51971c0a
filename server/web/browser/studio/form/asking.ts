// Dialogs that end in one operation: a name is asked for, or what becomes of the ways to a screen that is deleted.

import type { FlowForm } from '../../../../../lib/flow/editing/form-field.ts';
import type { FlowOperation } from '../../../../../lib/flow/editing/operations.ts';
import { element, findElement } from '../../element.ts';

export interface AskDialog {
  /** Resolves to why it was not done, or undefined. */
  readonly operate: (operation: FlowOperation) => Promise<string | undefined>;
}

export interface OpenDialog {
  /** Opens it. When it is accepted, the operation is done; if that fails, it stays open and says why. */
  ask(operation: () => FlowOperation): void;
}

/** Starts a dialog of the page. */
export function openDialog(id: string, { operate }: AskDialog): OpenDialog {
  const dialog = findElement<HTMLDialogElement>(id);
  const alert = dialog.querySelector<HTMLElement>('[role="alert"]')!;
  let next: (() => FlowOperation) | undefined;
  startCancel(dialog);
  dialog.querySelector('form')!.addEventListener('submit', (event) => {
    if ((event.submitter as HTMLButtonElement | null)?.value !== 'do') return;
    event.preventDefault();
    void operate(next!()).then((why) => {
      if (why === undefined) dialog.close();
      else alert.textContent = why;
    });
  });
  return {
    ask(operation) {
      next = operation;
      alert.textContent = '';
      dialog.showModal();
    },
  };
}

/** Starts the button of a dialog that closes it. It submits nothing, so that Enter does what the other one does. */
export function startCancel(dialog: HTMLDialogElement): void {
  dialog.querySelector('.cancel')!.addEventListener('click', () => dialog.close());
}

/** Returns what asks for a name. */
export function nameDialog(options: AskDialog) {
  const dialog = openDialog('name-screen', options);
  const name = findElement<HTMLInputElement>('name-name');
  return (title: string, first: string, next: (name: string) => FlowOperation): void => {
    findElement('name-title').textContent = title;
    name.value = first;
    dialog.ask(() => next(name.value.trim()));
    name.select();
  };
}

export interface DeletedScreen extends Pick<FlowForm, 'uses' | 'ways'> {
  readonly screen: string;
  /** The ids of all screens. */
  readonly screens: readonly string[];
}

/** Returns what asks whether a screen shall be deleted. */
export function deleteDialog(options: AskDialog) {
  const dialog = openDialog('delete-screen', options);
  const lead = findElement<HTMLSelectElement>('delete-lead');
  return ({ screen, screens, uses, ways }: DeletedScreen): void => {
    lead.replaceChildren(
      ...screens
        .filter((one) => one !== screen)
        .map((one) => element('option', { is: { value: one }, text: `lead to ${one}` })),
      element('option', { is: { value: '' }, text: 'are removed, where they can be' }),
    );
    lead.value = ways.map(({ to }) => to).find((to) => to !== screen) ?? '';
    const outer = uses.filter((use) => use.screen !== screen).map(({ words }) => words);
    findElement('delete-title').textContent = `Delete ${screen}`;
    findElement('delete-uses').textContent = outer.length
      ? `Ways that lead there: ${outer.join('; ')}.`
      : 'No way leads there.';
    lead.parentElement!.hidden = !outer.length;
    dialog.ask(() => ({ ...{ do: 'delete', screen }, ...(lead.value !== '' && { lead: lead.value }) }));
  };
}
