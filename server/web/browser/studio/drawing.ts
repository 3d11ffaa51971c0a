// The drawing of the draft. Opening a state leads to its text, and the state at the cursor is marked.

import { bringIntoView, stateButtons } from '../drawn-states.ts';
import { findElement } from '../element.ts';
import { parseSvg } from '../inspector/drawing.ts';
import { post, Refused } from './requests.ts';

export interface DrawnFlow {
  readonly flow: string;
  readonly text: string;
}

export interface DrawingPart {
  /** Draws a draft without errors. On failure the drawing stays, with a message. */
  draw(draft: DrawnFlow): Promise<void>;
  /** Shows that the drawing is outdated. */
  outdate(): void;
  /** Marks the state of a screen. */
  mark(screen: string | undefined): void;
}

const STEP = 1.25;
const SCALES = { least: 0.3, most: 2.5 };
/** Drawings that take longer show a progress message. */
const QUICK_MS = 300;

export interface DrawingOptions {
  readonly onPick: (screen: string) => void;
  /** A flow was drawn anew. */
  readonly onDrawn: (drawn: SVGSVGElement, flow: string) => void;
}

export function drawingPart({ onPick, onDrawn }: DrawingOptions): DrawingPart {
  const box = findElement('picture');
  const words = findElement('drawn');
  let svg: SVGSVGElement | undefined;
  let natural = 0;
  let marked: string | undefined;
  let lastRequest = 0;
  let last: DrawnFlow | undefined;
  let isPart = false;

  const zoom = zoomButtons(() => resize());
  const resize = () => svg?.setAttribute('width', String(Math.round(natural * zoom.scale)));
  const states = stateButtons(box, {
    says: 'Screen: opens its form',
    onOpen: (state) => onPick(findOwnScreen(box, state)),
  });

  function show(text: string): void {
    const drawn = parseSvg(text);
    if (!drawn) return;
    natural = Number(drawn.getAttribute('width'));
    drawn.removeAttribute('height');
    const isFirst = !svg;
    svg = drawn;
    box.replaceChildren(drawn);
    onDrawn(drawn, last?.flow ?? '');
    states.name(drawn);
    resize();
    apply();
    const start = isFirst && drawn.querySelector('.state.start');
    if (start) bringIntoView(box, start, 'auto');
  }

  function apply(): void {
    for (const old of box.querySelectorAll('.state.active')) old.classList.remove('active');
    const state = marked ? box.querySelector<SVGGElement>(`.state[data-state="${CSS.escape(marked)}"]`) : null;
    if (!state) return;
    state.classList.add('active');
    states.offer(state);
    bringIntoView(box, state, 'auto');
  }

  async function draw(draft: DrawnFlow, focus?: string): Promise<void> {
    const request = ++lastRequest;
    last = draft;
    const slow = setTimeout(() => {
      if (request === lastRequest) words.textContent = 'Drawing …';
    }, QUICK_MS);
    try {
      const body = focus === undefined ? draft : { ...draft, focus };
      const result = await post<{ svg: string; states: number; shown: number; focus?: string }>('/drawing', body);
      if (request !== lastRequest) return;
      isPart = result.shown < result.states;
      words.textContent = isPart ? `${result.shown} of ${result.states} states, around ${result.focus}` : '';
      show(result.svg);
    } catch (error) {
      if (request === lastRequest) words.textContent = error instanceof Refused ? error.message : String(error);
    } finally {
      clearTimeout(slow);
    }
  }

  return {
    draw,
    outdate: () => {
      words.textContent = svg ? 'As before the errors.' : 'Fix the errors to see the drawing.';
    },
    mark(screen) {
      if (screen === marked) return;
      marked = screen;
      apply();
      const isMissing = screen !== undefined && !box.querySelector(`.state[data-state="${CSS.escape(screen)}"]`);
      if (isPart && isMissing && last) void draw(last, screen);
    },
  };
}

// The text of the draft has the screen that calls a flow, not those of the flow.
function findOwnScreen(box: Element, state: string): string {
  const frame = state.slice(0, state.indexOf('.') + 1);
  const call = frame && box.querySelector(`.edge[data-to="${CSS.escape(frame)}"]`);
  return call ? findOwnScreen(box, call.getAttribute('data-from')!) : state;
}

/** Starts the zoom buttons and holds their scale. */
function zoomButtons(onZoom: () => void): { readonly scale: number } {
  const zoom = { scale: 0.85 };
  const change = (by: number) => {
    zoom.scale = Math.min(SCALES.most, Math.max(SCALES.least, zoom.scale * by));
    onZoom();
  };
  findElement('smaller').addEventListener('click', () => change(1 / STEP));
  findElement('larger').addEventListener('click', () => change(STEP));
  return zoom;
}
