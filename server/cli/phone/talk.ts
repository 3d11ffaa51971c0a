// The interactive loop of `twinline chat`: prints screens and reads answers until Ctrl-D.

import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import pc from 'picocolors';
import { clean, room } from '../../../lib/flow/run/render.ts';
import { type Faults, faultyPhone } from './faults.ts';
import type { PhoneCall, PhoneLine } from './line.ts';

export interface TalkOptions {
  readonly line: PhoneLine;
  readonly input: Readable;
  readonly output: Writable;
}

/** Runs until the input ends or `/quit` is typed. Returns the exit code. */
export async function talk({ line, input, output }: TalkOptions): Promise<0> {
  const keyboard = openKeyboard(input, output);
  const say = (text: string) => void output.write(`${text}\n`);
  const phone = faultyPhone((words) => say(pc.dim(words)));
  try {
    for (;;) {
      const end = await session(line(), { keyboard, phone, say });
      if (end === 'left') return 0;
      if (end === 'again') continue;
      say(pc.dim('Enter dials again, Ctrl-D leaves.'));
      const typed = await keyboard.ask(false);
      if (typed === undefined || typed.trim() === '/quit') return 0;
    }
  } finally {
    keyboard.close();
  }
}

interface Talking {
  readonly keyboard: Keyboard;
  readonly phone: Faults;
  say(text: string): void;
}

// One session: until it ends, the phone dials again, or the input ends.
async function session(call: PhoneCall, { keyboard, phone, say }: Talking): Promise<'ended' | 'again' | 'left'> {
  let screen = await call.type('');
  say(formatFrame(screen.text, screen.kind));
  while (screen.kind === 'continue') {
    const typed = await keyboard.ask(screen.secret);
    if (typed === undefined) return 'left';
    const outcome = await phone.take(call, typed);
    if (outcome === 'quit') return 'left';
    if (outcome === 'new') return 'again';
    if (outcome === 'stay') continue;
    screen = outcome;
    say(formatFrame(screen.text, screen.kind));
  }
  return 'ended';
}

interface Keyboard {
  /** The next line, or undefined at the end of input; a secret is not echoed. */
  ask(secret: boolean): Promise<string | undefined>;
  close(): void;
}

const PROMPT = '> ';

function openKeyboard(input: Readable, output: Writable): Keyboard {
  const isTerminal = (input as { isTTY?: boolean }).isTTY === true;
  let hidden = false;
  // readline echoes input; this stream suppresses the echo of secrets.
  const echo = new Writable({
    write: (chunk, _encoding, done) => {
      if (!hidden) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({
    input,
    ...(isTerminal && { output: echo }),
    terminal: isTerminal,
    prompt: PROMPT,
    // The history would contain secrets.
    historySize: 0,
  });
  lines.on('SIGINT', () => lines.close());
  // Lines may wait to be asked for when the input has ended; to prompt for them would throw ERR_USE_AFTER_CLOSE.
  let isClosed = false;
  lines.once('close', () => {
    isClosed = true;
  });
  const answers = lines[Symbol.asyncIterator]();
  return {
    ask: async (secret) => {
      if (isTerminal && !isClosed) lines.prompt();
      hidden = isTerminal && secret;
      const { value, done } = await answers.next();
      if (hidden || (isTerminal && done)) output.write('\n');
      hidden = false;
      // A transcript of piped input reads like a conversation.
      if (!isTerminal && !done) output.write(`${PROMPT}${secret ? '****' : value}\n`);
      return done ? undefined : (value as string);
    },
    close: () => lines.close(),
  };
}

const WIDTH = 34;

/** `text` in a frame, followed by the space it uses on a screen. */
export function formatFrame(text: string, kind: 'continue' | 'end'): string {
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
