// What a scenario counts, and the table that is printed of it.

/**
 * What went wrong: a turn that is gone, one that was applied twice, any other answer that nobody should get, and a deed without its
 * entry in the audit log or with one too many.
 */
export const BREACHES = ['lost', 'doubled', 'mismatched', 'unnoted'] as const;
export type Breach = (typeof BREACHES)[number];

export interface Tally {
  turns: number;
  /** Copies of a turn that were sent beside the first. */
  duplicates: number;
  /** Turns asked again, for want of an answer or after END Service temporarily unavailable. */
  retries: number;
  /** Answers that said: please wait. */
  waits: number;
  /** Dialogues that ended before their end, for a reason that the scenario allows. */
  restarts: number;
  /** Dialogues in which a screen said that a call could not be finished. */
  troubles: number;
  lost: number;
  doubled: number;
  mismatched: number;
  unnoted: number;
  /** Processes that were ended, and stores that were emptied. */
  faults: number;
  /** Accounts that were opened, and could be logged in to when all was over. */
  accounts: number;
  /** Milliseconds from the first copy of a turn to its answer, at the longest. */
  stallMs: number;
}

export const newTally = (): Tally => ({
  ...{ turns: 0, duplicates: 0, retries: 0, waits: 0, restarts: 0, troubles: 0 },
  ...{ lost: 0, doubled: 0, mismatched: 0, unnoted: 0, faults: 0, accounts: 0, stallMs: 0 },
});

const COLUMNS: { readonly [title: string]: (tally: Tally) => string } = {
  faults: ({ faults }) => count(faults),
  turns: ({ turns }) => count(turns),
  duplicates: ({ duplicates }) => count(duplicates),
  'asked again': ({ retries }) => count(retries),
  lost: ({ lost }) => count(lost),
  doubled: ({ doubled }) => count(doubled),
  mismatched: ({ mismatched }) => count(mismatched),
  unnoted: ({ unnoted }) => count(unnoted),
  'cut short': ({ restarts, troubles }) => count(restarts + troubles),
  'longest stall': ({ stallMs }) => `${(stallMs / 1000).toFixed(1)} s`,
};

const count = (number: number) => number.toLocaleString('en');
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

export const CAPTION = `Each turn goes to one to three of three instances at once, the next one only when all have answered. Errors of the USSD
door are HTTP 200 with END, which ends the dial when the caller sees it; here the telecom's gateway asks the same turn
again after no answer or END Service temporarily unavailable ("asked again") before it shows anything. Lost, doubled,
mismatched: against the texts of a faultless run, between the copies, and in the ledger of purchases. "Cut short":
dialogues that were gone with an emptied Redis, or whose screen said that a call with a PIN could not be finished. Stall:
from the first copy of a turn to its answer.`;

/** One row for each scenario, in Markdown. */
export function table(rows: readonly { readonly name: string; readonly tally: Tally }[]): string {
  const titles = Object.keys(COLUMNS);
  const lines = rows.map(({ name, tally }) => row([name, ...Object.values(COLUMNS).map((cell) => cell(tally))]));
  return [row(['scenario', ...titles]), row(['---', ...titles.map(() => '---')]), ...lines].join('\n');
}
