// Commands that simulate network faults between phone and server, typed between answers.

import { setTimeout as pause } from 'node:timers/promises';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import type { PhoneCall, PhoneScreen } from './line.ts';

/** The outcome: another screen, no reply, a new session, or the end of the dialogue. */
export type DialogueOutcome = PhoneScreen | 'stay' | 'new' | 'quit';

export interface Faults {
  /** Sends an answer or runs a command; type `//…` for an answer that starts with `/`. */
  take(call: PhoneCall, text: string): Promise<DialogueOutcome>;
}

interface FaultState {
  /** What happens to the next answer. */
  next: 'sent' | 'twice' | 'lost';
  delayMs: number;
}

interface CommandInput {
  readonly state: FaultState;
  readonly call: PhoneCall;
  readonly argument: string;
  readonly say: (words: string) => void;
}

interface Command {
  readonly words: string;
  run(input: CommandInput): Promise<DialogueOutcome>;
}

const DELAY_MAX_MS = 600_000;

const COMMANDS: { readonly [name: string]: Command } = {
  retry: {
    words: 'the last request once more: the same screen must come',
    run: ({ call }) => call.again(),
  },
  duplicate: {
    words: 'the next answer arrives twice at the same time',
    run: async ({ state, say }) => {
      state.next = 'twice';
      say('The next answer arrives twice.');
      return 'stay';
    },
  },
  drop: {
    words: 'the screen after the next answer is lost, and the telecom asks again',
    run: async ({ state, say }) => {
      state.next = 'lost';
      say('The screen after the next answer is lost.');
      return 'stay';
    },
  },
  delay: {
    words: 'milliseconds that every answer takes to arrive: /delay 3000',
    run: async ({ state, argument, say }) => {
      const delayMs = Number(argument);
      const fits = /^\d+$/.test(argument) && delayMs <= DELAY_MAX_MS;
      if (fits) state.delayMs = delayMs;
      say(fits ? `Answers take ${delayMs} ms.` : `Write milliseconds, at most ${DELAY_MAX_MS}: /delay 3000`);
      return 'stay';
    },
  },
  timeout: {
    words: 'the telecom ends the session, and the phone dials again',
    run: async ({ call, say }) => {
      const isReported = await call.hangUp();
      say(isReported ? 'The telecom has ended the session.' : 'The session is left; this server is not told.');
      return 'new';
    },
  },
  new: { words: 'hang up without a word, and dial again', run: async () => 'new' },
  quit: { words: 'leave', run: async () => 'quit' },
  help: {
    words: 'these lines',
    run: async ({ say }) => {
      say(
        Object.entries(COMMANDS)
          .map(([name, { words }]) => `  /${name.padEnd(10)} ${words}`)
          .join('\n'),
      );
      return 'stay';
    },
  },
};

/** A phone without faults. */
export function faultyPhone(say: (words: string) => void): Faults {
  const state: FaultState = { next: 'sent', delayMs: 0 };
  return {
    take: async (call, typed) => {
      if (!typed.startsWith('/') || typed.startsWith('//'))
        return send(call, typed.replace(/^\/\//, '/'), { state, say });
      const [name = '', argument = ''] = typed.slice(1).trim().split(/\s+/);
      const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      if (command) return command.run({ state, call, argument, say });
      say(`There is no /${name}.${suggest(name, Object.keys(COMMANDS))} /help lists what there is.`);
      return 'stay';
    },
  };
}

async function send(
  call: PhoneCall,
  answer: string,
  { state, say }: Pick<CommandInput, 'state' | 'say'>,
): Promise<PhoneScreen> {
  const { next } = state;
  state.next = 'sent';
  if (state.delayMs) await pause(state.delayMs);
  if (next === 'sent') return call.type(answer);
  if (next === 'lost') {
    await call.type(answer);
    say('The screen was lost; the telecom asks again.');
    return call.again();
  }
  const [first, copy] = await Promise.all([call.type(answer), call.again()]);
  const same = first.kind === copy.kind && first.text === copy.text;
  say(
    same ? 'Both copies got this screen:' : `The copies got different screens; one of them:\n${copy.text}\nthe other:`,
  );
  return first;
}
