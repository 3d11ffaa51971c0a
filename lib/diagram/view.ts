// A readable part of a drawing: all of it, the surroundings of one state, or one called flow.

import type { Arrow, Chip, DiagramState, Drawing } from './drawing.ts';
import { DIAGRAM_LIMITS } from './limits.ts';

export interface ViewOptions {
  /** The path of a state or container; an unknown path is ignored. */
  readonly focus?: string | undefined;
  /** `needed`: a drawing that is small enough is always shown whole. @default 'needed' */
  readonly narrow?: 'needed' | 'always';
}

export interface DrawingView {
  readonly drawing: Drawing;
  /** The state at the centre, when something was left out. */
  readonly focus?: string;
}

/** Distance from the centre, in arrows. */
const HOPS = 2;

/**
 * Returns the whole drawing if it has at most DIAGRAM_LIMITS.drawnStates states and DIAGRAM_LIMITS.drawnArrows arrows.
 * Otherwise, or if `narrow` is 'always': the content of the focused container, or the states within two arrows of the focus,
 * nearest first, up to DIAGRAM_LIMITS.nearStates and DIAGRAM_LIMITS.nearArrows. The default focus is the initial state.
 */
export function makeView(drawing: Drawing, { focus, narrow = 'needed' }: ViewOptions = {}): DrawingView {
  const isLarge =
    drawing.states.length > DIAGRAM_LIMITS.drawnStates || drawing.arrows.length > DIAGRAM_LIMITS.drawnArrows;
  const focusState = drawing.states.some(({ id }) => id === focus) ? focus : undefined;
  if (!isLarge && (narrow === 'needed' || focusState === undefined)) return { drawing };
  const centre = focusState ?? findFirst(drawing);
  if (centre === undefined) return { drawing };
  const parents = findParents(drawing);
  const inner = drawing.states.filter(({ id }) => id !== centre && withParents(id, parents).includes(centre));
  const isWhole = inner.length > 0 && inner.length < DIAGRAM_LIMITS.drawnStates;
  const around = isWhole ? [centre, ...inner.map(({ id }) => id)] : nearest(drawing, centre, parents);
  return { drawing: keepStates(drawing, new Set(around)), focus: centre };
}

function findFirst({ starts, states }: Drawing): string | undefined {
  const [first] = starts;
  return first ?? states[0]?.id;
}

/** The states near `centre`, nearest first, each with its parents. */
function nearest(drawing: Drawing, centre: string, parents: Parents): string[] {
  const near = neighbours(drawing);
  const nearStates = new Set<string>();
  // A state that did not fit once never fits later.
  const refused = new Set<string>();
  let arrows = 0;
  const take = (id: string): boolean => {
    if (nearStates.has(id) || refused.has(id)) return false;
    const before = [...nearStates];
    let added = 0;
    for (const one of withParents(id, parents).filter((holder) => !nearStates.has(holder))) {
      nearStates.add(one);
      added += (near.get(one) ?? []).filter((other) => nearStates.has(other)).length;
    }
    if (nearStates.size <= DIAGRAM_LIMITS.nearStates && arrows + added <= DIAGRAM_LIMITS.nearArrows) {
      arrows += added;
      return true;
    }
    for (const one of withParents(id, parents)) if (!before.includes(one)) nearStates.delete(one);
    refused.add(id);
    return false;
  };
  take(centre);
  let edge = [centre];
  for (let hop = 0; hop < HOPS; hop++) edge = edge.flatMap((id) => (near.get(id) ?? []).filter(take));
  return [...nearStates];
}

type Parents = ReadonlyMap<string, string | undefined>;

const findParents = ({ states }: Drawing): Parents => new Map(states.map(({ id, parent }) => [id, parent]));

/** The states around a state, outermost first, and itself. */
function withParents(id: string, parents: Parents): string[] {
  const parent = parents.get(id);
  return parent === undefined ? [id] : [...withParents(parent, parents), id];
}

// In both directions, each arrow counted at each of its ends. An initial state is a neighbour of its parent.
function neighbours({ states, arrows, starts }: Drawing): Map<string, string[]> {
  const near = new Map<string, string[]>(states.map(({ id }) => [id, []]));
  const join = (one: string, other: string): void => {
    near.get(one)?.push(other);
    if (one !== other) near.get(other)?.push(one);
  };
  for (const { from, to } of arrows) join(from, to);
  for (const { id, parent } of states) if (parent !== undefined && starts.has(id)) join(parent, id);
  return near;
}

function keepStates(drawing: Drawing, visible: ReadonlySet<string>): Drawing {
  const isShown = ({ from, to }: Arrow) => visible.has(from) && visible.has(to);
  const hidden = new Map<string, number>();
  for (const arrow of drawing.arrows)
    if (!isShown(arrow))
      for (const id of [arrow.from, arrow.to]) if (visible.has(id)) hidden.set(id, (hidden.get(id) ?? 0) + 1);
  const withHidden = (state: DiagramState): DiagramState => {
    const count = hidden.get(state.id);
    if (count === undefined) return state;
    const chip: Chip = { sign: 'hidden', text: `${count} not shown` };
    return { ...state, chips: [...state.chips, chip] };
  };
  return {
    ...drawing,
    states: drawing.states.filter(({ id }) => visible.has(id)).map(withHidden),
    arrows: drawing.arrows.filter(isShown),
    starts: new Set([...drawing.starts].filter((id) => visible.has(id))),
  };
}
