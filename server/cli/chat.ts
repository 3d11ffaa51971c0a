// `twinline chat`: a phone in the terminal. Dials, shows screens, reads answers, until Ctrl-D.

import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import pc from 'picocolors';
import { frame } from './frame.ts';
import type { Line } from './phone.ts';

export interface ChatOptions {
  readonly line: Line;
  readonly input: Readable;
  readonly output: Writable;
}

/** Talks until the input ends. */
export async function chat({ line, input, output }: ChatOptions): Promise<void> {
  const isTerminal = (input as { isTTY?: boolean }).isTTY === true;
  const reader = createInterface({ input, output: isTerminal ? output : undefined, prompt: '> ' });
  const say = (text: string) => output.write(`${text}\n`);
  const answers = reader[Symbol.asyncIterator]();
  const ask = async (): Promise<string | undefined> => {
    if (isTerminal) reader.prompt();
    const next = await answers.next();
    return next.done ? undefined : next.value;
  };
  try {
    for (;;) {
      const over = await session({ line, say, ask });
      if (over) return;
      say(pc.dim('Enter dials again, Ctrl-D leaves.'));
      if ((await ask()) === undefined) return;
    }
  } finally {
    reader.close();
  }
}

interface Talk {
  readonly line: Line;
  say(text: string): void;
  ask(): Promise<string | undefined>;
}

/** One session; true when the input has ended. */
async function session({ line, say, ask }: Talk): Promise<boolean> {
  const sessionId = `chat-${randomUUID()}`;
  for (let text: string | undefined; ; ) {
    const { kind, text: screen } = await line(sessionId, text ?? '');
    say(frame(screen, kind));
    if (kind === 'end') return false;
    const typed = await ask();
    if (typed === undefined) return true;
    text = text ? `${text}*${typed}` : typed;
  }
}
