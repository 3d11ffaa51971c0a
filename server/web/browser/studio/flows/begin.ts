// The list of flows, and the dialog for a new one.

import type { ListedFlow } from '../../../studio/manage/routes.ts';
import type { FlowTemplate } from '../../../studio/manage/templates.ts';
import type { VersionEntry } from '../../../studio/versions.ts';
import { element, findElement } from '../../element.ts';
import { startCancel } from '../form/asking.ts';
import { get, post } from '../requests.ts';
import { templateShow } from './template.ts';

export type { ListedFlow };

export interface Listed {
  /** The flow that a dial starts. */
  readonly dialled: string;
  /** USSD_FLOW names it. */
  readonly isDialFixed: boolean;
  /** Flows that single service codes start. */
  readonly codes: readonly { readonly code: string; readonly flow: string }[];
  readonly flows: readonly ListedFlow[];
  readonly starters: readonly FlowTemplate[];
  /** Newest first. */
  readonly deleted: readonly VersionEntry[];
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

function sayDial(flow: string, { dialled, isDialFixed, codes }: Listed): string {
  const own = codes.filter((one) => one.flow === flow).map(({ code }) => code);
  if (own.length) return ` ${own.join(' and ')} starts it (USSD_FLOW).`;
  const how = isDialFixed ? 'USSD_FLOW' : '“Flows …” changes that';
  return flow === dialled ? '' : ` A dial starts "${dialled}" (${how}).`;
}

/** `main · version 2 · dialled · draft` */
export function describeFlow({ flow, version, hasDraft }: ListedFlow, { dialled }: Pick<Listed, 'dialled'>): string {
  const words = [
    flow,
    version !== undefined && `version ${version}`,
    flow === dialled && 'a dial starts it',
    hasDraft && (version === undefined ? 'draft only' : 'draft'),
  ];
  return words.filter(Boolean).join(' · ');
}

export function beginning({ open, onBegun }: BeginOptions): FlowList {
  const flows = findElement<HTMLSelectElement>('flows');
  const dialog = findElement<HTMLDialogElement>('new-flow');
  const name = findElement<HTMLInputElement>('new-name');
  const starters = findElement('starters');
  const notice = findElement('new-notice');
  const file = element('input', { is: { type: 'file', accept: '.json' } });
  const template = templateShow();
  let how: (flow: string) => string = () => '';

  async function refresh(chosen: string): Promise<Listed> {
    const listed = await get<Listed>('/flows');
    flows.replaceChildren(
      ...listed.flows.map((one) => element('option', { text: describeFlow(one, listed), is: { value: one.flow } })),
    );
    flows.value = chosen;
    return listed;
  }

  async function begin(proposed: string): Promise<void> {
    const listed = await refresh(flows.value);
    how = (flow) => sayDial(flow, listed);
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
    await template.show(listed.starters[0]!.name);
  }

  async function create(): Promise<void> {
    if (!name.reportValidity()) return;
    const starter = dialog.querySelector<HTMLInputElement>('input[name="starter"]:checked')?.value ?? '';
    try {
      const { text, tests } = open();
      const chosen = starter === COPY ? { text, tests } : starter === FILE ? { text: await readFile() } : { starter };
      const begun = await post<Begun>('/new', { flow: name.value, starter: '', ...chosen });
      dialog.close();
      await onBegun(begun.flow, describeBegun(begun, how(begun.flow)));
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
  starters.addEventListener('change', ({ target }) => void template.show((target as HTMLInputElement).value));
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
  readonly stage: 'published' | 'draft';
  readonly file: string;
  readonly report: readonly string[];
}

function describeBegun({ file, stage, report }: Begun, how: string): string {
  const lost = report.length ? [`${report.length} things have no counterpart:`, ...report] : [];
  const done = stage === 'draft' ? 'as a draft: publish it to serve it.' : `in ${file} and is served.${how}`;
  return [`The flow was created ${done}`, ...lost].join('\n');
}
