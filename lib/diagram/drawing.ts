// The contents of a diagram before layout (states with text, and arrows), and the types of a diagram after layout.

import type { ScreenType } from '../flow/format/flow.ts';

/** The screens of flows, and `state` for what is not one of them. */
export type StateKind = ScreenType | 'state';

/** What a chip tells in place of an arrow: a key, a failure, a service, a timer, pages, what is left out. */
export type ChipSign = 'back' | 'home' | 'exit' | 'error' | 'service' | 'time' | 'more' | 'hidden';

export interface Chip {
  readonly sign: ChipSign;
  readonly text: string;
  /** The state that it leads to, when that is one. */
  readonly to?: string;
  /** The events that take it there, as the machine knows them. */
  readonly events?: readonly string[];
}

export interface DiagramState {
  /** Its path: `pin`, or `login.pin` inside the state `login`. */
  readonly id: string;
  readonly kind: StateKind;
  readonly title: string;
  /** Under the title, each in one line. */
  readonly lines: readonly string[];
  readonly chips: readonly Chip[];
  /** The state around it, when it stands in one: a called flow, a compound state. */
  readonly parent?: string;
}

/** One transition of those that an arrow stands for. */
export interface DrawnTransition {
  /** As the machine knows it: `opt.login`, `xstate.done.actor.verifyPin`; `always` when it needs none. */
  readonly event: string;
  /** In a few words. */
  readonly label: string;
  /** Under which condition, in full. */
  readonly guard?: string;
  /** The name that the coverage of flow tests gives it: `pin.to`, `menu.option`. */
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
  /** Each after the one that it stands in. */
  readonly states: readonly DiagramState[];
  /** One for each pair of states and direction. */
  readonly arrows: readonly Arrow[];
  /** The states that the machine begins in, and those that its compound states do. */
  readonly starts: ReadonlySet<string>;
}

/** A transition that has not been merged with others yet. */
export interface SingleTransition extends DrawnTransition {
  readonly from: string;
  readonly to: string;
}

/** Steps between the same two states as one arrow, in the order of the first of each. */
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

/** `from→to`, the name of an arrow. */
export function arrowKey({ from, to }: { readonly from: string; readonly to: string }): string {
  return `${from}→${to}`;
}

/** `text` in at most `most` characters, on one line; what was cut shows as `…`. */
export function cutLine(text: string, most: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}

/** The states inside each state that has some; those of the machine itself under `undefined`. */
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
  /** From its state to its head, at least two points. */
  readonly points: readonly Point[];
  readonly label: Box;
}

export interface Placed {
  readonly drawing: Drawing;
  readonly width: number;
  readonly height: number;
  /** By the path of the state. */
  readonly boxes: ReadonlyMap<string, Box>;
  /** In the order of the drawing's arrows. */
  readonly arrows: readonly PlacedArrow[];
}
