// A list of completions under an input, as a combobox: arrow keys choose, Enter and Tab take, Escape closes.

import type { Completion } from '../../../../../lib/flow/editing/proposals.ts';
import { element } from '../../element.ts';

export interface Listbox {
  show(items: readonly Completion[]): void;
  close(): void;
}

let lists = 0;

/** Makes a combobox of an input. */
export function openListbox(input: HTMLInputElement, onTake: (item: Completion) => void): Listbox {
  const id = `completions-${++lists}`;
  const list = element('ul', { class: 'completions', is: { role: 'listbox', id, 'aria-label': 'Completions' } });
  list.hidden = true;
  const attributes = { role: 'combobox', 'aria-expanded': 'false', 'aria-controls': id, 'aria-autocomplete': 'list' };
  for (const [name, value] of Object.entries({ ...attributes, autocomplete: 'off' })) input.setAttribute(name, value);
  let items: readonly Completion[] = [];
  let chosen = 0;

  function choose(at: number): void {
    chosen = at;
    for (const [index, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(index === at));
    input.setAttribute('aria-activedescendant', `${id}-${at}`);
  }

  function close(): void {
    items = [];
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function take(event: Event, at: number): void {
    event.preventDefault();
    const item = items[at];
    close();
    if (item) onTake(item);
  }

  function show(next: readonly Completion[]): void {
    items = next;
    list.replaceChildren(
      ...next.map(({ label, detail }, at) =>
        element(
          'li',
          { is: { role: 'option', id: `${id}-${at}` }, on: { mousedown: (event: Event) => take(event, at) } },
          [label, detail !== undefined && element('small', { class: 'quiet', text: ` ${detail}` })],
        ),
      ),
    );
    if (!list.isConnected) input.after(list);
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    choose(0);
  }

  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    const { key } = event;
    const { length } = items;
    if (!length) return;
    if (key === 'Enter' || key === 'Tab') take(event, chosen);
    else if (key === 'Escape') close();
    else if (key === 'ArrowDown' || key === 'ArrowUp') {
      choose((chosen + (key === 'ArrowDown' ? 1 : length - 1)) % length);
      event.preventDefault();
    }
  });
  return { show, close };
}
