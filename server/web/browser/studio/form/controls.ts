// Controls of a form, one for each kind of field. A control hands on what it becomes; undefined takes the field out of the file.

import type { FormField } from '../../../../../lib/flow/editing/form-field.ts';
import type { Json } from '../../../../../lib/json/json.ts';
import { element } from '../../element.ts';

export interface ControlOptions {
  /** The accessible name. */
  readonly label: string;
  readonly change: (value: Json | undefined) => void;
  /** Something new was chosen for a field that takes a screen or a variable. */
  readonly onNew?: (() => void) | undefined;
  /** Helps with code that is typed. */
  readonly complete?: (input: HTMLInputElement, field: FormField) => void;
}

const SCREEN_SEPTETS = 182;
const NEW = ' new';

/** A control with an address, so that the focus finds it again. */
function addressed<Control extends HTMLElement>(control: Control, pointer: string, part = ''): Control {
  control.dataset.at = pointer + part;
  return control;
}

/** A text in all languages, each with its length. */
export function textControl(field: FormField, { label, change }: ControlOptions): HTMLElement {
  const { texts = [], pointer, required } = field;
  const areas: HTMLTextAreaElement[] = [];
  const write = () => {
    const written = texts.map(({ lang }, at) => [lang, areas[at]!.value] as const);
    const filled = written.filter(([, text]) => text !== '');
    if (!filled.length) return change(required ? '' : undefined);
    // A text for all languages is split as soon as two languages differ.
    const isOne = written.every(([, text]) => text === filled[0]![1]) || texts.length === 1;
    change(isOne ? filled[0]![1] : Object.fromEntries(filled));
  };
  const rows = texts.map(({ lang, text, used, isGsm }) => {
    const name = texts.length > 1 ? `${label}, ${lang}` : label;
    const area = element('textarea', {
      is: { 'aria-label': name, rows: Math.min(6, (text ?? '').split('\n').length) },
      on: { change: write },
    });
    area.value = text ?? '';
    area.dataset.first = area.value;
    if (text === null && texts.some((one) => one.text !== null)) area.placeholder = 'missing';
    areas.push(addressed(area, pointer, `#${lang}`));
    const isBad = used > SCREEN_SEPTETS || !isGsm;
    return element('div', { class: 'wording-row' }, [
      texts.length > 1 && element('small', { class: 'quiet', text: lang }),
      area,
      element('small', {
        class: isBad ? 'bad' : 'quiet',
        text: text === null ? '' : `${used}${isGsm ? '' : ' · UCS-2'}`,
      }),
    ]);
  });
  return element('div', { class: 'texts' }, rows);
}

/** A word, code or a number. */
export function inputControl(field: FormField, { label, change, complete }: ControlOptions): HTMLElement {
  const { pointer, kind, value, required, bounds, says, choices = [] } = field;
  const isCode = kind === 'condition' || kind === 'expression' || kind === 'value';
  const list = choices.length ? `list-${pointer}` : undefined;
  const input = addressed(
    element('input', {
      class: isCode || kind === 'json' ? 'code' : '',
      is: {
        ...{
          type: kind === 'number' ? 'number' : 'text',
          'aria-label': label,
          list,
          spellcheck: isCode ? 'false' : undefined,
        },
        ...(bounds && { min: bounds.min, max: bounds.max, step: bounds.whole ? 1 : 'any' }),
      },
    }),
    pointer,
  );
  input.value = showJson(value, kind);
  input.dataset.first = input.value;
  input.addEventListener('change', () => {
    if (input.value === '' && !required) return change(undefined);
    if (!input.reportValidity()) return;
    const read = readJson(input.value, field);
    input.setCustomValidity(read === undefined ? 'Write JSON, such as 5, "text" or [1, 2].' : '');
    if (read === undefined) input.reportValidity();
    else change(read);
  });
  if (isCode) complete?.(input, field);
  const options = choices.map(({ value: one, about }) =>
    element('option', { is: { value: String(one) }, text: about ?? '' }),
  );
  return element('div', {}, [
    input,
    list !== undefined && element('datalist', { is: { id: list } }, options),
    says !== undefined && element('small', { class: 'quiet says', text: says }),
  ]);
}

function showJson(value: Json | undefined, kind: FormField['kind']): string {
  if (value === undefined) return '';
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}

// A value may be a text or any JSON; texts need no quotes.
function readJson(typed: string, { kind, value }: FormField): Json | undefined {
  if (kind === 'number') return Number(typed);
  if (kind !== 'value' && kind !== 'json') return typed;
  try {
    const read = JSON.parse(typed) as Json;
    return kind === 'value' && typeof value === 'string' && typeof read === 'number' ? typed : read;
  } catch {
    return kind === 'value' || !/^[[{"]/.test(typed) ? typed : undefined;
  }
}

/** One of several values. */
export function choiceControl(field: FormField, { label, change, onNew }: ControlOptions): HTMLElement {
  const { pointer, choices = [], value, required } = field;
  const select = addressed(element('select', { is: { 'aria-label': label } }), pointer);
  const add = (key: string, text: string) => select.append(element('option', { is: { value: key }, text }));
  if (!required || value === undefined) add('', '—');
  const isListed = choices.some((one) => one.value === value);
  if (value !== undefined && !isListed) add(JSON.stringify(value), `${String(value)} · missing`);
  for (const { value: one, about } of choices)
    add(JSON.stringify(one), about === undefined ? String(one) : one === false ? about : `${String(one)} · ${about}`);
  if (onNew) add(NEW, 'New …');
  select.value = value === undefined ? '' : JSON.stringify(value);
  select.addEventListener('change', () => {
    if (select.value !== NEW) return change(select.value === '' ? undefined : (JSON.parse(select.value) as Json));
    select.value = value === undefined ? '' : JSON.stringify(value);
    onNew?.();
  });
  return select;
}

/** Yes or no. No is as if it were not there. */
export function flagControl({ pointer, value, forms }: FormField, { label, change }: ControlOptions): HTMLElement {
  const yes = forms?.find(({ value: one }) => typeof one === 'boolean')?.value ?? true;
  const box = element('input', { is: { type: 'checkbox', 'aria-label': label, checked: value === yes } });
  box.addEventListener('change', () => change(box.checked ? yes : undefined));
  return addressed(box, pointer);
}

/** The type of a value that may have several. */
export function formControl({ pointer, value, forms = [] }: FormField, { label, change }: ControlOptions): HTMLElement {
  const select = addressed(element('select', { is: { 'aria-label': `${label}, kind` } }), pointer, '#form');
  select.append(element('option', { is: { value: '' }, text: '—' }));
  for (const [at, { name }] of forms.entries()) select.append(element('option', { is: { value: at }, text: name }));
  const type = (one: Json | undefined) => (Array.isArray(one) ? 'array' : typeof one);
  const present = forms.findIndex((one) => value !== undefined && type(one.value) === type(value));
  select.value = present < 0 ? '' : String(present);
  select.addEventListener('change', () => change(select.value === '' ? undefined : forms[Number(select.value)]!.value));
  return select;
}
