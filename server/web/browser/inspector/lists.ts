// The lists at the side: machines and sessions.

import { button, element, findElement } from '../element.ts';

import type { ListedMachine, ListedSession } from './store.ts';

export interface ListContent {
  readonly machines: readonly ListedMachine[];
  readonly sessions: readonly ListedSession[];
  /** The selection. */
  readonly machine: string | undefined;
  readonly actor: string | undefined;
  /** Message for an empty list. */
  readonly whyNone: string;
}

export interface Choices {
  readonly onMachine: (id: string) => void;
  readonly onSession: (actor: string) => void;
}

export function sideLists({ onMachine, onSession }: Choices) {
  const machineList = findElement('machines');
  const sessionList = findElement('sessions');
  return {
    show({ machines, sessions, machine, actor, whyNone }: ListContent): void {
      updateList(machineList, machines, {
        key: ({ id }) => id,
        make: ({ id }) => button('', () => onMachine(id), { class: 'line' }),
        update: (line, one) => {
          line.replaceChildren(
            element('span', { class: `dot ${one.kind}` }),
            element('strong', { text: one.id }),
            one.kind === 'lifecycle'
              ? element('span', { class: 'hidden', text: 'lifecycle' })
              : element('small', { text: `v${one.version}` }),
          );
          line.title = one.title;
          setCurrent(line, actor === undefined && one.id === machine);
        },
      });
      updateList(sessionList, sessions, {
        key: (one) => one.actor,
        make: (one) => button('', () => onSession(one.actor), { class: 'line session' }),
        update: (line, one) => {
          line.replaceChildren(
            element('span', { class: `dot ${one.ended ? 'gone' : one.hasFailed ? 'failed' : 'live'}` }),
            element('strong', { text: one.caller ?? one.label }),
            element('small', { text: formatAge(one) }),
            element('span', { class: 'where soft', text: formatPlace(one) }),
          );
          line.title = `${one.door} ${one.label}`;
          setCurrent(line, one.actor === actor);
        },
      });
      findElement('count').textContent = sessions.length ? String(sessions.length) : '';
      const quiet = findElement('quiet');
      quiet.hidden = sessions.length > 0;
      quiet.textContent = whyNone;
    },
  };
}

function setCurrent(line: Element, isCurrent: boolean): void {
  if (isCurrent) line.setAttribute('aria-current', 'true');
  else line.removeAttribute('aria-current');
}

function formatPlace({ caller, label, machine, state, ended, hasFailed }: ListedSession): string {
  return [
    ...(caller === undefined ? [] : [label]),
    machine,
    state,
    ...(ended ? ['ended'] : []),
    ...(hasFailed ? ['a call failed'] : []),
  ].join(' · ');
}

function formatAge({ startedAt, at }: ListedSession): string {
  const since = startedAt ?? at;
  if (!since) return '';
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

interface ListUpdate<Item> {
  readonly key: (item: Item) => string;
  readonly make: (item: Item) => HTMLButtonElement;
  readonly update: (line: HTMLButtonElement, item: Item) => void;
}

// Reuses rows by key, so that the focused one keeps the focus.
function updateList<Item>(list: HTMLElement, items: readonly Item[], { key, make, update }: ListUpdate<Item>): void {
  const before = new Map([...list.children].map((line) => [(line as HTMLElement).dataset.key, line]));
  let place = list.firstElementChild;
  for (const item of items) {
    const name = key(item);
    const line = before.get(name) ?? element('li', { is: { 'data-key': name } }, [make(item)]);
    before.delete(name);
    update(line.firstElementChild as HTMLButtonElement, item);
    if (line === place) place = place.nextElementSibling;
    else list.insertBefore(line, place);
  }
  for (const line of before.values()) line.remove();
}
