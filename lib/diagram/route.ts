// The path of an arrow: right angles with rounded corners, and an arrowhead.

import type { Point } from './drawing.ts';

const RADIUS = 7;
const HEAD = { length: 8, half: 4 };

/** The line, up to the base of the arrowhead. */
export function linePath(points: readonly Point[]): string {
  const line = [...points.slice(0, -1), arrowFoot(points)];
  const parts = [`M${at(line[0]!)}`];
  for (const [index, corner] of line.entries()) {
    if (index === 0) continue;
    const next = line[index + 1];
    if (!next) parts.push(`L${at(corner)}`);
    else {
      const radius = Math.min(RADIUS, distance(line[index - 1]!, corner) / 2, distance(corner, next) / 2);
      parts.push(`L${at(toward(corner, line[index - 1]!, radius))}Q${at(corner)} ${at(toward(corner, next, radius))}`);
    }
  }
  return parts.join('');
}

/** The arrowhead: a triangle with its tip at the last point. */
export function headPath(points: readonly Point[]): string {
  const tip = points.at(-1)!;
  const foot = arrowFoot(points);
  const [dx, dy] = direction(foot, tip);
  const side = (sign: number) => ({ x: foot.x - dy * HEAD.half * sign, y: foot.y + dx * HEAD.half * sign });
  return `M${at(tip)}L${at(side(1))}L${at(side(-1))}Z`;
}

const arrowFoot = (points: readonly Point[]): Point => {
  const [before, tip] = [points.at(-2)!, points.at(-1)!];
  return toward(tip, before, Math.min(HEAD.length, distance(before, tip)));
};

function toward(from: Point, to: Point, length: number): Point {
  const [dx, dy] = direction(from, to);
  return { x: from.x + dx * length, y: from.y + dy * length };
}

function direction(from: Point, to: Point): [number, number] {
  const length = distance(from, to);
  return length === 0 ? [0, 1] : [(to.x - from.x) / length, (to.y - from.y) / length];
}

const distance = (one: Point, other: Point): number => Math.hypot(other.x - one.x, other.y - one.y);

const at = ({ x, y }: Point): string => `${short(x)} ${short(y)}`;

/** Formats a length with at most one decimal place. */
export function short(length: number): string {
  return String(Math.round(length * 10) / 10);
}
