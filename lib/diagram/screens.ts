// What the drawing of a flow shows for each kind of screen: the lines on its card, and its transitions.

import type { Flow, Screen, Text } from '../flow/format/flow.ts';
import type { ScreenNode } from '../flow/run/scope.ts';
import { findKind } from '../flow/screens/kinds.ts';
import { cutLine, type SingleTransition } from './drawing.ts';

const LINE_CHARS = 30;
const TEXT_LINES = 2;
const ROWS = 9;

/** The lines of a screen, cut to fit a card. */
export function screenLines(flow: Flow, screen: Screen): string[] {
  const lang = flow.langs?.[0] ?? 'en';
  const { text, rows = [] } = findKind(screen).card(screen);
  const lines = rows.map((row) => cutLine(`${row.sign} ${plain(row.text, lang)}`, LINE_CHARS));
  const more = lines.length - ROWS + 1;
  return [
    ...(text === undefined ? [] : textLines(text, lang)),
    ...(more > 1 ? [...lines.slice(0, ROWS - 1), `… ${more} more`] : lines),
  ];
}

function textLines(text: Text, lang: string): string[] {
  const lines = plain(text, lang)
    .split('\n')
    .flatMap((line) => wrapLine(line.trim()));
  if (lines.length <= TEXT_LINES) return lines.filter((line) => line !== '');
  const words = lines[TEXT_LINES - 1]!.split(' ');
  while (words.length > 1 && words.join(' ').length + 2 > LINE_CHARS) words.pop();
  return [...lines.slice(0, TEXT_LINES - 1), `${words.join(' ')} …`];
}

function wrapLine(line: string): string[] {
  const lines: string[] = [];
  let at = '';
  for (const word of line.split(/\s+/)) {
    if (at !== '' && at.length + 1 + word.length > LINE_CHARS) {
      lines.push(cutLine(at, LINE_CHARS));
      at = word;
    } else at = at === '' ? word : `${at} ${word}`;
  }
  return [...lines, cutLine(at, LINE_CHARS)];
}

// Shortens `{{name|trunc:20}}` to `{name}`.
function plain(text: Text, lang: string): string {
  const source = typeof text === 'string' ? text : (text[lang] ?? Object.values(text)[0] ?? '');
  return source.replace(/\{\{\s*([^|{}\s]+)[^{}]*\}\}/g, '{$1}');
}

/** All transitions of a screen. */
export function screenSteps({ screen, prefix, path }: ScreenNode): SingleTransition[] {
  const own = prefix === '' ? `${path}.` : undefined;
  return findKind(screen)
    .steps(screen, { path })
    .map(({ to, mark, ...step }) => ({
      ...step,
      from: path,
      to: prefix + to,
      // Coverage is measured for the flow's own screens; called flows have their own tests.
      ...(own !== undefined && { mark: own + mark }),
    }));
}
