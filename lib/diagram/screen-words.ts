// What the card of a screen says: its text in the flow's first language, its options, what it asks of whom.

import type { Flow, MenuScreen, Screen, Text } from '../flow/format/flow.ts';
import { cutLine } from './drawing.ts';

const LINE_CHARS = 30;
const TEXT_LINES = 2;
const OPTIONS = 9;

/** The lines of a screen, cut to the room that a card has. */
export function screenLines(flow: Flow, screen: Screen): string[] {
  const lang = flow.langs?.[0] ?? 'en';
  switch (screen.type) {
    case 'menu':
      return [...textLines(screen.text, lang), ...optionLines(screen, lang)];
    case 'input':
    case 'end':
      return textLines(screen.text, lang);
    case 'list':
      return [...textLines(screen.text, lang), cutLine(`• ${plain(screen.row, lang)}`, LINE_CHARS)];
    case 'call':
    case 'branch':
      return [];
    case 'flow':
      return [cutLine(`flow ${screen.flow}`, LINE_CHARS)];
  }
}

// Options with a condition are numbered by who looks at them.
function optionLines({ options }: MenuScreen, lang: string): string[] {
  const isFixed = options.every(({ when }) => when === undefined);
  let number = 0;
  const lines = options.map(({ key, text }) => {
    const sign = key !== undefined ? `${key}.` : isFixed ? `${++number}.` : '•';
    return cutLine(`${sign} ${plain(text, lang)}`, LINE_CHARS);
  });
  return lines.length > OPTIONS ? [...lines.slice(0, OPTIONS - 1), `… ${lines.length - OPTIONS + 1} more`] : lines;
}

function textLines(text: Text, lang: string): string[] {
  const lines = plain(text, lang)
    .split('\n')
    .flatMap((line) => wrapped(line.trim()));
  if (lines.length <= TEXT_LINES) return lines.filter((line) => line !== '');
  const words = lines[TEXT_LINES - 1]!.split(' ');
  while (words.length > 1 && words.join(' ').length + 2 > LINE_CHARS) words.pop();
  return [...lines.slice(0, TEXT_LINES - 1), `${words.join(' ')} …`];
}

function wrapped(line: string): string[] {
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

// `{{name|trunc:20}}` is no word for people; `{name}` says what will stand there.
function plain(text: Text, lang: string): string {
  const source = typeof text === 'string' ? text : (text[lang] ?? Object.values(text)[0] ?? '');
  return source.replace(/\{\{\s*([^|{}\s]+)[^{}]*\}\}/g, '{$1}');
}
