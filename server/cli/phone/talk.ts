// Talking through a phone in the terminal: shows screens, reads answers, until Ctrl-D.

import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import pc from 'picocolors';
import { type Faults, faultyPhone } from './faults.ts';
import { frame } from './frame.ts';
import type { Call, Line } from './line.ts';

export interface TalkOptions {
  readonly line: Line;
  readonly input: Readable;
  readonly output: Writable;
}

/** Talks until the input ends, or somebody types /quit; then the exit code. */
export async function talk({ line, input, output }: TalkOptions): Promise<0> {
  const keyboard = reader(input, output);
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

// One session: until it ends, the phone dials anew, or nobody types any more.
async function session(call: Call, { keyboard, phone, say }: Talking): Promise<'ended' | 'again' | 'left'> {
  let screen = await call.type('');
  say(frame(screen.text, screen.kind));
  while (screen.kind === 'continue') {
    const typed = await keyboard.ask(screen.secret);
    if (typed === undefined) return 'left';
    const outcome = await phone.take(call, typed);
    if (outcome === 'quit') return 'left';
    if (outcome === 'new') return 'again';
    if (outcome === 'stay') continue;
    screen = outcome;
    say(frame(screen.text, screen.kind));
  }
  return 'ended';
}

interface Keyboard {
  /** The next line, or undefined when there is none; a secret one leaves no trace on the screen. */
  ask(secret: boolean): Promise<string | undefined>;
  close(): void;
}

const PROMPT = '> ';

function reader(input: Readable, output: Writable): Keyboard {
  const isTerminal = (input as { isTTY?: boolean }).isTTY === true;
  let hidden = false;
  // readline echoes what is typed by itself; here it writes through something that can look away.
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
    // Secrets would be in it.
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
