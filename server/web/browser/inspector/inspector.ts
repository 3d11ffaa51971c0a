// The page of the inspector: the stream goes into the store, and what is looked at is drawn from it.

import { element, found } from '../element.ts';
import { detail, timeline } from './detail.ts';
import { drawingView } from './drawing.ts';
import { fits, lists } from './lists.ts';
import { keepPlace, keys, readPlace } from './navigation.ts';
import { createStore, type Machine, type Moment, stream } from './store.ts';

const store = createStore();
const { session: named, ...place } = readPlace();
let machines: readonly Machine[] = [];
/** Sessions are followed as they come, until one is chosen. */
let looksFor = place.actor === undefined && place.at === undefined ? (named ?? '') : undefined;
const search = found<HTMLInputElement>('search');
const drawing = drawingView();
const side = lists({ onMachine: chooseMachine, onSession: chooseSession });
const told = detail({ onMoment: goTo });
const time = timeline({ onGo: goTo, onLive: goLive });

function chooseMachine(machine: string): void {
  looksFor = undefined;
  Object.assign(place, { machine, actor: undefined, at: undefined });
  open('stage');
  soon();
}

function chooseSession(actor: string): void {
  looksFor = undefined;
  Object.assign(place, { machine: store.session(actor)?.machine, actor, at: undefined });
  open('stage');
  soon();
}

function goTo(id: string): void {
  looksFor = undefined;
  place.at = id;
  soon();
}

function goLive(): void {
  place.at = undefined;
  soon();
}

const shownSessions = () =>
  store
    .sessions()
    .filter(({ label, caller, machine, state, door }) => fits(search.value, [label, caller, machine, state, door]));

function seen(): { moments: readonly Moment[]; moment: Moment | undefined } {
  const moments = store.moments(place);
  return { moments, moment: place.at === undefined ? moments.at(-1) : moments.find(({ id }) => id === place.at) };
}

function follow(): void {
  if (looksFor === undefined) return;
  const wanted = looksFor;
  const session = store.sessions().find(({ label, seen }) => (wanted === '' ? seen > 0 : label === wanted));
  if (!session) return;
  Object.assign(place, { machine: session.machine, actor: session.actor });
  looksFor = undefined;
}

let isPlanned = false;

function soon(): void {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    render();
  });
}

function render(): void {
  follow();
  const sessions = shownSessions();
  const machine = machines.find(({ id }) => id === place.machine) ?? machines[0];
  place.machine ??= machine?.id;
  const session = place.actor === undefined ? undefined : store.session(place.actor);
  const { moments, moment } = seen();
  const listed = machines.filter(({ id, title }) => fits(search.value, [id, title]));
  side.show({ machines: listed, sessions, machine: place.machine, actor: place.actor });
  told.show({ session, moments, moment });
  time.show({ moments, moment, isLive: place.at === undefined });
  found('heat').setAttribute('aria-pressed', String(place.heat));
  found('machine').textContent = place.machine ?? 'No machine';
  if (place.machine !== undefined) {
    const heat = place.heat ? store.moments({ machine: place.machine }) : undefined;
    const state = moment?.state ?? session?.state;
    drawing.show({ machine: place.machine, version: machine?.version ?? 0, state, edges: moment?.edges ?? [], heat });
  }
  if (looksFor === undefined) keepPlace(place);
}

function open(part: string): void {
  found('inspector').dataset.part = part;
  for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
    tab.setAttribute('aria-pressed', String(tab.dataset.part === part));
}

function step(by: number): void {
  const { moments, moment } = seen();
  const at = moments.findIndex(({ id }) => id === moment?.id);
  const next = moments[Math.min(moments.length - 1, Math.max(0, at + by))];
  if (next) goTo(next.id);
}

function neighbour(by: number): void {
  const sessions = shownSessions();
  const at = sessions.findIndex(({ actor }) => actor === place.actor);
  const next = sessions[at < 0 ? 0 : Math.min(sessions.length - 1, Math.max(0, at + by))];
  if (next) chooseSession(next.actor);
}

const pause = () => {
  const { moment } = seen();
  if (place.at === undefined && moment) goTo(moment.id);
  else goLive();
};
const heat = () => {
  place.heat = !place.heat;
  soon();
};

found('heat').addEventListener('click', heat);
found('fit').addEventListener('click', drawing.fit);
found('larger').addEventListener('click', () => drawing.zoom(1.25));
found('smaller').addEventListener('click', () => drawing.zoom(0.8));
found('pause').addEventListener('click', pause);
found('earlier').addEventListener('click', () => step(-1));
found('later').addEventListener('click', () => step(1));
search.addEventListener('input', soon);
for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
  tab.addEventListener('click', () => open(tab.dataset.part ?? 'stage'));
keys({
  j: () => neighbour(1),
  k: () => neighbour(-1),
  ArrowDown: () => neighbour(1),
  ArrowUp: () => neighbour(-1),
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ' ': pause,
  h: heat,
  f: drawing.fit,
  '+': () => drawing.zoom(1.25),
  '-': () => drawing.zoom(0.8),
  '/': () => search.focus(),
});

async function readMachines(): Promise<void> {
  const answer = await fetch('/inspector/machines');
  if (answer.status === 401) location.reload();
  machines = ((await answer.json()) as { machines: readonly Machine[] }).machines;
  soon();
}

open('stage');
stream({
  onStart: () => {
    store.restart();
    readMachines().catch(() => {
      found('state').replaceChildren(element('span', { class: 'dot gone' }), 'The machines cannot be read.');
    });
  },
  onMessage: (message) => {
    store.take(message);
    soon();
  },
});
// Ages go on also where nothing happens.
setInterval(soon, 5_000);
