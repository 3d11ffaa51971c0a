// A screen as a phone shows it, drawn in the terminal with the room that it takes.

import { clean, room } from '../../../lib/flow/run/gsm7.ts';

const WIDTH = 34;

/** `text` in a frame; below it how much of the screen it fills. */
export function frame(text: string, kind: 'continue' | 'end'): string {
  const lines = clean(text)
    .split('\n')
    .flatMap((line) => wrap(line, WIDTH));
  const { encoding, used, limit } = room(text);
  const unit = encoding === 'gsm7' ? 'septets' : 'UCS-2 characters';
  const foot = ` ${used}/${limit} ${unit}${kind === 'end' ? ' · end' : ''} `;
  const body = lines.map((line) => `│ ${line.padEnd(WIDTH)} │`);
  return [`┌${'─'.repeat(WIDTH + 2)}┐`, ...body, `└${foot.padStart(WIDTH + 1, '─')}─┘`].join('\n');
}

function wrap(line: string, width: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const end = space > 0 ? space : width;
    rows.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...rows, rest];
}
