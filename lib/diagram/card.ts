// Sizes of cards and labels in a diagram, and the position of their text. All lengths are pixels.

import { type Arrow, type Chip, type ChipSign, cutLine, type DiagramState } from './drawing.ts';

export const SIZES = {
  title: 13,
  text: 11,
  label: 10.5,
  /** The coloured bar on the left of a card. */
  bar: 5,
  /** From the left edge of a card to its text. */
  inset: 15,
  radius: 8,
} as const;

const TITLE_BASE = 21;
const LINE_STEP = 15;
const CARD_END = 11;
const CARD_RIGHT = 14;
const CARD_LEAST = 92;
const LABEL_STEP = 13;
const LABEL_CHARS = 32;
const LABEL_LINES = 3;

/** The rows of chips; chips in the same row stand side by side. */
const ROW_OF: { readonly [sign in ChipSign]: number } = {
  service: 0,
  time: 0,
  more: 1,
  error: 2,
  back: 3,
  home: 3,
  key: 4,
  exit: 5,
  ends: 5,
  hidden: 6,
};
const CHIP_GAP = 12;
/** From the left edge of a chip's icon to its text. */
export const CHIP_INSET = 14;

export interface PlacedChip extends Chip {
  /** From the left edge of the card. */
  readonly x: number;
}

export interface CardRow {
  /** The baseline, from the top of the card. */
  readonly y: number;
  readonly content: string | readonly PlacedChip[];
}

export interface Card {
  readonly width: number;
  readonly height: number;
  readonly titleY: number;
  readonly rows: readonly CardRow[];
}

/** Lays out the card of a state: title, lines and chips, stacked. */
export function measureCard({ title, lines, chips }: DiagramState): Card {
  const contents: readonly (string | PlacedChip[])[] = [...lines, ...chipRows(chips)];
  const rows = contents.map((content, at) => ({ content, y: TITLE_BASE + 2 + (at + 1) * LINE_STEP }));
  const ends = contents.map((content) => (typeof content === 'string' ? lineEnd(content) : chipEnd(content.at(-1)!)));
  const most = Math.max(SIZES.inset + textWidth(title, SIZES.title, 'bold'), ...ends);
  const height = (rows.at(-1)?.y ?? TITLE_BASE) + CARD_END;
  return { width: Math.max(CARD_LEAST, most + CARD_RIGHT), height, titleY: TITLE_BASE, rows };
}

const lineEnd = (line: string): number => SIZES.inset + textWidth(line, SIZES.text);
const chipEnd = ({ x, text }: PlacedChip): number => x + CHIP_INSET + textWidth(text, SIZES.text);

function chipRows(chips: readonly Chip[]): PlacedChip[][] {
  const rows = new Map<string, PlacedChip[]>();
  for (const chip of [...chips].sort((one, other) => ROW_OF[one.sign] - ROW_OF[other.sign])) {
    // Failures lead to different states, so each gets its own row.
    const key = chip.sign === 'error' ? `error ${chip.text}` : String(ROW_OF[chip.sign]);
    const row = rows.get(key) ?? [];
    const last = row.at(-1);
    row.push({ ...chip, x: last ? chipEnd(last) + CHIP_GAP : SIZES.inset });
    rows.set(key, row);
  }
  return [...rows.values()];
}

export interface Label {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Distance between baselines. */
  readonly step: number;
}

/** Lays out the label of an arrow: its transitions, stacked; beyond the limit, the first few and a count of the rest. */
export function measureLabel({ ways }: Arrow): Label {
  const all = [...new Set(ways.map(({ label }) => cutLine(label, LABEL_CHARS)))];
  const rest = all.length - LABEL_LINES + 1;
  const lines = rest > 1 ? [...all.slice(0, LABEL_LINES - 1), `+ ${rest} more`] : all;
  const width = Math.max(...lines.map((line) => textWidth(line, SIZES.label)));
  return { lines, width: width + 6, height: lines.length * LABEL_STEP + 2, step: LABEL_STEP };
}

const NARROW = /[iljI|!.,:;'`’]/;
const SLIM = /[ftr()[\]{}/\\" -]/;
const WIDE = /[mwMW@%—…]/;
const UPPER = /[A-Z0-9_=+<>#$&?~*]/;

/** Approximate width of a line in pixels at a font size in pixels. */
function textWidth(text: string, size: number, weight: 'normal' | 'bold' = 'normal'): number {
  let em = 0;
  for (const character of text) em += characterWidth(character);
  return Math.ceil(em * size * (weight === 'bold' ? 1.12 : 1));
}

function characterWidth(character: string): number {
  if (NARROW.test(character)) return 0.33;
  if (SLIM.test(character)) return 0.42;
  if (WIDE.test(character)) return 0.98;
  if (UPPER.test(character)) return 0.68;
  return character.codePointAt(0)! < 0x2e80 ? 0.62 : 1.05;
}
