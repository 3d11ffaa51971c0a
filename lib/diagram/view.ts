// As much of a drawing as can be laid out and read: all of it, one state's surroundings, or one called flow.

import type { Arrow, Chip, DiagramState, Drawing } from './drawing.ts';
import { DIAGRAM_LIMITS } from './limits.ts';

export interface ViewOptions {
  /** The path of a state, or of one that holds others. Unknown: as if none was given. */
  readonly focus?: string | undefined;
  /** `needed`: a drawing that is small enough is shown whole all the same. @default 'needed' */
  readonly narrow?: 'needed' | 'always';
}

export interface DrawingView {
  readonly drawing: Drawing;
  /** The state around which this is, when something was left out. */
  readonly focus?: string;
}

/** States that are at most this many arrows away are shown. */
const HOPS = 2;

/**
 * The drawing itself when it has at most DIAGRAM_LIMITS.drawnStates states and DIAGRAM_LIMITS.drawnArrows arrows. Else, or when asked to:
 * what a state with others inside holds, or everything within two arrows of a state, the nearest first, up to
 * DIAGRAM_LIMITS.nearStates and DIAGRAM_LIMITS.nearArrows. Without a focus that is the start.
 */
export function makeView(drawing: Drawing, { focus, narrow = 'needed' }: ViewOptions = {}): DrawingView {
  const isLarge =
    drawing.states.length > DIAGRAM_LIMITS.drawnStates || drawing.arrows.length > DIAGRAM_LIMITS.drawnArrows;
  const known = drawing.states.some(({ id }) => id === focus) ? focus : undefined;
  if (!isLarge && (narrow === 'needed' || known === undefined)) return { drawing };
  const centre = known ?? findFirst(drawing);
  if (centre === undefined) return { drawing };
  const held = drawing.states.filter(({ id }) => id.startsWith(`${centre}.`));
  const isWhole = held.length > 0 && held.length < DIAGRAM_LIMITS.drawnStates;
  const around = isWhole ? [centre, ...held.map(({ id }) => id)] : nearest(drawing, centre);
  return { drawing: keepStates(drawing, new Set(around)), focus: centre };
}

function findFirst({ starts, states }: Drawing): string | undefined {
  const [first] = starts;
  return first ?? states[0]?.id;
}

/** What is near a state, the nearest first; states that hold one come with it. */
function nearest(drawing: Drawing, centre: string): string[] {
  const near = neighbours(drawing);
  const found = new Set<string>();
  // What finds no room once finds none later.
  const refused = new Set<string>();
  let arrows = 0;
  const take = (id: string): boolean => {
    if (found.has(id) || refused.has(id)) return false;
    const before = [...found];
    let added = 0;
    for (const one of withParents(id).filter((holder) => !found.has(holder))) {
      found.add(one);
      added += (near.get(one) ?? []).filter((other) => found.has(other)).length;
    }
    if (found.size <= DIAGRAM_LIMITS.nearStates && arrows + added <= DIAGRAM_LIMITS.nearArrows) {
      arrows += added;
      return true;
    }
    for (const one of withParents(id)) if (!before.includes(one)) found.delete(one);
    refused.add(id);
    return false;
  };
  take(centre);
  let edge = [centre];
  for (let hop = 0; hop < HOPS; hop++) edge = edge.flatMap((id) => (near.get(id) ?? []).filter(take));
  return [...found];
}

/** `a.b.c` → `a`, `a.b`, `a.b.c` */
function withParents(id: string): string[] {
  const parts = id.split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
}

// Both ways, each arrow once for each of its ends; what stands in a state is a neighbour of it.
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

function keepStates(drawing: Drawing, shown: ReadonlySet<string>): Drawing {
  const isShown = ({ from, to }: Arrow) => shown.has(from) && shown.has(to);
  const hidden = new Map<string, number>();
  for (const arrow of drawing.arrows)
    if (!isShown(arrow))
      for (const id of [arrow.from, arrow.to]) if (shown.has(id)) hidden.set(id, (hidden.get(id) ?? 0) + 1);
  const withHidden = (state: DiagramState): DiagramState => {
    const count = hidden.get(state.id);
    if (count === undefined) return state;
    const chip: Chip = { sign: 'hidden', text: `${count} not shown` };
    return { ...state, chips: [...state.chips, chip] };
  };
  return {
    ...drawing,
    states: drawing.states.filter(({ id }) => shown.has(id)).map(withHidden),
    arrows: drawing.arrows.filter(isShown),
    starts: new Set([...drawing.starts].filter((id) => shown.has(id))),
  };
}
