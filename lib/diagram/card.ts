// How large the cards and labels of a diagram are, and where their words stand in them. All lengths are pixels.

import type { Arrow, Chip, ChipSign, DrawnState } from './drawing.ts';
import { cutLine } from './drawing.ts';
import { textWidth } from './measure.ts';

export const SIZES = {
  title: 13,
  text: 11,
  label: 10.5,
  /** The coloured bar of a card. */
  bar: 5,
  /** From the left side of a card to its words. */
  inset: 15,
  radius: 8,
} as const;

const TITLE_BASE = 21;
const LINE_STEP = 15;
const CARD_END = 11;
const CARD_RIGHT = 14;
const CARD_LEAST = 92;
const LABEL_STEP = 13;
const LABEL_CHARS = 28;
const LABEL_LINES = 3;

export const SIGNS: { readonly [sign in ChipSign]: string } = {
  back: '↩',
  home: '⌂',
  exit: '⏻',
  error: '⚠',
  service: '⚙',
  time: '⏱',
  more: '⋯',
  hidden: '…',
};

export interface CardRow {
  /** The base line, from the top of the card. */
  readonly y: number;
  readonly words: string;
  /** Undefined: a line of text. */
  readonly chip?: Chip;
}

export interface Card {
  readonly width: number;
  readonly height: number;
  readonly titleY: number;
  readonly rows: readonly CardRow[];
}

/** The card of a state: its title, its lines, its chips, one below the other. */
export function cardOf({ title, lines, chips }: DrawnState): Card {
  const words = [
    ...lines.map((line) => ({ words: line })),
    ...chips.map((chip) => ({ words: `${SIGNS[chip.sign]} ${chip.text}`, chip })),
  ];
  const rows = words.map((row, at) => ({ ...row, y: TITLE_BASE + 2 + (at + 1) * LINE_STEP }));
  const widths = rows.map((row) => textWidth(row.words, SIZES.text));
  const width = Math.max(CARD_LEAST, SIZES.inset + CARD_RIGHT + Math.max(textWidth(title, SIZES.title, 'bold'), ...widths));
  return { width, height: (rows.at(-1)?.y ?? TITLE_BASE) + CARD_END, titleY: TITLE_BASE, rows };
}

export interface Label {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Between two base lines. */
  readonly step: number;
}

/** What stands at an arrow: its ways, one below the other; of many, the first and how many more there are. */
export function labelOf({ ways }: Arrow): Label {
  const all = [...new Set(ways.map(({ label }) => cutLine(label, LABEL_CHARS)))];
  const rest = all.length - LABEL_LINES + 1;
  const lines = rest > 1 ? [...all.slice(0, LABEL_LINES - 1), `+ ${rest} more`] : all;
  const width = Math.max(...lines.map((line) => textWidth(line, SIZES.label)));
  return { lines, width: width + 6, height: lines.length * LABEL_STEP + 2, step: LABEL_STEP };
}
