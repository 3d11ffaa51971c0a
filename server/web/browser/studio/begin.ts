// The list of flows, and the dialog for a new one.

import { element, findElement } from '../element.ts';
import { startCancel } from './form/asking.ts';
import { get, post } from './requests.ts';

interface Listed {
  /** The flow that a dial starts. */
  readonly dialled: string;
  /** Flows that single service codes start. */
  readonly codes: readonly { readonly code: string; readonly flow: string }[];
  readonly flows: readonly { readonly flow: string; readonly version: number }[];
  readonly starters: readonly { readonly name: string; readonly summary: string }[];
}

export interface FlowList {
  /** Reads the flows again and selects one. */
  refresh(chosen: string): Promise<Listed>;
  /** Opens the dialog, with a name to begin with. */
  begin(name: string): Promise<void>;
}

function sayDial(flow: string, { dialled, codes }: Listed): string {
  const own = codes.filter((one) => one.flow === flow).map(({ code }) => code);
  if (own.length) return ` ${own.join(' and ')} starts it (USSD_FLOW).`;
  return flow === dialled ? '' : ` A dial starts "${dialled}" (USSD_FLOW).`;
}

export function beginning({ onBegun }: { readonly onBegun: (flow: string, words: string) => Promise<void> }): FlowList {
  const flows = findElement<HTMLSelectElement>('flows');
  const dialog = findElement<HTMLDialogElement>('new-flow');
  const name = findElement<HTMLInputElement>('new-name');
  const starters = findElement('starters');
  const notice = findElement('new-notice');
  let how: (flow: string) => string = () => '';

  async function refresh(chosen: string): Promise<Listed> {
    const listed = await get<Listed>('/flows');
    flows.replaceChildren(
      ...listed.flows.map(({ flow, version }) =>
        element('option', { text: `${flow} · version ${version}`, is: { value: flow } }),
      ),
    );
    flows.value = chosen;
    return listed;
  }

  async function begin(proposed: string): Promise<void> {
    const listed = await refresh(flows.value);
    how = (flow) => sayDial(flow, listed);
    name.value = proposed;
    for (const old of starters.querySelectorAll('label')) old.remove();
    starters.append(
      ...listed.starters.map((starter, at) =>
        element('label', {}, [
          element('input', { is: { type: 'radio', name: 'starter', value: starter.name, checked: at === 0 } }),
          ` ${starter.name}: ${starter.summary}`,
        ]),
      ),
    );
    notice.textContent = '';
    dialog.showModal();
  }

  async function create(): Promise<void> {
    if (!name.reportValidity()) return;
    const starter = dialog.querySelector<HTMLInputElement>('input[name="starter"]:checked')?.value ?? '';
    try {
      const { file } = await post<{ file: string }>('/new', { flow: name.value, starter });
      dialog.close();
      await onBegun(name.value, `The flow was created in ${file} and is served.${how(name.value)}`);
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
  }

  startCancel(dialog);
  findElement('begin').addEventListener('click', () => void begin(''));
  findElement('create').addEventListener('click', (event) => {
    event.preventDefault();
    void create();
  });
  return { refresh, begin };
}
