// The dialog that adds a screen: its type, its name, what it says, and the way that leads to it.

import type { FlowForm } from '../../../../../lib/flow/editing/form-field.ts';
import type { AddScreen, FlowOperation } from '../../../../../lib/flow/editing/operations.ts';
import { element, findElement } from '../../element.ts';
import { get } from '../requests.ts';
import { type AskDialog, openDialog } from './asking.ts';

export interface AddingOptions extends AskDialog {
  /** The form that is shown. */
  readonly selected: () => FlowForm | undefined;
  /** The name of the flow. */
  readonly flow: () => string;
}

/** Where a screen is added: behind another one, on a way. @default way the author chooses */
export interface AddPlace {
  readonly after: string | undefined;
  readonly way?: string;
}

interface FlowNames {
  readonly services: readonly string[];
  readonly flows: readonly { readonly flow: string }[];
}

const LINE = 'line';
const TEXTUAL: ReadonlySet<string> = new Set(['menu', 'input', 'list', 'end']);
const readValue = (id: string) => findElement<HTMLInputElement>(id).value.trim();

/** Returns what opens the dialog. */
export function addDialog({ operate, selected, flow }: AddingOptions): (place: AddPlace) => Promise<void> {
  const type = findElement<HTMLSelectElement>('add-type');
  const way = findElement<HTMLSelectElement>('add-way');
  const dialog = openDialog('add-screen', { operate });
  let after: string | undefined;

  // Parts of the dialog are for some types only.
  function showParts(): void {
    for (const part of findElement('add-screen').querySelectorAll<HTMLElement>('[data-types]'))
      part.hidden = !part.dataset.types!.split(' ').includes(type.value);
    findElement('add-line-row').hidden = way.value !== LINE;
  }

  function listWays({ type: own, ways }: Pick<FlowForm, 'type' | 'ways'>): string {
    const options = ways.map(({ pointer, words, to }) =>
      element('option', { is: { value: pointer }, text: `${words} → ${to}` }),
    );
    const isMenu = own?.name === 'menu';
    if (isMenu) options.push(element('option', { is: { value: LINE }, text: 'a new line of this menu' }));
    way.replaceChildren(...options, element('option', { is: { value: '' }, text: 'no way yet' }));
    return isMenu ? LINE : (ways[0]?.pointer ?? '');
  }

  type.addEventListener('change', showParts);
  way.addEventListener('change', showParts);
  return async (place) => {
    ({ after } = place);
    findElement('add-screen').querySelector('form')!.reset();
    const usual = listWays(selected() ?? { ways: [] });
    way.value = place.way ?? usual;
    const { services, flows } = await get<FlowNames>('/flows');
    fillList('add-services', services);
    fillList(
      'add-flows',
      flows.map((one) => one.flow).filter((name) => name !== flow()),
    );
    showParts();
    dialog.ask(() => readScreen(after, way.value));
    findElement('add-id').focus();
  };
}

function readScreen(after: string | undefined, way: string): FlowOperation {
  const type = findElement<HTMLSelectElement>('add-type').value as AddScreen['type'];
  const lines = findElement<HTMLTextAreaElement>('add-lines').value.split('\n');
  const filled = lines.map((line) => line.trim()).filter((line) => line !== '');
  const answer = findElement<HTMLSelectElement>('add-answer').value as NonNullable<AddScreen['answer']>;
  return {
    ...{ do: 'add', type, id: readValue('add-id') },
    ...(after !== undefined && { after }),
    ...(way === LINE ? { line: readValue('add-line') || readValue('add-id') } : way !== '' && { way }),
    ...(TEXTUAL.has(type) && { text: readValue('add-text') }),
    ...(type === 'menu' && filled.length > 0 && { lines: filled }),
    ...(type === 'input' && { answer }),
    ...(type === 'call' && { service: readValue('add-service') }),
    ...(type === 'flow' && { flow: readValue('add-flow') }),
  };
}

function fillList(id: string, values: readonly string[]): void {
  findElement(id).replaceChildren(...values.map((value) => element('option', { is: { value } })));
}
