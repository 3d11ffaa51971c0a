// States of a drawing as buttons: one of them is a stop of Tab, arrow keys lead from one to the next, Enter and Space open one.

export interface StateButtons {
  /** What a button does, for those who hear the page. */
  readonly says: string;
  /** Called with the path of the state that is opened. */
  readonly onOpen: (state: string) => void;
}

/** Makes the states of the drawings in a box buttons. */
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

  // One state of all is a stop of Tab.
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
    /** Of a drawing that has come into the box; Tab leads to its start. */
    name(drawn: SVGSVGElement): void {
      // What is inside of an image has no names.
      drawn.setAttribute('role', 'group');
      for (const state of drawn.querySelectorAll('.state')) {
        state.setAttribute('role', 'button');
        // Its name is what stands in it.
        state.setAttribute('aria-description', says);
      }
      offer(drawn.querySelector<SVGGElement>('.state.start') ?? drawn.querySelector<SVGGElement>('.state'));
    },
  };
}

/** Scrolls a box until an element in it is seen. */
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
 * The next state in the direction of an arrow key: of those that a way leads to or comes from, else of all, the nearest one, where
 * what lies beside the direction counts twice.
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
