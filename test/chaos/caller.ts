// One caller: walks a dialogue turn by turn and holds every answer against that of the faultless run.

import { setTimeout as pause } from 'node:timers/promises';
import { customerIdIn, type Dialogue, marked } from './dialogues.ts';
import type { Gateway } from './gateway.ts';
import type { Person } from './person.ts';
import type { Breach } from './tally.ts';

/** What may end a dialogue early without breaking a promise. */
export type Excuse = 'restarts' | 'troubles';

/** How a dialogue went. */
export interface Walked {
  readonly person: Person;
  /** What the caller was shown of what it bought and opened. */
  readonly hasBought: boolean;
  readonly customerId: string | undefined;
  /** Whether the turn that buys was sent. */
  readonly mayHaveBought: boolean;
  readonly waits: number;
  readonly end:
    | { readonly kind: 'done' }
    | { readonly kind: Excuse }
    | { readonly kind: Breach; readonly what: string };
}

export interface WalkOptions {
  readonly gateway: Gateway;
  readonly sessionId: string;
  /** Milliseconds between an answer and the next turn. */
  readonly thinkMs: number;
  /** First lines of screens that say that a call could not be finished. */
  readonly troubles: readonly string[];
  /** The account that this person has already. */
  readonly customerId: string | undefined;
}

const WAIT = 'CON Please wait.';
const WAITS_MAX = 40;
const DIAL_AGAIN = 'END Your session has ended. Please dial again.';
const INVALID = 'END Invalid input. Please try again.';

/** Dials and goes on until the dialogue is over or an answer is not the one of the faultless run. */
export async function walk(dialogue: Dialogue, person: Person, options: WalkOptions): Promise<Walked> {
  const { gateway, sessionId, thinkMs } = options;
  let { customerId } = options;
  let text = '';
  let waits = 0;
  let at = 0;
  const so = (end: Walked['end']): Walked => ({
    person,
    customerId: dialogue.opensAt >= 0 && at >= dialogue.opensAt ? customerId : undefined,
    hasBought: dialogue.buysAt >= 0 && at > dialogue.buysAt,
    mayHaveBought: dialogue.buysAt >= 0 && at >= dialogue.buysAt,
    waits,
    end,
  });
  const say = (input: string) => {
    text = text === '' ? input : `${text}*${input}`;
    return gateway.turn({ sessionId, serviceCode: '*2233#', phoneNumber: person.phone, text });
  };

  for (; at < dialogue.inputs.length; at++) {
    if (thinkMs && at) await pause(thinkMs);
    let shown = await say(dialogue.inputs[at]!(person));
    for (; shown.text?.startsWith(WAIT) && shown.told.size === 1 && waits < WAITS_MAX; waits++) shown = await say('1');
    if (shown.text === undefined)
      return so({ kind: 'lost', what: `turn ${at} of ${dialogue.name} was never answered` });
    for (const told of shown.told) {
      customerId ??= customerIdIn(told);
      const end = judge(marked(told, person, customerId), { dialogue, at, options });
      if (end) return so(end);
    }
    if (shown.told.size > 1) return so({ kind: 'mismatched', what: `copies were told ${quoted([...shown.told])}` });
  }
  return so({ kind: 'done' });
}

interface Place {
  readonly dialogue: Dialogue;
  readonly at: number;
  readonly options: WalkOptions;
}

/** Undefined when it is the answer of the faultless run. */
function judge(told: string, { dialogue, at, options }: Place): Walked['end'] | undefined {
  const { answers, name } = dialogue;
  const expected = answers[at]!;
  if (told === expected) return undefined;
  if (options.troubles.some((trouble) => told.startsWith(`CON ${trouble}`))) return { kind: 'troubles' };
  if (told === DIAL_AGAIN) return { kind: 'restarts' };
  const what = `turn ${at} of ${name} was told ${quoted([told])} instead of ${quoted([expected])}`;
  if (told === INVALID || answers.slice(0, at).includes(told)) return { kind: 'lost', what };
  return { kind: answers.slice(at).includes(told) ? 'doubled' : 'mismatched', what };
}

const quoted = (texts: readonly string[]) => texts.map((text) => JSON.stringify(text)).join(' and ');
