// The contents of a diagram before layout (states and arrows), and the types of a diagram after layout.

import type { ScreenType } from '../flow/format/flow.ts';

/** The screen types of flows, and `state` for anything else. */
export type StateKind = ScreenType | 'state';

/** What a chip shows instead of an arrow: a way by a key, a failure, a service, a timer, pages, other keys, an end, or hidden arrows. */
export type ChipSign = 'back' | 'home' | 'exit' | 'error' | 'service' | 'time' | 'more' | 'key' | 'ends' | 'hidden';

export interface Chip {
  readonly sign: ChipSign;
  readonly text: string;
  /** The target state, if any. */
  readonly to?: string;
  /** The events that lead there, as named by the machine. */
  readonly events?: readonly string[];
}

export interface DiagramState {
  /** Its path: `pin`, or `login.pin` inside the state `login` or the called flow `login`; of the frame of that flow `login.`. */
  readonly id: string;
  readonly kind: StateKind;
  readonly title: string;
  /** Text below the title, one line each. */
  readonly lines: readonly string[];
  readonly chips: readonly Chip[];
  /** The enclosing state, if any: a called flow or a compound state. */
  readonly parent?: string;
}

/** One of the transitions that an arrow represents. */
export interface DrawnTransition {
  /** The machine's name for it: `opt.login`, `xstate.done.actor.verifyPin`; `always` for an eventless transition. */
  readonly event: string;
  /** A short description. */
  readonly label: string;
  /** The guard, in full. */
  readonly guard?: string;
  /** Its name in the coverage of flow tests: `pin.to`, `menu.option`. */
  readonly mark?: string;
  readonly role: 'on' | 'error';
}

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly DrawnTransition[];
}

export interface Drawing {
  /** The name of the flow or machine. */
  readonly id: string;
  readonly title: string;
  /** Parents before their children. */
  readonly states: readonly DiagramState[];
  /** At most one per ordered pair of states. */
  readonly arrows: readonly Arrow[];
  /** The initial states of the machine and of its compound states. */
  readonly starts: ReadonlySet<string>;
}

/** A transition before grouping. */
export interface SingleTransition extends DrawnTransition {
  readonly from: string;
  readonly to: string;
}

/** Groups transitions between the same two states into arrows, in order of first appearance. */
export function groupArrows(steps: readonly SingleTransition[]): Arrow[] {
  const arrows = new Map<string, { from: string; to: string; ways: DrawnTransition[] }>();
  for (const { from, to, ...way } of steps) {
    const key = JSON.stringify([from, to]);
    const arrow = arrows.get(key) ?? { from, to, ways: [] };
    arrow.ways.push(way);
    arrows.set(key, arrow);
  }
  return [...arrows.values()];
}

/** `from→to`, the key of an arrow. */
export function arrowKey({ from, to }: { readonly from: string; readonly to: string }): string {
  return `${from}→${to}`;
}

/** `text` on one line of at most `most` characters; a cut is marked by `…`. */
export function cutLine(text: string, most: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}

/** Child states by parent; top-level states under `undefined`. */
export function groupByParent({ states }: Drawing): ReadonlyMap<string | undefined, readonly DiagramState[]> {
  const children = new Map<string | undefined, DiagramState[]>();
  for (const state of states) {
    const list = children.get(state.parent) ?? [];
    list.push(state);
    children.set(state.parent, list);
  }
  return children;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface PlacedArrow {
  /** From the source state to the arrowhead, at least two points. */
  readonly points: readonly Point[];
  readonly label: Box;
}

export interface Placed {
  readonly drawing: Drawing;
  readonly width: number;
  readonly height: number;
  /** By state path. */
  readonly boxes: ReadonlyMap<string, Box>;
  /** In the order of the drawing's arrows. */
  readonly arrows: readonly PlacedArrow[];
}
