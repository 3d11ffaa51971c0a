// The list of flows, and the dialog for a new one.

import { element, findElement } from '../element.ts';
import { startCancel } from './form/asking.ts';
import { get, post } from './requests.ts';

interface Listed {
  /** The flow that a dial starts. */
  readonly dialled: string;
  readonly flows: readonly { readonly flow: string; readonly version: number }[];
  readonly starters: readonly { readonly name: string; readonly summary: string }[];
}

export interface FlowList {
  /** Reads the flows again and selects one. */
  refresh(chosen: string): Promise<Listed>;
  /** Opens the dialog, with a name to begin with. */
  begin(name: string): Promise<void>;
}

export interface BeginOptions {
  /** The texts in the editor. */
  readonly open: () => { readonly flow: string; readonly text: string; readonly tests: string };
  readonly onBegun: (flow: string, words: string) => Promise<void>;
}

/** Choices beside the starters. */
const COPY = ' copy';
const FILE = ' file';

export function beginning({ open, onBegun }: BeginOptions): FlowList {
  const flows = findElement<HTMLSelectElement>('flows');
  const dialog = findElement<HTMLDialogElement>('new-flow');
  const name = findElement<HTMLInputElement>('new-name');
  const starters = findElement('starters');
  const notice = findElement('new-notice');
  const file = element('input', { is: { type: 'file', accept: '.json' } });
  let dialled = '';

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
    ({ dialled } = listed);
    name.value = proposed;
    for (const old of starters.querySelectorAll('label')) old.remove();
    const { flow } = open();
    const choices = [
      ...listed.starters.map((one) => [one.name, `${one.name}: ${one.summary}`] as const),
      ...(flow === '' ? [] : [[COPY, `copy: ${flow} as it is in the editor, with its tests`] as const]),
      [FILE, 'file: a flow, or an export of RapidPro or TextIt'] as const,
    ];
    starters.append(
      ...choices.map(([value, words], at) =>
        element('label', {}, [
          element('input', { is: { type: 'radio', name: 'starter', value, checked: at === 0 } }),
          ` ${words}`,
        ]),
      ),
      element('label', {}, ['File ', file]),
    );
    notice.textContent = '';
    dialog.showModal();
  }

  async function create(): Promise<void> {
    if (!name.reportValidity()) return;
    const starter = dialog.querySelector<HTMLInputElement>('input[name="starter"]:checked')?.value ?? '';
    try {
      const { text, tests } = open();
      const chosen = starter === COPY ? { text, tests } : starter === FILE ? { text: await readFile() } : { starter };
      const begun = await post<Begun>('/new', { flow: name.value, starter: '', ...chosen });
      dialog.close();
      await onBegun(begun.flow, describeBegun(begun, dialled));
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
  }

  async function readFile(): Promise<string> {
    const [chosen] = file.files ?? [];
    if (!chosen) throw new Error('Choose a file.');
    return chosen.text();
  }

  file.addEventListener('change', () => {
    const choice = dialog.querySelector<HTMLInputElement>(`input[value="${FILE}"]`);
    if (choice) choice.checked = true;
  });
  startCancel(dialog);
  findElement('begin').addEventListener('click', () => void begin(''));
  findElement('create').addEventListener('click', (event) => {
    event.preventDefault();
    void create();
  });
  return { refresh, begin };
}

interface Begun {
  readonly flow: string;
  readonly file: string;
  readonly report: readonly string[];
}

function describeBegun({ flow, file, report }: Begun, dialled: string): string {
  const how = flow === dialled ? '' : ` A dial starts "${dialled}" (USSD_FLOW).`;
  const lost = report.length ? [`${report.length} things have no counterpart:`, ...report] : [];
  return [`The flow was created in ${file} and is served.${how}`, ...lost].join('\n');
}
