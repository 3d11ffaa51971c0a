// One session in detail: its screen, events and variables, its timeline, and the flow test that is made of it.

import { button, element, found } from '../element.ts';
import type { Moment, Session } from './store.ts';

export interface Detail {
  show(detail: {
    readonly session: Session | undefined;
    readonly moments: readonly Moment[];
    /** The moment that is looked at; undefined when none was seen. */
    readonly moment: Moment | undefined;
  }): void;
}

const DRAWN = 150;

export function detail({ onMoment }: { readonly onMoment: (id: string) => void }): Detail {
  const events = found('events');
  const copy = found<HTMLButtonElement>('copy');
  let chosen: Session | undefined;
  let told = '';
  copy.addEventListener('click', () => {
    if (chosen) void copyTest(chosen.actor);
  });
  return {
    show({ session, moments, moment }) {
      if (chosen?.actor !== session?.actor) say('');
      chosen = session;
      found('who').textContent = session
        ? (session.caller ?? session.label)
        : moment
          ? moment.machine
          : 'No session chosen';
      copy.hidden = session?.door !== 'ussd';
      found('screen').textContent = moment?.reply ?? '–';
      // Drawn anew only when there is something new: a list that moves cannot be read.
      const state = JSON.stringify([session?.actor, moments.length, moments.at(-1)?.id, moment?.id]);
      if (state === told) return;
      told = state;
      const { scrollTop } = events;
      const isAtEnd = scrollTop + events.clientHeight >= events.scrollHeight - 8;
      events.replaceChildren(...moments.slice(-DRAWN).map((one) => line(one, one.id === moment?.id, onMoment)));
      const context = moment?.context ?? session?.context ?? {};
      found('context').replaceChildren(...Object.entries(context).flatMap(variable));
      const here = events.querySelector('[aria-current]');
      if (here) here.scrollIntoView({ block: 'nearest' });
      else events.scrollTop = isAtEnd ? events.scrollHeight : scrollTop;
    },
  };
}

function line(moment: Moment, isHere: boolean, onMoment: (id: string) => void): HTMLElement {
  const { id, at, edges, typed = [], state, waiting } = moment;
  const said = typed.map(({ text }) => (text === null ? 'a secret' : text === '' ? 'nothing' : `“${text}”`)).join(', ');
  const press = button('', () => onMoment(id), { class: 'line', is: { 'aria-current': isHere && 'true' } });
  press.append(
    element('time', { text: new Date(at).toTimeString().slice(0, 8) }),
    ...edges.map(({ event }) => element('code', { text: eventName(event) })),
    element('span', { class: 'to', text: `→ ${state}${waiting ? ' (waiting)' : ''}` }),
    ...(said ? [element('span', { class: 'typed', text: `typed ${said}` })] : []),
  );
  return element('li', {}, [press]);
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^xstate\.init$/, 'begin'],
  [/^xstate\.done\.actor\.(.*)$/, '✓ $1'],
  [/^xstate\.error\.actor\.(.*)$/, '⚠ $1'],
  [/^xstate\.after\.(.*)$/, '⏱ $1'],
  [/^xstate\.done\.state\.(.*)$/, '✓ $1'],
];

/** An event of a machine in few words. */
function eventName(event: string): string {
  const [pattern, name] = NAMES.find(([one]) => one.test(event)) ?? [];
  return pattern && name !== undefined ? event.replace(pattern, name) : event;
}

// What the engine keeps beside the variables of a flow: its name here, and when there is nothing to say of it.
const OWN: { readonly [name: string]: readonly [string, (value: unknown) => boolean] } = {
  $stack: ['way back', (value) => Array.isArray(value) && value.length === 0],
  $page: ['page', (value) => value === 0],
  $bad: ['refused', (value) => value === 0],
  $frames: ['called from', (value) => Array.isArray(value) && value.length === 0],
  $proofs: ['proofs', () => true],
};

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function variable([name, value]: readonly [string, unknown]): HTMLElement[] {
  const [called = name, isIdle] = OWN[name] ?? [];
  if (value === null || isIdle?.(value)) return [];
  const text = Array.isArray(value) && name === '$stack' ? value.join(' › ') : textOf(value);
  return [element('dt', { text: called }), element('dd', { text })];
}

async function copyTest(actor: string): Promise<void> {
  const answer = await fetch(`/inspector/sessions/${encodeURIComponent(actor)}/flow-test`).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as
    | { text?: string; name?: string; error?: string }
    | undefined;
  if (!answer?.ok || body?.text === undefined) return say(body?.error ?? 'The server did not answer.');
  try {
    await navigator.clipboard.writeText(body.text);
    say(`Copied: put it beside the flow as ${body.name}. Dummies stand for its secrets.`);
  } catch {
    offer(body.text, body.name ?? 'flow.test.json');
  }
}

// Where the page may not write to the clipboard.
function offer(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = element('a', { is: { href: url, download: name } });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  say(`Saved as ${name}: this page may not use the clipboard.`);
}

function say(text: string): void {
  found('told').textContent = text;
}

export interface Timeline {
  show(time: {
    readonly moments: readonly Moment[];
    readonly moment: Moment | undefined;
    readonly isLive: boolean;
  }): void;
}

export interface TimeChoices {
  readonly onGo: (id: string) => void;
  readonly onLive: () => void;
}

export function timeline({ onGo, onLive }: TimeChoices): Timeline {
  const slider = found<HTMLInputElement>('time');
  const pause = found('pause');
  const output = found('moment');
  let shown: readonly Moment[] = [];
  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    const moment = shown[at];
    if (moment) onGo(moment.id);
    else onLive();
  });
  return {
    show({ moments, moment, isLive }) {
      shown = moments;
      const at = moment ? moments.indexOf(moment) : -1;
      slider.max = String(Math.max(0, moments.length - 1));
      slider.value = String(Math.max(0, at));
      slider.disabled = moments.length === 0;
      pause.textContent = isLive ? 'Pause' : 'Go live';
      pause.classList.toggle('live', isLive);
      const words = moment
        ? `${at + 1} of ${moments.length} · ${new Date(moment.at).toTimeString().slice(0, 8)}`
        : moments.length
          ? 'no longer kept'
          : 'nothing yet';
      output.textContent = words;
      slider.setAttribute('aria-valuetext', moment ? `${words}, ${moment.state}` : words);
    },
  };
}
