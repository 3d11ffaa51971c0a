// The drawing of a machine: fetched once, then only its marks change: where a session is, what it took, how often.

import { found } from '../element.ts';
import type { Edge, Moment } from './store.ts';

/** What the drawing is to show. */
export interface Picture {
  readonly machine: string;
  readonly version: number;
  /** The path of the state that is active. */
  readonly state: string | undefined;
  /** What led there. */
  readonly edges: Moment['edges'];
  /** All that was seen of the machine, for the heat. */
  readonly heat: readonly Moment[] | undefined;
}

interface Drawn {
  readonly key: string;
  readonly svg: SVGSVGElement;
  readonly ways: Ways;
  readonly width: number;
  readonly height: number;
  readonly isPart: boolean;
}

export interface DrawingView {
  show(picture: Picture): void;
  zoom(by: number): void;
  fit(): void;
}

const HEATS = ['heat-0', 'heat-1', 'heat-2', 'heat-3', 'heat-4', 'heat-5'];
const SCALE = { least: 0.25, most: 3, fitted: 1.25, readable: 0.85 };

export function drawingView(): DrawingView {
  const box = found('drawing');
  const part = found('part-shown');
  let drawn: Drawn | undefined;
  let asked = '';
  let wanted: Picture | undefined;
  let size: 'readable' | 'whole' | number = 'readable';

  async function draw({ machine, version, state }: Picture, around: boolean): Promise<void> {
    const key = JSON.stringify([machine, version, around ? state : undefined]);
    if (key === asked) return;
    asked = key;
    if (!around) clear('Drawing …');
    const query = around && state !== undefined ? `?focus=${encodeURIComponent(state)}` : '';
    const answer = await fetch(`/inspector/machines/${encodeURIComponent(machine)}.svg${query}`).catch(() => undefined);
    const text = answer?.ok ? await answer.text() : undefined;
    if (key !== asked) return;
    const svg = text === undefined ? undefined : parsed(text);
    if (!svg || !answer) {
      asked = '';
      return clear('This machine cannot be drawn now. Its sessions are shown all the same.');
    }
    const [states, shown] = ['x-states', 'x-shown'].map((name) => answer.headers.get(name) ?? '');
    const isPart = states !== shown;
    part.textContent = isPart ? `${shown} of ${states} states, around ${answer.headers.get('x-focus')}` : '';
    const natural = (name: string) => Number(svg.getAttribute(name));
    drawn = { key, svg, ways: waysOf(svg), width: natural('width'), height: natural('height'), isPart };
    box.replaceChildren(svg);
    resize();
    if (wanted) mark(wanted);
  }

  function clear(words: string): void {
    drawn = undefined;
    part.textContent = '';
    box.textContent = words;
  }

  function resize(): void {
    if (!drawn) return;
    const room = (all: number, needed: number) => (all - 24) / needed;
    const whole = Math.min(room(box.clientWidth, drawn.width), room(box.clientHeight, drawn.height), SCALE.fitted);
    const scale = typeof size === 'number' ? size : size === 'whole' ? whole : Math.max(whole, SCALE.readable);
    drawn.svg.setAttribute('width', String(Math.round(drawn.width * scale)));
    drawn.svg.setAttribute('height', String(Math.round(drawn.height * scale)));
    found('fit').setAttribute('aria-pressed', String(size === 'whole'));
    const active = drawn.svg.querySelector('.state.active') ?? drawn.svg.querySelector('.state.start');
    if (active) inSight(box, active, 'auto');
  }

  function mark({ state, edges, heat, ...picture }: Picture): void {
    if (!drawn) return;
    const { svg, ways } = drawn;
    const marked = new Set(edges.flatMap((edge) => ways.of(edge)));
    for (const old of svg.querySelectorAll('.taken')) if (!marked.has(old)) old.classList.remove('taken');
    for (const way of marked) way.classList.add('taken');
    const active = state === undefined ? null : svg.querySelector(`.state[data-state="${CSS.escape(state)}"]`);
    for (const old of svg.querySelectorAll('.state.active')) if (old !== active) old.classList.remove('active');
    if (active && !active.classList.contains('active')) {
      active.classList.add('active');
      inSight(box, active, STILL.matches ? 'auto' : 'smooth');
    }
    if (!active && state !== undefined && drawn.isPart) void draw({ state, edges, heat, ...picture }, true);
    warm(ways, heat);
  }

  addEventListener('resize', resize);
  return {
    show(picture) {
      wanted = picture;
      const isDrawn =
        drawn && JSON.parse(drawn.key)[0] === picture.machine && JSON.parse(drawn.key)[1] === picture.version;
      if (isDrawn) mark(picture);
      else void draw(picture, false);
    },
    zoom(by) {
      if (!drawn) return;
      const now = Number(drawn.svg.getAttribute('width')) / drawn.width;
      size = Math.min(SCALE.most, Math.max(SCALE.least, now * by));
      resize();
    },
    fit() {
      size = size === 'whole' ? 'readable' : 'whole';
      resize();
    },
  };
}

function parsed(text: string): SVGSVGElement | undefined {
  const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
  return documentElement instanceof SVGSVGElement
    ? (document.importNode(documentElement, true) as SVGSVGElement)
    : undefined;
}

/** How often each way was taken, in five steps of the one that was taken most. */
function warm(ways: Ways, moments: readonly Moment[] | undefined): void {
  const counts = new Map<Element, number>();
  for (const edge of (moments ?? []).flatMap(({ edges }) => edges))
    for (const way of ways.of(edge)) counts.set(way, (counts.get(way) ?? 0) + 1);
  const most = Math.max(1, ...counts.values());
  for (const arrow of ways.arrows) {
    const count = counts.get(arrow) ?? 0;
    arrow.classList.remove(...HEATS);
    arrow.removeAttribute('data-count');
    if (!moments) continue;
    arrow.classList.add(`heat-${Math.ceil((5 * count) / most)}`);
    arrow.setAttribute('data-count', String(count));
  }
}

const STILL = matchMedia('(prefers-reduced-motion: reduce)');

function inSight(box: HTMLElement, active: Element, behavior: ScrollBehavior): void {
  const outer = box.getBoundingClientRect();
  const inner = active.getBoundingClientRect();
  const isIn =
    inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right;
  if (isIn) return;
  box.scrollBy({
    left: inner.left + inner.width / 2 - outer.left - outer.width / 2,
    top: inner.top + inner.height / 2 - outer.top - outer.height / 2,
    behavior,
  });
}

/** One arrow of a drawing, or one of the words on a card that lead somewhere. */
interface Way {
  readonly mark: Element;
  readonly from: string;
  readonly to: string;
  readonly events: ReadonlySet<string>;
}

export interface Ways {
  /** What stands for an edge; several when it leads over states that nobody stays in; none when it is not drawn. */
  of(edge: Edge): readonly Element[];
  /** All arrows. */
  readonly arrows: readonly Element[];
}

/** Reads a drawing. */
export function waysOf(svg: Element): Ways {
  const arrows = [...svg.querySelectorAll('.edge')].map((mark) => wayOf(mark, mark.getAttribute('data-from') ?? ''));
  const chips = [...svg.querySelectorAll('.chip[data-to]')].map((mark) =>
    wayOf(mark, mark.closest('.state')?.getAttribute('data-state') ?? ''),
  );
  const passing = new Set(
    [...svg.querySelectorAll('.state[data-kind="branch"], .state[data-kind="call"], .state[data-kind="flow"]')].map(
      (state) => state.getAttribute('data-state') ?? '',
    ),
  );
  const of = ({ event, from, to }: Edge): readonly Element[] => {
    if (from === null) return [];
    const leaving = (ways: readonly Way[]) => ways.filter((way) => holds(way.from, from));
    const direct = best(
      leaving([...arrows, ...chips]).filter((way) => holds(way.to, to)),
      event,
    );
    if (direct) return [direct.mark];
    for (const first of leaving(arrows)) {
      const rest = passing.has(first.to) ? through(arrows, { from: first.to, to, passing }) : undefined;
      if (rest && (first.events.has(event) || !leaving(arrows).some(({ events }) => events.has(event))))
        return [first.mark, ...rest];
    }
    return [];
  };
  return { of, arrows: arrows.map(({ mark }) => mark) };
}

function wayOf(mark: Element, from: string): Way {
  const events = new Set((mark.getAttribute('data-events') ?? '').split(' '));
  return { mark, from, to: mark.getAttribute('data-to') ?? '', events };
}

// A state, or one that it stands in.
const holds = (outer: string, inner: string) => inner === outer || inner.startsWith(`${outer}.`);

function best(ways: readonly Way[], event: string): Way | undefined {
  const named = ways.filter(({ events }) => events.has(event));
  const length = ({ from, to }: Way) => from.length + to.length;
  return [...(named.length ? named : ways)].sort((a, b) => length(b) - length(a))[0];
}

const STEPS_MAX = 8;

function through(
  arrows: readonly Way[],
  { from, to, passing, steps = 0 }: { from: string; to: string; passing: ReadonlySet<string>; steps?: number },
): readonly Element[] | undefined {
  if (steps > STEPS_MAX) return undefined;
  for (const arrow of arrows.filter((one) => one.from === from)) {
    if (holds(arrow.to, to)) return [arrow.mark];
    const rest = passing.has(arrow.to) ? through(arrows, { from: arrow.to, to, passing, steps: steps + 1 }) : undefined;
    if (rest) return [arrow.mark, ...rest];
  }
  return undefined;
}
