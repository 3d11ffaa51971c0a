// The drawing of a machine, fetched once. Later only its marks change: active state, taken arrows, heat.

import { splitPath } from '../../../../lib/engine/machine/state-path.ts';
import { bringIntoView, stateButtons } from '../drawn-states.ts';
import { findElement } from '../element.ts';
import type { Edge, TraceEvent } from './store.ts';

/** Contents of the drawing. */
export interface Picture {
  readonly machine: string;
  readonly version: number;
  /** Path of the active state; of parallel states, all of them. */
  readonly state: string | undefined;
  /** Arrows of the last event. */
  readonly edges: TraceEvent['edges'];
  /** All events of the machine, for the heat. */
  readonly heat: readonly TraceEvent[] | undefined;
}

interface LoadedDrawing {
  readonly key: string;
  readonly svg: SVGSVGElement;
  readonly marks: EdgeMarks;
  readonly width: number;
  readonly height: number;
  readonly isPart: boolean;
}

const HEATS = ['heat-0', 'heat-1', 'heat-2', 'heat-3', 'heat-4', 'heat-5'];
const SCALE = { least: 0.25, most: 3, fitted: 1.25, readable: 0.85 };

export function drawingView({ onOpen }: { readonly onOpen: (state: string) => void }) {
  const box = findElement('drawing');
  const buttons = stateButtons(box, { says: 'Shows the sessions that are here', onOpen });
  const part = findElement('part-shown');
  let loaded: LoadedDrawing | undefined;
  let requested = '';
  let wanted: Picture | undefined;
  let size: 'readable' | 'whole' | number = 'readable';

  async function draw({ machine, version, state }: Picture, around: boolean): Promise<void> {
    const key = JSON.stringify([machine, version, around ? state : undefined]);
    if (key === requested) return;
    requested = key;
    if (!around) clear('Drawing …');
    const query = around && state !== undefined ? `?focus=${encodeURIComponent(splitPath(state)[0]!)}` : '';
    const answer = await fetch(`/inspector/machines/${encodeURIComponent(machine)}.svg${query}`).catch(() => undefined);
    const text = answer?.ok ? await answer.text() : undefined;
    if (key !== requested) return;
    const svg = text === undefined ? undefined : parseSvg(text);
    if (!svg || !answer) {
      requested = '';
      return clear('This machine cannot be loaded now. Its sessions are shown all the same.');
    }
    const [states, shown] = ['x-states', 'x-shown'].map((name) => answer.headers.get(name) ?? '');
    const isPart = states !== shown;
    part.textContent = isPart ? `${shown} of ${states} states, around ${answer.headers.get('x-focus')}` : '';
    const natural = (name: string) => Number(svg.getAttribute(name));
    loaded = { key, svg, marks: readMarks(svg), width: natural('width'), height: natural('height'), isPart };
    box.replaceChildren(svg);
    buttons.name(svg);
    resize();
    if (wanted) mark(wanted);
  }

  function clear(words: string): void {
    loaded = undefined;
    part.textContent = '';
    box.textContent = words;
  }

  function resize(): void {
    if (!loaded) return;
    const room = (all: number, needed: number) => (all - 24) / needed;
    const whole = Math.min(room(box.clientWidth, loaded.width), room(box.clientHeight, loaded.height), SCALE.fitted);
    const scale = typeof size === 'number' ? size : size === 'whole' ? whole : Math.max(whole, SCALE.readable);
    loaded.svg.setAttribute('width', String(Math.round(loaded.width * scale)));
    loaded.svg.setAttribute('height', String(Math.round(loaded.height * scale)));
    findElement('fit').setAttribute('aria-pressed', String(size === 'whole'));
    const active = loaded.svg.querySelector('.state.active') ?? loaded.svg.querySelector('.state.start');
    if (active) bringIntoView(box, active, 'auto');
  }

  function mark({ state, edges, heat, ...picture }: Picture): void {
    if (!loaded) return;
    const { svg, marks } = loaded;
    const marked = new Set(edges.flatMap((edge) => marks.find(edge)));
    for (const old of svg.querySelectorAll('.taken')) if (!marked.has(old)) old.classList.remove('taken');
    for (const way of marked) way.classList.add('taken');
    const paths = state === undefined ? [] : splitPath(state);
    const all = paths.map((path) => svg.querySelector<SVGGElement>(`.state[data-state="${CSS.escape(path)}"]`));
    for (const old of svg.querySelectorAll<SVGGElement>('.state.active'))
      if (!all.includes(old)) old.classList.remove('active');
    const entered = all.filter((one) => one && !one.classList.contains('active'));
    for (const one of all) one?.classList.add('active');
    const [active] = entered;
    if (active) {
      if (!box.contains(document.activeElement)) buttons.offer(active);
      bringIntoView(box, active, REDUCED_MOTION.matches ? 'auto' : 'smooth');
    }
    if (all.some((one) => !one) && state !== undefined && loaded.isPart)
      void draw({ state, edges, heat, ...picture }, true);
    markHeat(marks, heat);
  }

  addEventListener('resize', resize);
  return {
    show(picture: Picture): void {
      wanted = picture;
      const isDrawn =
        loaded && JSON.parse(loaded.key)[0] === picture.machine && JSON.parse(loaded.key)[1] === picture.version;
      if (isDrawn) mark(picture);
      else void draw(picture, false);
    },
    zoom(by: number): void {
      if (!loaded) return;
      const now = Number(loaded.svg.getAttribute('width')) / loaded.width;
      size = Math.min(SCALE.most, Math.max(SCALE.least, now * by));
      resize();
    },
    fit(): void {
      size = size === 'whole' ? 'readable' : 'whole';
      resize();
    },
  };
}

/** Parses SVG; undefined for any other text. */
export function parseSvg(text: string): SVGSVGElement | undefined {
  const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
  return documentElement instanceof SVGSVGElement
    ? (document.importNode(documentElement, true) as SVGSVGElement)
    : undefined;
}

/** Marks how often each arrow was taken, in five steps relative to the maximum. */
function markHeat(marks: EdgeMarks, events: readonly TraceEvent[] | undefined): void {
  const counts = new Map<Element, number>();
  for (const edge of (events ?? []).flatMap(({ edges }) => edges))
    for (const way of marks.find(edge)) counts.set(way, (counts.get(way) ?? 0) + 1);
  const most = Math.max(1, ...counts.values());
  for (const arrow of marks.arrows) {
    const count = counts.get(arrow) ?? 0;
    arrow.classList.remove(...HEATS);
    arrow.removeAttribute('data-count');
    if (!events) continue;
    arrow.classList.add(`heat-${Math.ceil((5 * count) / most)}`);
    arrow.setAttribute('data-count', String(count));
  }
}

const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** An arrow of a drawing, or a chip on a card that leads to another state. */
interface DrawnArrow {
  readonly mark: Element;
  readonly from: string;
  readonly to: string;
  readonly events: ReadonlySet<string>;
}

export interface EdgeMarks {
  /** Arrows of an edge: several if it passes transient states, none if they are not drawn. */
  find(edge: Edge): readonly Element[];
  /** All arrows. */
  readonly arrows: readonly Element[];
}

/** Indexes a drawing. */
export function readMarks(svg: Element): EdgeMarks {
  const arrows = [...svg.querySelectorAll('.edge')].map((mark) => readWay(mark, mark.getAttribute('data-from') ?? ''));
  const chips = [...svg.querySelectorAll('.chip[data-to]')].map((mark) =>
    readWay(mark, mark.closest('.state')?.getAttribute('data-state') ?? ''),
  );
  const passing = new Set(
    [...svg.querySelectorAll('.state[data-kind="branch"], .state[data-kind="call"], .state[data-kind="flow"]')].map(
      (state) => state.getAttribute('data-state') ?? '',
    ),
  );
  const contains = containment(arrows);
  const findWay = (event: string, from: string, to: string): readonly Element[] => {
    const leaving = (ways: readonly DrawnArrow[]) => ways.filter((way) => contains(way.from, from));
    const direct = bestMatch(
      leaving([...arrows, ...chips]).filter((way) => contains(way.to, to)),
      event,
    );
    if (direct) return [direct.mark];
    for (const first of leaving(arrows)) {
      const rest = passing.has(first.to) ? findPath(arrows, { from: first.to, to, passing, contains }) : undefined;
      if (rest && (first.events.has(event) || !leaving(arrows).some(({ events }) => events.has(event))))
        return [first.mark, ...rest];
    }
    return [];
  };
  const find = ({ event, from, to }: Edge): readonly Element[] =>
    (from === null ? [] : splitPath(from)).flatMap((left) =>
      splitPath(to).flatMap((entered) => findWay(event, left, entered)),
    );
  return { find, arrows: arrows.map(({ mark }) => mark) };
}

function readWay(mark: Element, from: string): DrawnArrow {
  const events = new Set((mark.getAttribute('data-events') ?? '').split(' '));
  return { mark, from, to: mark.getAttribute('data-to') ?? '', events };
}

type Contains = (outer: string, inner: string) => boolean;

/** Whether a state is the other or around it: an ancestor, or a screen that calls the flow which the other is in. */
function containment(arrows: readonly DrawnArrow[]): Contains {
  const around = new Map<string, ReadonlySet<string>>();
  const find = (inner: string): ReadonlySet<string> => {
    const all = new Set([inner]);
    for (const one of all) {
      const dot = one.replace(/\.$/, '').lastIndexOf('.');
      // The frame of a called flow is named by what its screens begin with.
      if (dot > 0) all.add(one.slice(0, dot)).add(one.slice(0, dot + 1));
      if (one.endsWith('.')) for (const { from, to } of arrows) if (to === one) all.add(from);
    }
    around.set(inner, all);
    return all;
  };
  return (outer, inner) => (around.get(inner) ?? find(inner)).has(outer);
}

function bestMatch(ways: readonly DrawnArrow[], event: string): DrawnArrow | undefined {
  const named = ways.filter(({ events }) => events.has(event));
  const length = ({ from, to }: DrawnArrow) => from.length + to.length;
  return [...(named.length ? named : ways)].sort((a, b) => length(b) - length(a))[0];
}

const STEPS_MAX = 8;

function findPath(
  arrows: readonly DrawnArrow[],
  where: { from: string; to: string; passing: ReadonlySet<string>; contains: Contains; steps?: number },
): readonly Element[] | undefined {
  const { from, to, passing, contains, steps = 0 } = where;
  if (steps > STEPS_MAX) return undefined;
  for (const arrow of arrows.filter((one) => one.from === from)) {
    if (contains(arrow.to, to)) return [arrow.mark];
    const rest = passing.has(arrow.to) ? findPath(arrows, { ...where, from: arrow.to, steps: steps + 1 }) : undefined;
    if (rest) return [arrow.mark, ...rest];
  }
  return undefined;
}
