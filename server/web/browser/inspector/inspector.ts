// The page of the inspector: the stream fills the store, and views draw the selection from it.

import { element, findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import { sessionDetail, timeline } from './detail.ts';
import { drawingView } from './drawing.ts';
import { sideLists } from './lists.ts';
import { listenForKeys, readView, writeView } from './navigation.ts';
import { matchesWords, sessionSearch } from './search.ts';
import { createStore, type ListedMachine, openStream, type TraceEvent } from './store.ts';
import { troubleList } from './trouble.ts';

startHeader();

const store = createStore();
const { session: named, ...view } = readView();
let machines: readonly ListedMachine[] = [];
/** Follows the newest session until one is selected. */
let followedLabel = view.actor === undefined && view.at === undefined ? (named ?? '') : undefined;
const search = sessionSearch({ onChange: scheduleRender, onFound: store.add, onTrouble: troubleList() });
const drawing = drawingView({ onOpen: showSessionsAt });
const side = sideLists({ onMachine: chooseMachine, onSession: chooseSession });
const detail = sessionDetail({ onEvent: goTo });
const time = timeline({ onGo: goTo, onLive: goLive });

function chooseMachine(machine: string): void {
  followedLabel = undefined;
  Object.assign(view, { machine, actor: undefined, at: undefined });
  open('stage');
  scheduleRender();
}

function chooseSession(actor: string): void {
  followedLabel = undefined;
  Object.assign(view, { machine: store.session(actor)?.machine, actor, at: undefined });
  open('stage');
  scheduleRender();
}

/** Filters the sessions by a state of the drawn machine; the same state again shows all. */
function showSessionsAt(state: string): void {
  search.filter({ machine: view.machine ?? '', state });
  open('side');
}

function goTo(id: string): void {
  followedLabel = undefined;
  view.at = id;
  scheduleRender();
}

function goLive(): void {
  view.at = undefined;
  scheduleRender();
}

const matchingSessions = () => search.pick(store.sessions(), machines);

function selectEvents(): { events: readonly TraceEvent[]; event: TraceEvent | undefined } {
  const events = store.events(view);
  return { events, event: view.at === undefined ? events.at(-1) : events.find(({ id }) => id === view.at) };
}

function follow(): void {
  if (followedLabel === undefined) return;
  const wanted = followedLabel;
  const session = store.sessions().find(({ label, seen }) => (wanted === '' ? seen > 0 : label === wanted));
  if (!session) return;
  Object.assign(view, { machine: session.machine, actor: session.actor });
  followedLabel = undefined;
}

let isPlanned = false;

function scheduleRender(): void {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    render();
  });
}

function render(): void {
  follow();
  const sessions = matchingSessions();
  const first = findElement('inspector').dataset.flow;
  const machine = machines.find(({ id }) => id === (view.machine ?? first)) ?? machines[0];
  view.machine ??= machine?.id;
  const session = view.actor === undefined ? undefined : store.session(view.actor);
  const { events, event } = selectEvents();
  const listed = machines.filter(({ id, title }) => matchesWords(search.words(), [id, title]));
  const whyNone = search.whyNone(store.sessions().length);
  side.show({ machines: listed, sessions, machine: view.machine, actor: view.actor, whyNone });
  detail.show({ session, isFlow: machine?.kind === 'flow', events, event });
  time.show({ events, event, isLive: view.at === undefined });
  findElement('heat').setAttribute('aria-pressed', String(view.heat));
  findElement('machine').textContent = view.machine ?? 'No machine';
  if (view.machine !== undefined) {
    const heat = view.heat ? store.events({ machine: view.machine }) : undefined;
    const state = event?.state ?? session?.state;
    drawing.show({ machine: view.machine, version: machine?.version ?? 0, state, edges: event?.edges ?? [], heat });
  }
  if (followedLabel === undefined) writeView(view);
}

function open(part: string): void {
  findElement('inspector').dataset.part = part;
  for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
    tab.setAttribute('aria-pressed', String(tab.dataset.part === part));
}

function step(by: number): void {
  const { events, event } = selectEvents();
  const at = events.findIndex(({ id }) => id === event?.id);
  const next = events[Math.min(events.length - 1, Math.max(0, at + by))];
  if (next) goTo(next.id);
}

function chooseNeighbour(by: number): void {
  const sessions = matchingSessions();
  const at = sessions.findIndex(({ actor }) => actor === view.actor);
  const next = sessions[at < 0 ? 0 : Math.min(sessions.length - 1, Math.max(0, at + by))];
  if (next) chooseSession(next.actor);
}

const pause = () => {
  const { event } = selectEvents();
  if (view.at === undefined && event) goTo(event.id);
  else goLive();
};
const heat = () => {
  view.heat = !view.heat;
  scheduleRender();
};

findElement('heat').addEventListener('click', heat);
findElement('fit').addEventListener('click', drawing.fit);
findElement('larger').addEventListener('click', () => drawing.zoom(1.25));
findElement('smaller').addEventListener('click', () => drawing.zoom(0.8));
findElement('pause').addEventListener('click', pause);
findElement('earlier').addEventListener('click', () => step(-1));
findElement('later').addEventListener('click', () => step(1));
for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
  tab.addEventListener('click', () => open(tab.dataset.part ?? 'stage'));
listenForKeys({
  j: () => chooseNeighbour(1),
  k: () => chooseNeighbour(-1),
  ArrowDown: () => chooseNeighbour(1),
  ArrowUp: () => chooseNeighbour(-1),
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ' ': pause,
  h: heat,
  f: drawing.fit,
  '+': () => drawing.zoom(1.25),
  '-': () => drawing.zoom(0.8),
  '/': () => search.focus(),
});

// An address that is typed or pasted into an open page selects as a fresh page does.
addEventListener('hashchange', () => {
  const { session, ...next } = readView();
  Object.assign(view, { machine: undefined, actor: undefined, at: undefined }, next);
  followedLabel = next.actor === undefined && next.at === undefined ? (session ?? '') : undefined;
  scheduleRender();
});

async function readMachines(): Promise<void> {
  const answer = await fetch('/inspector/machines');
  if (answer.status === 401) location.reload();
  machines = ((await answer.json()) as { machines: readonly ListedMachine[] }).machines;
  scheduleRender();
}

open('stage');
openStream({
  onStart: () => {
    store.clear();
    readMachines().catch(() => {
      findElement('state').replaceChildren(element('span', { class: 'dot gone' }), 'The machines cannot be read.');
    });
  },
  onMessage: (message) => {
    store.add(message);
    scheduleRender();
  },
});
// Ages change without events.
setInterval(scheduleRender, 5_000);
