// What callers do: walks through real menus, told by the words on the screen; and what a faultless run answered to each.

import type { Person } from './person.ts';

/** The words of an option, or something typed. */
type Step = string | { readonly type: (person: Person) => string };

const typed = (type: (person: Person) => string): Step => ({ type });
const PIN = typed(({ pin }) => pin);
const EXIT = typed(() => '*');
const BACK = typed(() => '0');
const HOME = typed(() => '00');

const LOGIN: readonly Step[] = ['Log in', PIN];
const WALLET: readonly Step[] = ['Log in', PIN, 'Balance', BACK, 'Buy airtime', '50 min', 'Yes, buy', 'My wallet'];

const STEPS = {
  counting: ['Add', 'Add', 'Add', 'Add', 'Add', 'Add', EXIT],
  reading: [
    ...['Menu', 'Know more', 'What Twinline does', 'Other topics', 'How your PIN is kept', 'Other topics'],
    ...['Get help', BACK, 'Get help', HOME, 'Add', EXIT],
  ],
  buying: [
    ...['Add', 'Menu', 'Account', 'Create an account', typed(({ name }) => name), PIN, PIN, ...LOGIN, HOME],
    ...['Wallet', ...WALLET, 'Balance', HOME, 'Add', EXIT],
  ],
  /** For those who have an account; says whether it is still there. */
  login: ['Menu', 'Account', ...LOGIN],
} satisfies { readonly [name: string]: readonly Step[] };

export type DialogueName = keyof typeof STEPS;

/** A dialogue as it went without faults: turn 0 is the dial, and the last one is answered with END. */
export interface Dialogue {
  readonly name: DialogueName;
  /** What is typed at each turn. */
  readonly inputs: readonly ((person: Person) => string)[];
  /** What was answered, with marks in the place of what is the caller's own. */
  readonly answers: readonly string[];
  /** The turn that buys something, and the one that opens an account; -1 for none. */
  readonly buysAt: number;
  readonly opensAt: number;
}

/** What is the caller's own becomes a mark: the phone number, the name, and the customer id once it is known. */
export function marked(text: string, { phone, name }: Person, customerId: string | undefined): string {
  const own = text.replaceAll(phone, '{phone}').replaceAll(phone.slice(-9), '{number}').replaceAll(name, '{name}');
  return customerId ? own.replaceAll(customerId, '{id}') : own;
}

/** The id that a screen shows. */
export const customerIdIn = (text: string): string | undefined => /\bC[0-9A-HJKMNP-TV-Z]{8}\b/.exec(text)?.[0];

/** Walks once without faults: `say` dials with no input and then types; gives the answer. */
export async function rehearse(
  name: DialogueName,
  person: Person,
  say: (input: string | undefined) => Promise<string>,
): Promise<Dialogue> {
  const inputs: ((person: Person) => string)[] = [() => ''];
  let last = await say(undefined);
  let customerId: string | undefined;
  const answers = [marked(last, person, customerId)];
  for (const step of STEPS[name]) {
    const input = typeof step === 'string' ? optionOf(last, step) : step.type;
    last = await say(input(person));
    customerId ??= customerIdIn(last);
    inputs.push(input);
    answers.push(marked(last, person, customerId));
  }
  const isOver = last.startsWith('END') || name === 'login';
  if (!isOver) throw new Error(`the dialogue "${name}" ends with:\n${last}`);
  const turnOf = (words: string) => (STEPS[name] as readonly Step[]).indexOf(words) + 1 || -1;
  const opensAt = answers.findIndex((answer) => answer.includes('Your account is ready'));
  return { name, inputs, answers, buysAt: turnOf('Yes, buy'), opensAt };
}

function optionOf(screen: string, words: string): () => string {
  const line = screen
    .split('\n')
    .find((one) => /^\d+\. /.test(one) && one.slice(one.indexOf(' ') + 1).startsWith(words));
  if (!line) throw new Error(`no option "${words}" on:\n${screen}`);
  const digits = line.slice(0, line.indexOf('.'));
  return () => digits;
}
