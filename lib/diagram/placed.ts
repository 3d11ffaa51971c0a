// A drawing with a place for everything in it. All lengths are pixels from the top left corner.

import type { Drawing } from './drawing.ts';

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
