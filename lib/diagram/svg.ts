// Renders a laid-out drawing as SVG: container frames at the bottom, then arrows, then cards; chip icons are paths.
// Arrows are lines with right angles and rounded corners.

import type { Coverage } from '../flow/testing/coverage.ts';
import { markupText, type Markup as Svg, html as svg, trustMarkup } from '../markup.ts';
import { type CardRow, CHIP_INSET, type Label, measureCard, measureLabel, SIZES } from './card.ts';
import {
  type Arrow,
  arrowKey,
  type Box,
  type Chip,
  type ChipSign,
  type DiagramState,
  type Drawing,
  groupByParent,
  type Placed,
  type PlacedArrow,
  type Point,
} from './drawing.ts';
import { DRAWING_STYLE } from './style.ts';

/** Data shown on top of a drawing: arrow counts and test coverage. */
export interface Overlay {
  /** How often each arrow was taken, by {@link arrowKey}; arrows missing here show no count. */
  readonly counts?: ReadonlyMap<string, number>;
  /** Covered states by path, and covered arrows by {@link arrowKey}; if absent, nothing is marked as uncovered. */
  readonly covered?: ReadonlySet<string>;
  readonly taken?: ReadonlySet<string>;
}

export interface SvgOptions extends Overlay {
  /**
   * `standalone`: includes the style, for files. `embedded`: for pages that load `drawing.css` themselves, because a strict
   * CSP refuses inline styles.
   * @default 'standalone'
   */
  readonly dress?: 'standalone' | 'embedded';
}

/** The drawing as a single `<svg>` element. All text is escaped. */
export function renderSvg(placement: Placed, { dress = 'standalone', ...overlay }: SvgOptions = {}): string {
  const { drawing, width, height, boxes } = placement;
  const holders = groupByParent(drawing);
  const size = `${short(width)} ${short(height)}`;
  const most = Math.max(0, ...(overlay.counts?.values() ?? []));
  const containers = drawing.states.filter(({ id }) => holders.has(id));
  const cards = drawing.states.filter(({ id }) => !holders.has(id));
  const label = `${drawing.title}: ${drawing.states.length} states, ${drawing.arrows.length} arrows`;
  return markupText(svg`<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 ${size}" width="${short(width)}" height="${short(height)}" role="img" aria-label="${label}">
<title>${drawing.title}</title>
<desc>${describeDrawing(drawing)}</desc>
${dress === 'standalone' && svg`<style>${trustMarkup(DRAWING_STYLE)}</style>\n`}<rect class="ground" width="100%" height="100%"/>
<g class="frames">
${containers.map((state) => frame(state, { box: boxes.get(state.id)!, drawing, overlay }))}</g>
<g class="edges">
${drawing.arrows.map((arrow, at) => edge(arrow, placement.arrows[at]!, { overlay, most }))}</g>
<g class="states">
${cards.map((state) => card(state, { box: boxes.get(state.id)!, drawing, overlay }))}</g>
</svg>
`);
}

interface StateContext {
  readonly box: Box;
  readonly drawing: Drawing;
  readonly overlay: Overlay;
}

function card(state: DiagramState, where: StateContext): Svg {
  const { width, height } = where.box;
  const { titleY, rows } = measureCard(state);
  const bar = `M${SIZES.bar} 0H${SIZES.radius / 2}Q0 0 0 ${SIZES.radius / 2}V${short(height - SIZES.radius / 2)}Q0 ${short(height)} ${SIZES.radius / 2} ${short(height)}H${SIZES.bar}Z`;
  return stateGroup(
    state,
    where,
    svg`<rect class="card" width="${short(width)}" height="${short(height)}" rx="${SIZES.radius}"/><path class="bar" d="${bar}"/><text class="name" x="${SIZES.inset}" y="${titleY}">${state.title}</text>${rows.map(row)}`,
  );
}

function frame(state: DiagramState, where: StateContext): Svg {
  const { width, height } = where.box;
  const words = [state.title, ...state.lines].join(' · ');
  return stateGroup(
    state,
    where,
    svg`<rect class="frame" width="${short(width)}" height="${short(height)}" rx="12"/><text class="name" x="${SIZES.inset}" y="22">${words}</text>`,
  );
}

function stateGroup(state: DiagramState, { box, drawing, overlay }: StateContext, inside: Svg): Svg {
  const isStart = drawing.starts.has(state.id);
  const isMissing = overlay.covered !== undefined && !overlay.covered.has(state.id);
  const classes = ['state', isStart && 'start', isMissing && 'uncovered'].filter(Boolean).join(' ');
  const { x, y, width } = box;
  // Above the bar, where no arrow ends.
  const begin = svg`<g class="begin"><circle cx="14" cy="-17" r="4"/><path d="M14 -13V-7"/><path class="head" d="M14 -1L10.2 -8H17.8Z"/></g>`;
  return svg`<g class="${classes}" data-state="${state.id}" data-kind="${state.kind}" transform="translate(${short(x)} ${short(y)})">
<title>${[`${state.id} (${state.kind})`, ...state.lines].join('\n')}</title>
${isStart && width > 0 && begin}${inside}</g>
`;
}

function row({ y, content }: CardRow): Svg {
  if (typeof content === 'string') return svg`<text class="line" x="${SIZES.inset}" y="${y}">${content}</text>`;
  return svg`${content.map(({ x, ...chip }) => chipAt(chip, { x, y }))}`;
}

function chipAt({ sign, text, to, events }: Chip, { x, y }: Point): Svg {
  const target = to !== undefined && svg` data-to="${to}"`;
  const eventsAttribute = events !== undefined && svg` data-events="${events.join(' ')}"`;
  return svg`<g class="chip ${sign}" transform="translate(${x} ${y})"${target}${eventsAttribute}><path class="sign" d="${SIGN_PATHS[sign]}" transform="translate(0 -9)"/><text x="${CHIP_INSET}">${text}</text></g>`;
}

function edge(arrow: Arrow, placedArrow: PlacedArrow, { overlay, most }: { overlay: Overlay; most: number }): Svg {
  const count = overlay.counts?.get(arrowKey(arrow));
  const isError = arrow.ways.every(({ role }) => role === 'error');
  const isMissing = overlay.taken !== undefined && !overlay.taken.has(arrowKey(arrow));
  const classes = [
    'edge',
    isError && 'error',
    isMissing && 'uncovered',
    count !== undefined && `heat-${heat(count, most)}`,
  ];
  const events = [...new Set(arrow.ways.map(({ event }) => event))].join(' ');
  const labels = arrow.ways.map(({ label, guard }) =>
    guard === undefined || label.includes(guard) ? label : `${label} [${guard}]`,
  );
  const countAttribute = count !== undefined && svg` data-count="${count}"`;
  return svg`<g class="${classes.filter(Boolean).join(' ')}" data-from="${arrow.from}" data-to="${arrow.to}" data-events="${events}"${countAttribute}>
<title>${[`${arrow.from} → ${arrow.to}`, ...labels, ...(count === undefined ? [] : [`taken ${count} times`])].join('\n')}</title>
<path class="track" d="${linePath(placedArrow.points)}"/><path class="head" d="${headPath(placedArrow.points)}"/>${words(measureLabel(arrow), placedArrow.label)}</g>
`;
}

function words({ lines, step }: Label, { x, y, width }: Box): Svg {
  const middle = short(x + width / 2);
  return svg`<text class="label" y="${short(y)}">${lines.map((line) => svg`<tspan x="${middle}" dy="${step}">${line}</tspan>`)}</text>`;
}

function describeDrawing({ states, arrows, starts }: Drawing): string {
  const [start] = starts;
  const ways = arrows.map(({ from, to, ways }) => `${from} to ${to} (${ways.map(({ label }) => label).join(', ')})`);
  const names = states.map(({ id }) => id).join(', ');
  return `Begins in ${start ?? 'no state'}. States: ${names}. Ways: ${ways.join('; ') || 'none'}.`;
}

/** Icon paths of chips. */
const SIGN_PATHS: { readonly [sign in ChipSign]: string } = {
  back: 'M8.5 8.5V5.7Q8.5 3.7 6.5 3.7H1.8M4.3 1.2L1.8 3.7L4.3 6.2',
  home: 'M1 5.3L5 1.5L9 5.3M2.3 4.4V8.8H7.7V4.4',
  exit: 'M5 1V5M2.7 2.5A3.7 3.7 0 1 0 7.3 2.5',
  error: 'M5 1.2L9.3 8.8H0.7ZM5 4V6.1M5 7.3V7.5',
  service:
    'M5 3.1A1.9 1.9 0 1 0 5 6.9A1.9 1.9 0 1 0 5 3.1M5 0.7V2M5 8V9.3M0.7 5H2M8 5H9.3M2 2L2.9 2.9M7.1 7.1L8 8M2 8L2.9 7.1M7.1 2.9L8 2',
  time: 'M5 1A4 4 0 1 0 5 9A4 4 0 1 0 5 1M5 2.8V5L6.6 6.2',
  more: 'M1.5 1.2H6.5V6.8H1.5ZM8.5 3.2V8.8H3.5',
  key: 'M2 2H2.1M5 2H5.1M8 2H8.1M2 5H2.1M5 5H5.1M8 5H8.1M5 8H5.1',
  ends: 'M1.5 1.5H8.5V8.5H1.5ZM3.6 3.6L6.4 6.4M6.4 3.6L3.6 6.4',
  hidden: 'M1.5 5H1.6M5 5H5.1M8.5 5H8.6',
};

const STEPS = 5;

/** A logarithmic scale from 0 (never) to 5 (most often). */
export function heat(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1 || count >= most) return STEPS;
  return 1 + Math.floor((STEPS - 1) * (Math.log1p(count) / Math.log1p(most)));
}

/**
 * Marks the screens and arrows that no test covers. Those without a coverage name, such as the screens of called flows, count
 * as covered, because other tests cover them.
 */
export function coverageOverlay({ states, arrows }: Drawing, { screens, options, ways }: Coverage): Overlay {
  const unseen = new Set(screens.missing);
  const untaken = new Set([...options.missing, ...ways.missing]);
  const isTaken = (mark: string | undefined) => mark === undefined || !untaken.has(mark);
  const crossed = arrows.filter((arrow) => arrow.ways.some(({ mark }) => isTaken(mark)));
  return {
    covered: new Set(states.map(({ id }) => id).filter((id) => !unseen.has(id))),
    taken: new Set(crossed.map(arrowKey)),
  };
}

const RADIUS = 7;
const HEAD = { length: 8, half: 4 };

/** The line, up to the base of the arrowhead. */
function linePath(points: readonly Point[]): string {
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
function headPath(points: readonly Point[]): string {
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
