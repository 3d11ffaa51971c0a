// Filters the sessions by words, flow, screen and state, and finds callers by number, which the server compares.

import { splitPath } from '../../../../lib/engine/machine/state-path.ts';
import type { StatelyMessage } from '../../../../lib/inspection/stately.ts';
import type { TroubledSession } from '../../../telemetry/trouble.ts';
import { element, findElement } from '../element.ts';
import type { ListedMachine, ListedSession } from './store.ts';

const STANDINGS: { readonly [name: string]: readonly [string, (session: ListedSession) => boolean] } = {
  all: ['All', () => true],
  living: ['Living', ({ ended }) => !ended],
  ended: ['Ended', ({ ended }) => ended],
  failed: ['With a failure', ({ hasFailed }) => hasFailed],
};

const DIGITS = /^\+?\d{4,15}$/;
const QUIET_MS = 300;

export interface SearchListeners {
  readonly onChange: () => void;
  /** Sessions found by the server. */
  readonly onFound: (message: StatelyMessage) => void;
  /** Sessions of the number in which something failed; undefined when no number is searched any more. */
  readonly onTrouble: (sessions: readonly TroubledSession[] | undefined) => void;
}

export function sessionSearch({ onChange, onFound, onTrouble }: SearchListeners) {
  const words = findElement<HTMLInputElement>('search');
  const status = findElement('searched');
  const machine = findElement<HTMLSelectElement>('filter-machine');
  const state = findElement<HTMLSelectElement>('filter-state');
  const standing = findElement<HTMLSelectElement>('filter-standing');
  let found = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = '';

  offer(
    standing,
    Object.entries(STANDINGS).map(([name, [label]]) => [name, label]),
  );
  for (const select of [machine, state, standing]) select.addEventListener('change', onChange);
  words.addEventListener('input', () => {
    clearTimeout(timer);
    found = new Set();
    asked = words.value.trim();
    status.textContent = '';
    onTrouble(undefined);
    if (DIGITS.test(asked)) timer = setTimeout(() => void askForCallers(asked), QUIET_MS);
    onChange();
  });

  async function askForCallers(number: string): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ number });
    const answer = await fetch('/inspector/callers', { method: 'POST', headers, body }).catch(() => undefined);
    if (number !== asked) return;
    if (!answer?.ok) {
      status.textContent = 'The server could not look for this number.';
      return;
    }
    const { sessions, searched, isCut, callers, trouble } = (await answer.json()) as {
      sessions: readonly StatelyMessage[];
      searched: number;
      isCut: boolean;
      callers: readonly { readonly caller: string }[];
      trouble: readonly TroubledSession[];
    };
    found = new Set(sessions.map(({ sessionId }) => sessionId));
    for (const message of sessions) onFound(message);
    const whole = isCut ? `the first ${searched}` : `${searched}`;
    const inLog = callers.length ? ` In the log: caller ${callers.map(({ caller }) => caller).join(', ')}.` : '';
    status.textContent = `${sessions.length} of ${whole} living sessions: the number is ${number} or ends so.${inLog}`;
    if (callers.length) onTrouble(trouble);
    onChange();
  }

  const fits = ({ actor, label, caller, machine: flow, state: screen, door }: ListedSession): boolean =>
    found.has(actor) || matchesWords(words.value, [label, caller, flow, screen, door]);

  return {
    words: () => words.value,
    focus: () => words.focus(),
    /** Filters by a screen of a flow; the same screen again shows all. */
    filter(wanted: { readonly machine: string; readonly state: string }): void {
      const isShown = machine.value === wanted.machine && state.value === wanted.state;
      choose(machine, isShown ? '' : wanted.machine);
      choose(state, isShown ? '' : wanted.state);
      onChange();
    },
    /** Updates the options and returns the matching sessions. */
    pick(sessions: readonly ListedSession[], machines: readonly ListedMachine[]): readonly ListedSession[] {
      offer(machine, [['', 'All flows'], ...machines.map(({ id }) => [id, id] as const)]);
      const ofFlow = sessions.filter((one) => machine.value === '' || one.machine === machine.value);
      const screens = [...new Set(ofFlow.map(({ state }) => state))].sort();
      offer(state, [['', 'All screens'], ...screens.map((name) => [name, name] as const)]);
      const [, isMeant] = STANDINGS[standing.value]!;
      return ofFlow.filter((one) => (state.value === '' || isAt(one.state, state.value)) && isMeant(one) && fits(one));
    },
    /** Message for an empty list. */
    whyNone(known: number): string {
      if (known === 0) return 'No session lives. Dial, and it appears here.';
      return words.value === '' ? 'No session is so.' : `No session matches “${words.value.trim()}”.`;
    },
  };
}

/** Whether a machine or session contains all words. */
export function matchesWords(words: string, texts: readonly (string | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

// A called flow finds all of its screens, a compound state all states inside of it.
const isAt = (screen: string, wanted: string) =>
  screen === wanted || splitPath(screen).some((path) => path === wanted || path.startsWith(`${wanted}.`));

function choose(select: HTMLSelectElement, value: string): void {
  if (![...select.options].some((option) => option.value === value))
    select.append(element('option', { text: value, is: { value } }));
  select.value = value;
}

// A selected option stays in the list even if it no longer exists.
function offer(select: HTMLSelectElement, options: readonly (readonly [value: string, label: string])[]): void {
  const chosen = select.value;
  const all =
    options.some(([value]) => value === chosen) || chosen === '' ? options : [...options, [chosen, chosen] as const];
  const key = JSON.stringify(all);
  if (select.dataset.options === key) return;
  select.dataset.options = key;
  select.replaceChildren(...all.map(([value, text]) => element('option', { text, is: { value } })));
  select.value = chosen === '' ? options[0]![0] : chosen;
}
