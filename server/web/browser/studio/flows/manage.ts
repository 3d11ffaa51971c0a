// The dialog of all flows: open, rename, delete, restore, take back, and choose the one that a dial starts.

import type { VersionEntry } from '../../../studio/versions.ts';
import { button, element, findElement } from '../../element.ts';
import { startCancel } from '../form/asking.ts';
import { post } from '../requests.ts';
import { describeFlow, type FlowList, type Listed, type ListedFlow } from './begin.ts';

export interface ManageOptions {
  readonly list: FlowList;
  /** The name of the flow that is open. */
  readonly flow: () => string;
  readonly isDirty: () => boolean;
  /** Opens a flow, or says what was done. */
  readonly onDone: (flow: string, words: string) => Promise<void>;
}

export function startManaging({ list, flow, isDirty, onDone }: ManageOptions): void {
  const dialog = findElement<HTMLDialogElement>('all-flows');
  const rows = findElement('flow-rows');
  const deleted = findElement('deleted-rows');
  const alert = findElement('flows-notice');
  startCancel(dialog);

  async function show(words = ''): Promise<void> {
    const listed = await list.refresh(flow());
    alert.textContent = words;
    findElement('dial-fixed').hidden = !listed.isDialFixed;
    rows.replaceChildren(...listed.flows.map((one) => drawRow(one, listed)));
    deleted.replaceChildren(...listed.deleted.map(drawDeleted));
    findElement('deleted').hidden = !listed.deleted.length;
  }

  const work = (path: string, body: object, done: (answer: FlowAnswer) => Promise<void>) => {
    alert.textContent = '';
    post<FlowAnswer>(path, body).then(done, (error: Error) => {
      alert.textContent = error.message;
    });
  };

  const drawRow = (one: ListedFlow, listed: Listed) =>
    flowRow(one, listed, {
      open(name) {
        dialog.close();
        void onDone(name, '');
      },
      ...{ dial, takeBack, rename: askName, remove: askDelete },
    });

  const dial = (name: string) =>
    work('/dialled', { flow: name }, () =>
      show(`A dial starts "${name}" from now on, on all instances of this folder.`),
    );

  const takeBack = (name: string) =>
    work('/unpublish', { flow: name }, async () => {
      await show(`"${name}" is a draft now: nobody begins it.`);
      if (name === flow()) await onDone(name, '');
    });

  function askName(name: string): void {
    if (name === flow() && isDirty()) {
      alert.textContent = 'Save the changes first.';
      return;
    }
    const rename = (to: string) =>
      work('/rename', { flow: name, to }, async (done) => {
        await show(describeRenamed(done));
        if (name === flow()) await onDone(done.flow, '');
      });
    const form = nameForm(name, rename, () => void show());
    findRow(name).querySelector('.row')!.replaceWith(form);
    form.querySelector('input')!.select();
  }

  function askDelete(name: string): void {
    const sure = button(`Delete ${name}`, () =>
      work('/delete', { flow: name }, async () => {
        await show(`"${name}" was deleted. It can be restored below.`);
        const [first] = findNames(rows);
        if (name === flow() && first !== undefined) await onDone(first, '');
      }),
    );
    const keep = button('Cancel', () => void show());
    findRow(name).querySelector('.row')!.replaceChildren(sure, keep);
    sure.focus();
  }

  const findRow = (name: string) => rows.querySelector<HTMLElement>(`[data-flow="${CSS.escape(name)}"]`)!;

  const drawDeleted = (version: VersionEntry) =>
    deletedRow(version, () =>
      work('/restore', { version: version.id }, () => show(`"${version.name}" is there again.`)),
    );

  findElement('manage').addEventListener('click', () => void show().then(() => dialog.showModal()));
}

const findNames = (rows: HTMLElement) => [...rows.children].map((row) => (row as HTMLElement).dataset.flow!);

interface FlowAnswer {
  readonly flow: string;
  /** Callers were remembered under the old name. */
  readonly hasMemory?: boolean;
}

const describeRenamed = ({ flow, hasMemory }: FlowAnswer) =>
  `Renamed to "${flow}", with all that names it.${hasMemory ? ' What it kept of callers stays under the old name.' : ''}`;

type FlowAct = 'open' | 'dial' | 'rename' | 'takeBack' | 'remove';

/** A flow, and what can be done with it. */
function flowRow(
  one: ListedFlow,
  listed: Listed,
  acts: { readonly [act in FlowAct]: (flow: string) => void },
): HTMLElement {
  const { flow, version } = one;
  const isOther = version !== undefined && listed.dialled !== flow;
  const act = (words: string, name: FlowAct) => button(words, () => acts[name](flow));
  return element('li', { is: { 'data-flow': flow } }, [
    element('p', {}, [
      act(flow, 'open'),
      element('span', { class: 'quiet', text: describeFlow(one, listed).slice(flow.length) }),
    ]),
    element('p', { class: 'row small' }, [
      isOther && !listed.isDialFixed && act('Dial this one', 'dial'),
      act('Rename …', 'rename'),
      isOther && act('Take back', 'takeBack'),
      act('Delete …', 'remove'),
    ]),
  ]);
}

/** A flow that was deleted. */
function deletedRow({ name = '', at, by }: VersionEntry, onRestore: () => void): HTMLElement {
  const words = `${name} · deleted by ${by}, ${new Date(at).toLocaleString()} `;
  return element('li', { class: 'row small' }, [
    element('span', { class: 'grow', text: words }),
    button('Restore', onRestore),
  ]);
}

/** Asks for another name of a flow. */
function nameForm(name: string, onName: (to: string) => void, onCancel: () => void): HTMLFormElement {
  const to = element('input', {
    is: {
      ...{ value: name, 'aria-label': 'New name', required: true, maxlength: 64 },
      pattern: '[A-Za-z][A-Za-z0-9_\\-]{0,63}',
    },
  });
  const send = (event: Event) => {
    event.preventDefault();
    onName(to.value);
  };
  return element('form', { class: 'row small', on: { submit: send } }, [
    to,
    element('button', { class: 'primary', text: 'Rename', is: { type: 'submit' } }),
    button('Cancel', onCancel),
  ]);
}
