// Talking through a phone in the terminal: shows screens, reads answers, until Ctrl-D.

import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import pc from 'picocolors';
import { frame } from './frame.ts';
import type { Line } from './line.ts';

export interface TalkOptions {
  readonly line: Line;
  readonly input: Readable;
  readonly output: Writable;
}

/** Talks until the input ends; then the exit code. */
export async function talk({ line, input, output }: TalkOptions): Promise<0> {
  const keyboard = reader(input, output);
  const say = (text: string) => output.write(`${text}\n`);
  try {
    for (;;) {
      const call = line();
      let screen = await call.type('');
      say(frame(screen.text, screen.kind));
      while (screen.kind === 'continue') {
        const answer = await keyboard.ask(screen.secret);
        if (answer === undefined) return 0;
        screen = await call.type(answer);
        say(frame(screen.text, screen.kind));
      }
      say(pc.dim('Enter dials again, Ctrl-D leaves.'));
      if ((await keyboard.ask(false)) === undefined) return 0;
    }
  } finally {
    keyboard.close();
  }
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
  const answers = lines[Symbol.asyncIterator]();
  return {
    ask: async (secret) => {
      if (isTerminal) lines.prompt();
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
