// The selected session: screen, events, variables and timeline, and its export as a flow test.

import { button, copyText, download, element, findElement, valueTree } from '../element.ts';
import type { ListedSession, TraceEvent } from './store.ts';

interface DetailContent {
  readonly session: ListedSession | undefined;
  /** Whether the machine is a flow, so that tests can be written. */
  readonly isFlow: boolean;
  readonly events: readonly TraceEvent[];
  /** The selected event. @default no events */
  readonly event: TraceEvent | undefined;
}

const EVENTS_SHOWN = 150;
/** Placeholder of private values. */
const MASK = '****';

export function sessionDetail({ onEvent }: { readonly onEvent: (id: string) => void }) {
  const list = findElement('events');
  const copy = findElement<HTMLButtonElement>('copy');
  let chosen: ListedSession | undefined;
  let shown = '';
  copy.addEventListener('click', () => {
    if (chosen) void copyTest(chosen.actor);
  });
  const reveal = findElement<HTMLButtonElement>('reveal');
  reveal.addEventListener('click', () => {
    if (chosen) void showPrivate(chosen.actor);
  });
  const end = endButton(() => chosen);
  return {
    show({ session, isFlow, events, event }: DetailContent): void {
      if (chosen?.actor !== session?.actor) {
        showStatus('');
        end.reset();
      }
      chosen = session;
      end.offer(session?.door === 'ussd' && !session.ended);
      findElement('who').textContent = session
        ? (session.caller ?? session.label)
        : event
          ? event.machine
          : 'No session chosen';
      copy.hidden = session?.door !== 'ussd' || !isFlow;
      findElement('screen').textContent = (event ?? session)?.reply ?? '–';
      // Redrawn only if there is something new: a list that moves cannot be read.
      const state = JSON.stringify([session?.actor, events.length, events.at(-1)?.id, event?.id]);
      if (state === shown) return;
      shown = state;
      const { scrollTop } = list;
      const isAtEnd = scrollTop + list.clientHeight >= list.scrollHeight - 8;
      list.replaceChildren(...events.slice(-EVENTS_SHOWN).map((one) => eventLine(one, one.id === event?.id, onEvent)));
      const context = event?.context ?? session?.context ?? {};
      reveal.hidden = session?.door !== 'ussd' || !Object.values(context).includes(MASK);
      findElement('context').replaceChildren(...Object.entries(context).flatMap(variableEntry));
      const here = list.querySelector('[aria-current]');
      if (here) here.scrollIntoView({ block: 'nearest' });
      else list.scrollTop = isAtEnd ? list.scrollHeight : scrollTop;
    },
  };
}

function eventLine(traced: TraceEvent, isHere: boolean, onEvent: (id: string) => void): HTMLElement {
  const { id, at, edges, typed = [], state, waiting } = traced;
  const said = typed.map(({ text }) => (text === null ? 'a secret' : text === '' ? 'nothing' : `“${text}”`)).join(', ');
  const press = button('', () => onEvent(id), { class: 'line', is: { 'aria-current': isHere && 'true' } });
  press.append(
    element('time', { class: 'soft', text: new Date(at).toTimeString().slice(0, 8) }),
    ...edges.map(({ event }) => element('code', { text: eventName(event) })),
    element('span', { class: 'to', text: `→ ${state}${waiting ? ' (waiting)' : ''}` }),
    ...(said ? [element('span', { class: 'typed soft', text: `typed ${said}` })] : []),
  );
  return element('li', {}, [press]);
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^xstate\.init$/, 'begin'],
  [/^twinline\.ended$/, 'ended by an operator'],
  [/^xstate\.done\.actor\.(.*)$/, '✓ $1'],
  [/^xstate\.error\.actor\.(.*)$/, '⚠ $1'],
  [/^xstate\.after\.(.*)$/, '⏱ $1'],
  [/^xstate\.done\.state\.(.*)$/, '✓ $1'],
];

/** Short name of an event. */
function eventName(event: string): string {
  const [pattern, name] = NAMES.find(([one]) => one.test(event)) ?? [];
  return pattern && name !== undefined ? event.replace(pattern, name) : event;
}

// Engine fields beside the variables of a flow: label, and the value to hide.
const OWN: { readonly [name: string]: readonly [string, (value: unknown) => boolean] } = {
  $stack: ['way back', (value) => Array.isArray(value) && value.length === 0],
  $undo: ['values behind', (value) => Array.isArray(value) && value.every((one) => !Object.keys(one).length)],
  $page: ['page', (value) => value === 0],
  $bad: ['refused', (value) => value === 0],
  $frames: ['called from', (value) => Array.isArray(value) && value.length === 0],
  $proofs: ['proofs', () => true],
};

function variableEntry([name, value]: readonly [string, unknown]): HTMLElement[] {
  const [called = name, isIdle] = OWN[name] ?? [];
  if (value === null || isIdle?.(value)) return [];
  const shown = Array.isArray(value) && name === '$stack' ? value.join(' › ') : valueTree(value);
  return [element('dt', { text: called }), element('dd', {}, [shown])];
}

// Current values, even at an earlier moment. Shown until the next one is selected.
async function showPrivate(actor: string): Promise<void> {
  const path = `/inspector/sessions/${encodeURIComponent(actor)}/private`;
  const answer = await fetch(path, { method: 'POST' }).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as { values?: object; error?: string } | undefined;
  if (!answer?.ok || !body?.values) return showStatus(body?.error ?? 'The server did not answer.');
  const values = Object.entries(body.values);
  findElement('context').replaceChildren(...values.flatMap(variableEntry));
  showStatus(`${values.length} private values, as they are now. The audit log says that you were shown them.`);
}

const CONFIRM_MS = 6_000;

/** Ends a session on the second press. */
function endButton(read: () => ListedSession | undefined) {
  const press = findElement<HTMLButtonElement>('end');
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reset = () => {
    clearTimeout(timer);
    timer = undefined;
    press.textContent = 'End session';
    press.classList.remove('danger');
  };
  press.addEventListener('click', () => {
    const session = read();
    if (!session) return;
    if (timer !== undefined) {
      reset();
      return void endSession(session.actor);
    }
    press.textContent = 'Really end it';
    press.classList.add('danger');
    showStatus('The caller will read that the session has ended. What services have done stays done.');
    timer = setTimeout(() => {
      reset();
      showStatus('');
    }, CONFIRM_MS);
  });
  return {
    reset,
    offer(isLiving: boolean): void {
      press.hidden = !isLiving;
      if (!isLiving && timer !== undefined) reset();
    },
  };
}

async function endSession(actor: string): Promise<void> {
  const path = `/inspector/sessions/${encodeURIComponent(actor)}`;
  const answer = await fetch(path, { method: 'DELETE' }).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as { error?: string } | undefined;
  if (answer?.ok) return showStatus('The session has ended. The audit log says that you ended it.');
  showStatus(body?.error ?? 'The server did not answer.');
}

async function copyTest(actor: string): Promise<void> {
  const answer = await fetch(`/inspector/sessions/${encodeURIComponent(actor)}/flow-test`).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as
    | { text?: string; name?: string; error?: string }
    | undefined;
  if (!answer?.ok || body?.text === undefined) return showStatus(body?.error ?? 'The server did not answer.');
  const { text, name = 'flow.test.json' } = body;
  if (await copyText(text))
    return showStatus(`Copied: put it beside the flow as ${name}. Dummies stand for its secrets.`);
  download(new Blob([text], { type: 'application/json' }), name);
  showStatus(`Saved as ${name}: this page may not use the clipboard.`);
}

function showStatus(text: string): void {
  findElement('notice').textContent = text;
}

export interface TimeChoices {
  readonly onGo: (id: string) => void;
  readonly onLive: () => void;
}

export function timeline({ onGo, onLive }: TimeChoices) {
  const slider = findElement<HTMLInputElement>('time');
  const pause = findElement('pause');
  const output = findElement('moment');
  let shown: readonly TraceEvent[] = [];
  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    const event = shown[at];
    if (event) onGo(event.id);
    else onLive();
  });
  return {
    show({ events, event, isLive }: { isLive: boolean } & Pick<DetailContent, 'events' | 'event'>): void {
      shown = events;
      const at = event ? events.indexOf(event) : -1;
      slider.max = String(Math.max(0, events.length - 1));
      slider.value = String(Math.max(0, at));
      slider.disabled = events.length === 0;
      pause.textContent = isLive ? 'Pause' : 'Go live';
      pause.classList.toggle('live', isLive);
      const words = event
        ? `${at + 1} of ${events.length} · ${new Date(event.at).toTimeString().slice(0, 8)}`
        : events.length
          ? 'no longer kept'
          : 'nothing yet';
      output.textContent = words;
      slider.setAttribute('aria-valuetext', event ? `${words}, ${event.state}` : words);
    },
  };
}
