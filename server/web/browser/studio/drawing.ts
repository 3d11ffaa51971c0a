// The drawing of the draft beside its text: a click on a state leads to the text, keys do the same, and the state of the cursor is marked.

import { findElement } from '../element.ts';
import { bringIntoView, parseSvg } from '../inspector/drawing.ts';
import { post, Refused } from './requests.ts';

export interface DrawnFlow {
  readonly flow: string;
  readonly text: string;
}

export interface DrawingPart {
  /** Draws a draft without errors; one that cannot be drawn leaves the drawing as it was, and says so. */
  draw(draft: DrawnFlow): Promise<void>;
  /** Says that the drawing is older than the text. */
  outdate(): void;
  /** Marks the state of a screen. */
  mark(screen: string | undefined): void;
}

const STEP = 1.25;
const SCALES = { least: 0.3, most: 2.5 };
/** Of a drawing that takes longer it is said that it is made. */
const QUICK_MS = 300;

export function drawingPart({ onPick }: { readonly onPick: (screen: string) => void }): DrawingPart {
  const box = findElement('picture');
  const words = findElement('drawn');
  let svg: SVGSVGElement | undefined;
  let natural = 0;
  let scale = 0.85;
  let marked: string | undefined;
  let asked = 0;
  let last: DrawnFlow | undefined;
  let isPart = false;

  const resize = () => svg?.setAttribute('width', String(Math.round(natural * scale)));
  const zoom = (by: number) => {
    scale = Math.min(SCALES.most, Math.max(SCALES.least, scale * by));
    resize();
  };
  findElement('smaller').addEventListener('click', () => zoom(1 / STEP));
  findElement('larger').addEventListener('click', () => zoom(STEP));
  box.addEventListener('click', ({ target }) => {
    const state = (target as Element).closest('.state')?.getAttribute('data-state');
    if (state) onPick(state.split('.')[0]!);
  });
  box.addEventListener('keydown', (event) => {
    const state = (event.target as Element).closest<SVGGElement>('.state');
    if (!state || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = findNext(state, event.key);
    if (next) focusState(next);
    else if (event.key === 'Enter' || event.key === ' ') onPick(state.getAttribute('data-state')!.split('.')[0]!);
    else return;
    event.preventDefault();
  });

  function focusState(state: SVGGElement): void {
    offerState(state);
    state.focus({ preventScroll: true });
    bringIntoView(box, state, 'auto');
  }

  // One state of all is a stop of Tab: the marked one, else the start.
  function offerState(chosen: SVGGElement | null): void {
    for (const state of box.querySelectorAll('.state')) state.setAttribute('tabindex', state === chosen ? '0' : '-1');
  }

  function nameStates(drawn: SVGSVGElement): void {
    // What is inside of an image has no names.
    drawn.setAttribute('role', 'group');
    for (const state of drawn.querySelectorAll('.state')) {
      state.setAttribute('role', 'button');
      // Its name is what stands in it.
      state.setAttribute('aria-description', 'Screen: leads to its text');
    }
    offerState(drawn.querySelector<SVGGElement>('.state.start') ?? drawn.querySelector<SVGGElement>('.state'));
  }

  function show(text: string): void {
    const drawn = parseSvg(text);
    if (!drawn) return;
    natural = Number(drawn.getAttribute('width'));
    drawn.removeAttribute('height');
    const isFirst = !svg;
    svg = drawn;
    box.replaceChildren(drawn);
    nameStates(drawn);
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
    offerState(state);
    bringIntoView(box, state, 'auto');
  }

  async function draw(draft: DrawnFlow, focus?: string): Promise<void> {
    const turn = ++asked;
    last = draft;
    const slow = setTimeout(() => {
      if (turn === asked) words.textContent = 'Drawing …';
    }, QUICK_MS);
    try {
      const body = focus === undefined ? draft : { ...draft, focus };
      const drawn = await post<{ svg: string; states: number; shown: number; focus?: string }>('/drawing', body);
      if (turn !== asked) return;
      isPart = drawn.shown < drawn.states;
      words.textContent = isPart ? `${drawn.shown} of ${drawn.states} states, around ${drawn.focus}` : '';
      show(drawn.svg);
    } catch (error) {
      if (turn === asked) words.textContent = error instanceof Refused ? error.message : String(error);
    } finally {
      clearTimeout(slow);
    }
  }

  return {
    draw,
    outdate: () => {
      words.textContent = svg ? 'As it was before the errors.' : 'It is drawn when the errors are mended.';
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

const DIRECTIONS: { readonly [key: string]: readonly [x: number, y: number] } = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** The nearest state in the direction of an arrow key; what lies beside the way counts twice. */
function findNext(from: SVGGElement, key: string): SVGGElement | undefined {
  const direction = DIRECTIONS[key];
  if (!direction) return undefined;
  const [right, down] = direction;
  const [x, y] = findMiddle(from);
  let best: SVGGElement | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const state of from.ownerSVGElement?.querySelectorAll<SVGGElement>('.state') ?? []) {
    const [otherX, otherY] = findMiddle(state);
    const ahead = (otherX - x) * right + (otherY - y) * down;
    const beside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
    const far = ahead + 2 * beside;
    if (ahead < 1 || far >= least) continue;
    best = state;
    least = far;
  }
  return best;
}

function findMiddle(state: SVGGElement): readonly [x: number, y: number] {
  const { left, top, width, height } = state.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}
