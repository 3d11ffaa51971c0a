// The fields of a form: a row for each, rows within rows, and buttons that move, add and remove parts.

import type { FormField } from '../../../../../lib/flow/editing/form-field.ts';
import type { FlowOperation } from '../../../../../lib/flow/editing/operations.ts';
import type { Json } from '../../../../../lib/json/json.ts';
import { button, element } from '../../element.ts';
import { type ControlOptions, choiceControl, flagControl, formControl, inputControl, textControl } from './controls.ts';
import { followMove } from './focus.ts';
import { findLabel } from './labels.ts';

export interface FieldHost {
  operate(operation: FlowOperation): void;
  /** A new screen was asked for at the end of a way. */
  addScreen(way: string): void;
  /** A new variable was asked for. */
  addVariable(pointer: string): void;
  complete(input: HTMLInputElement, field: FormField): void;
  /** Pointers of the parts that are open. */
  readonly open: Set<string>;
}

/** The rows of fields: those that are set or needed, and the others behind "More". */
export function fieldRows(fields: readonly FormField[], host: FieldHost, owner: string): HTMLElement[] {
  const isShown = ({ value, required }: FormField) => value !== undefined || required === true;
  const more = fields.filter((field) => !isShown(field));
  return [
    ...fields.filter(isShown).map((field) => fieldRow(field, host)),
    ...(more.length ? [foldedRows(more, host, `${owner}#more`)] : []),
  ];
}

function foldedRows(fields: readonly FormField[], host: FieldHost, place: string): HTMLElement {
  const names = fields.map(({ key }) => findLabel(key)).join(', ');
  const box = element('details', { class: 'more', is: { open: host.open.has(place) } }, [
    element('summary', { text: 'More', is: { title: names, 'data-at': place } }),
  ]);
  let isFilled = false;
  // Most stay closed: their controls are made when they are looked at.
  const fill = () => {
    if (isFilled) return;
    isFilled = true;
    box.append(...fields.map((field) => fieldRow(field, host)));
  };
  box.addEventListener('toggle', () => {
    if (box.open) host.open.add(place);
    else host.open.delete(place);
    if (box.open) fill();
  });
  if (box.open) fill();
  return box;
}

function fieldRow(field: FormField, host: FieldHost): HTMLElement {
  const { pointer, key, about, kind, fields, required, value, forms } = field;
  const label = findLabel(key);
  const hasParts = fields !== undefined || kind === 'ways';
  const isRemovable = hasParts && !required && value !== undefined;
  const remove = isRemovable && removeButton(label, () => host.operate({ do: 'set', pointer }));
  const name = element('span', { class: 'name', text: label, is: { title: about } });
  const row = element('div', { class: hasParts ? 'field wide' : 'field', is: { 'data-pointer': pointer } });
  const options = controlOptions(field, host, label);
  if (forms && kind !== 'flag')
    row.append(name, formControl(field, options), ...(value === undefined ? [] : [controlBody(field, options, host)]));
  else if (forms && value === undefined) row.append(name, formControl(field, options));
  else row.append(name, controlBody(field, options, host));
  if (remove) row.append(remove);
  return row;
}

function controlOptions({ pointer, kind, key, choices }: FormField, host: FieldHost, label: string): ControlOptions {
  const isScreen = kind === 'choice' && ['to', 'else', 'done', 'fail'].includes(key);
  const isVariable = kind === 'choice' && key === 'save' && choices !== undefined;
  const onNew = isScreen ? () => host.addScreen(pointer) : isVariable ? () => host.addVariable(pointer) : undefined;
  return {
    label,
    change: (value: Json | undefined) =>
      host.operate(value === undefined ? { do: 'set', pointer } : { do: 'set', pointer, value }),
    onNew,
    complete: host.complete,
  };
}

function controlBody(field: FormField, options: ControlOptions, host: FieldHost): HTMLElement {
  switch (field.kind) {
    case 'text':
      return textControl(field, options);
    case 'choice':
      return choiceControl(field, options);
    case 'flag':
      return flagControl(field, options);
    case 'group':
      return group(options.label, fieldRows(field.fields ?? [], host, field.pointer));
    case 'map':
      return mapBody(field, host, options.label);
    case 'list':
    case 'ways':
      return field.kind === 'ways' && !Array.isArray(field.value)
        ? oneWay(field, options, host)
        : listBody(field, host, options);
    default:
      return inputControl(field, options);
  }
}

const group = (label: string, children: readonly Node[]) =>
  element('div', { class: 'parts', is: { role: 'group', 'aria-label': label } }, [...children]);

// --- lists and ways ---

function listBody(field: FormField, host: FieldHost, { label }: ControlOptions): HTMLElement {
  const { fields = [], pointer, kind, key } = field;
  const parts = fields.map((part, at) => listPart(part, { at, last: fields.length - 1, label, host }));
  const add =
    key === 'options'
      ? addLine(pointer, host)
      : kind === 'ways'
        ? addWay(field, host)
        : button(
            `Add to ${label}`,
            () => host.operate({ do: 'insert', pointer, at: fields.length, value: field.fresh ?? '' }),
            {
              is: { 'data-at': `${pointer}#add` },
            },
          );
  return group(label, [...parts, add]);
}

interface ListPlace {
  readonly at: number;
  readonly last: number;
  /** Of the list. */
  readonly label: string;
  readonly host: FieldHost;
}

function listPart(part: FormField, { at, last, label, host }: ListPlace): HTMLElement {
  const { pointer } = part;
  const name = `${label} ${at + 1}`;
  const move = (by: -1 | 1) => {
    if (by < 0 ? at === 0 : at === last) return;
    followMove(pointer, `${pointer.slice(0, pointer.lastIndexOf('/'))}/${at + by}`, host.open);
    host.operate({ do: 'move', pointer, by });
  };
  const buttons = [
    at > 0 && pressButton('↑', { label: `Move ${name} up`, at: `${pointer}#up` }, () => move(-1)),
    at < last && pressButton('↓', { label: `Move ${name} down`, at: `${pointer}#down` }, () => move(1)),
    removeButton(name, () => host.operate({ do: 'set', pointer })),
  ];
  const is = { role: 'group', 'aria-label': part.kind === 'group' ? name : `Part ${at + 1}`, 'data-pointer': pointer };
  const box =
    part.kind === 'group'
      ? element('div', { class: 'part', is }, [
          element('div', { class: 'row small part-head' }, [
            element('strong', { class: 'grow', text: describePart(part, at) }),
            ...buttons,
          ]),
          ...fieldRows(part.fields ?? [], host, pointer),
        ])
      : element('div', { class: 'row small', is }, [
          controlBody(part, controlOptions(part, host, name), host),
          ...buttons,
        ]);
  box.addEventListener('keydown', (event) => {
    const by = event.altKey ? (event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0) : 0;
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  return box;
}

function describePart({ fields = [], key }: FormField, at: number): string {
  const id = fields.find((one) => one.key === 'id')?.value;
  const when = fields.find((one) => one.key === 'when');
  if (typeof id === 'string') return `${at + 1} · ${id}`;
  return when ? (when.says ?? (when.value === undefined ? 'Else' : String(when.value))) : key;
}

// A menu's line: its text, and where it leads.
function addLine(pointer: string, host: FieldHost): HTMLElement {
  const screen = pointer.split('/')[2]!.replace(/~1/g, '/').replace(/~0/g, '~');
  const text = element('input', {
    is: { placeholder: 'Text of a new line', 'aria-label': 'Text of a new line', 'data-at': `${pointer}#line` },
  });
  const add = () => {
    if (text.value.trim() === '') return text.focus();
    host.operate({ do: 'lines', screen, lines: [text.value.trim()], to: screen });
    text.value = '';
  };
  text.addEventListener('keydown', ({ key }) => key === 'Enter' && add());
  return element('div', { class: 'row small' }, [text, button('Add the line', add)]);
}

function oneWay(field: FormField, options: ControlOptions, host: FieldHost): HTMLElement {
  const onNew = () => host.addScreen(field.pointer);
  return group(options.label, [choiceControl(field, { ...options, onNew }), addWay(field, host)]);
}

function addWay({ pointer, choices = [] }: FormField, host: FieldHost): HTMLElement {
  const when = element('input', {
    class: 'code',
    is: { placeholder: 'A condition, such as bags > 5', 'aria-label': 'A condition', 'data-at': `${pointer}#when` },
  });
  host.complete(when, { pointer: `${pointer}/0/when`, key: 'when', about: '', kind: 'condition' });
  const to = element('select', { is: { 'aria-label': 'leads to', 'data-at': `${pointer}#to` } });
  for (const { value } of choices) to.append(element('option', { is: { value: String(value) }, text: String(value) }));
  const add = () => {
    if (when.value.trim() === '') return when.focus();
    host.operate({ do: 'way', pointer, when: when.value.trim(), to: to.value });
    when.value = '';
  };
  return element('details', { class: 'more', is: { open: host.open.has(`${pointer}#way`) } }, [
    element('summary', { text: 'Add a way with a condition', is: { 'data-at': `${pointer}#way` } }),
    element('div', { class: 'row small' }, [when, to, button('Add the way', add)]),
  ]);
}

// --- names of the author ---

function mapBody(
  { fields = [], pointer, names = [], fresh = '' }: FormField,
  host: FieldHost,
  label: string,
): HTMLElement {
  const rows = fields.map((field) => {
    const row = fieldRow(field, host);
    const isOptional = field.value !== undefined && !field.required && field.fields === undefined;
    if (isOptional) row.append(removeButton(field.key, () => host.operate({ do: 'set', pointer: field.pointer })));
    return row;
  });
  const id = `names-${pointer}`;
  const name = element('input', {
    is: {
      placeholder: 'Name',
      'aria-label': `New name in ${label}`,
      list: names.length ? id : undefined,
      'data-at': `${pointer}#name`,
    },
  });
  const add = () => {
    const key = name.value.trim();
    if (key === '') return name.focus();
    host.open.add(`${pointer}/${key}#more`);
    host.operate({ do: 'set', pointer: `${pointer}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`, value: fresh });
    name.value = '';
  };
  name.addEventListener('keydown', ({ key }) => key === 'Enter' && add());
  const list = names.map(({ value, about }) => element('option', { is: { value: String(value) }, text: about ?? '' }));
  return group(label, [
    ...rows,
    element('div', { class: 'row small' }, [
      name,
      names.length > 0 && element('datalist', { is: { id } }, list),
      button('Add', add, { is: { 'aria-label': `Add to ${label}` } }),
    ]),
  ]);
}

const pressButton = (sign: string, { label, at }: { label: string; at: string }, press: () => void) =>
  button(sign, press, { is: { 'aria-label': label, title: label, 'data-at': at } });
const removeButton = (what: string, press: () => void) =>
  button('✕', press, { class: 'remove', is: { 'aria-label': `Remove ${what}`, title: `Remove ${what}` } });
