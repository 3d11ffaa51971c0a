// The two lists at the side: machines, and the sessions that are in them.

import { button, element, found } from '../element.ts';
import type { Machine, Session } from './store.ts';

export interface Lists {
  show(lists: {
    readonly machines: readonly Machine[];
    readonly sessions: readonly Session[];
    readonly machine: string | undefined;
    readonly actor: string | undefined;
  }): void;
}

export interface Choices {
  readonly onMachine: (id: string) => void;
  readonly onSession: (actor: string) => void;
}

export function lists({ onMachine, onSession }: Choices): Lists {
  const machineList = found('machines');
  const sessionList = found('sessions');
  return {
    show({ machines, sessions, machine, actor }) {
      keyed(machineList, machines, {
        key: ({ id }) => id,
        make: ({ id }) => button('', () => onMachine(id), { class: 'line' }),
        update: (line, one) => {
          line.replaceChildren(
            element('span', { class: `dot ${one.kind}` }),
            element('strong', { text: one.id }),
            one.kind === 'flow'
              ? element('small', { text: `v${one.version}` })
              : element('span', { class: 'hidden', text: 'lifecycle' }),
          );
          line.title = one.title;
          current(line, actor === undefined && one.id === machine);
        },
      });
      keyed(sessionList, sessions, {
        key: (one) => one.actor,
        make: (one) => button('', () => onSession(one.actor), { class: 'line session' }),
        update: (line, one) => {
          line.replaceChildren(
            element('span', { class: `dot ${one.ended ? 'gone' : 'live'}` }),
            element('strong', { text: one.caller ?? one.label }),
            element('small', { text: ageOf(one) }),
            element('span', { class: 'where', text: whereOf(one) }),
          );
          line.title = `${one.door} ${one.label}`;
          current(line, one.actor === actor);
        },
      });
      found('count').textContent = sessions.length ? String(sessions.length) : '';
      found('quiet').hidden = sessions.length > 0;
    },
  };
}

/** Whether a machine or a session has all the words that are searched for. */
export function fits(words: string, texts: readonly (string | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function current(line: Element, isCurrent: boolean): void {
  if (isCurrent) line.setAttribute('aria-current', 'true');
  else line.removeAttribute('aria-current');
}

function whereOf({ caller, label, machine, state, ended }: Session): string {
  return [...(caller === undefined ? [] : [label]), machine, state, ...(ended ? ['ended'] : [])].join(' · ');
}

function ageOf({ born, at }: Session): string {
  const since = born ?? at;
  if (!since) return '';
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

interface Keyed<Item> {
  readonly key: (item: Item) => string;
  readonly make: (item: Item) => HTMLButtonElement;
  readonly update: (line: HTMLButtonElement, item: Item) => void;
}

// Lines stay what they are, so that the one that has the focus keeps it.
function keyed<Item>(list: HTMLElement, items: readonly Item[], { key, make, update }: Keyed<Item>): void {
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
