// Keyboard access to the states of a drawing: one is a tab stop, arrow keys move between them, Enter and Space open one.

export interface StateButtons {
  /** Description of the action for screen readers. */
  readonly says: string;
  /** Called with the path of the opened state. */
  readonly onOpen: (state: string) => void;
}

/** Makes buttons of the states in a box. */
export function stateButtons(box: HTMLElement, { says, onOpen }: StateButtons) {
  const find = (target: EventTarget | null) => (target as Element).closest<SVGGElement>('.state');
  const open = (state: SVGGElement) => onOpen(state.getAttribute('data-state')!);
  box.addEventListener('click', ({ target }) => {
    const state = find(target);
    if (state) open(state);
  });
  box.addEventListener('keydown', (event) => {
    const state = find(event.target);
    if (!state || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = findNext(state, event.key);
    if (next) focus(next);
    else if (event.key === 'Enter' || event.key === ' ') open(state);
    else return;
    event.preventDefault();
  });

  // Only one state is a tab stop.
  function offer(chosen: SVGGElement | null): void {
    for (const state of box.querySelectorAll('.state')) state.setAttribute('tabindex', state === chosen ? '0' : '-1');
  }

  function focus(state: SVGGElement): void {
    offer(state);
    state.focus({ preventScroll: true });
    bringIntoView(box, state, 'auto');
  }

  return {
    offer,
    /** Labels the states of a new drawing; its start is the tab stop. */
    name(drawn: SVGSVGElement): void {
      // Children of role=img have no accessible names.
      drawn.setAttribute('role', 'group');
      for (const state of drawn.querySelectorAll('.state')) {
        state.setAttribute('role', 'button');
        // Named by its text.
        state.setAttribute('aria-description', says);
      }
      offer(drawn.querySelector<SVGGElement>('.state.start') ?? drawn.querySelector<SVGGElement>('.state'));
    },
  };
}

/** Scrolls a box to show an element. */
export function bringIntoView(box: HTMLElement, active: Element, behavior: ScrollBehavior): void {
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

const DIRECTIONS: { readonly [key: string]: readonly [x: number, y: number] } = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/**
 * The next state in the direction of an arrow key: the nearest of those connected by an arrow, else of all. Distance across the
 * direction counts twice.
 */
function findNext(from: SVGGElement, key: string): SVGGElement | undefined {
  const direction = DIRECTIONS[key];
  const drawn = from.ownerSVGElement;
  if (!direction || !drawn) return undefined;
  const near = listNeighbours(drawn, from.getAttribute('data-state') ?? '');
  const all = [...drawn.querySelectorAll<SVGGElement>('.state')];
  const isNear = (state: SVGGElement) => near.has(state.getAttribute('data-state') ?? '');
  return findNearest(from, all.filter(isNear), direction) ?? findNearest(from, all, direction);
}

function listNeighbours(drawn: SVGSVGElement, state: string): ReadonlySet<string> {
  const ways = [...drawn.querySelectorAll('.edge')].map((way) => [
    way.getAttribute('data-from') ?? '',
    way.getAttribute('data-to') ?? '',
  ]);
  return new Set(ways.filter((ends) => ends.includes(state)).flat());
}

function findNearest(
  from: SVGGElement,
  states: readonly SVGGElement[],
  [right, down]: readonly [x: number, y: number],
): SVGGElement | undefined {
  const [x, y] = findMiddle(from);
  let best: SVGGElement | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const state of states) {
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
