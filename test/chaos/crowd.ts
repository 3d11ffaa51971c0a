// All callers of one scenario, and what they find: in their answers, in the ledger, and in the accounts that they opened.

import { type Walked, walk } from './caller.ts';
import type { DialogueName } from './dialogues.ts';
import type { Gateway } from './gateway.ts';
import type { Ground } from './ground.ts';
import { troubleTexts } from './menus.ts';
import { newPerson, newSession, type Person } from './person.ts';
import type { Scenario } from './scenarios.ts';
import type { Breach, Tally } from './tally.ts';

export interface Crowd {
  /** Walks one dialogue after another, beginning with one of the mix, until it is over. */
  call(first: number, isOver: () => boolean): Promise<void>;
  /** Logs in to some of the accounts that were opened, the first and the last ones. */
  checkAccounts(): Promise<void>;
  /** What was seen of each breach, the first ones. */
  readonly breaches: readonly string[];
}

export interface CrowdOptions {
  readonly gateway: Gateway;
  readonly scenario: Scenario;
  readonly tally: Tally;
  readonly mix: readonly DialogueName[];
  /** Milliseconds that a caller takes to read a screen. */
  readonly thinkMs: number;
}

const BREACHES_TOLD = 20;
const ACCOUNTS_TRIED = 6;

export function newCrowd({ ledger, dialogues }: Ground, options: CrowdOptions): Crowd {
  const { gateway, scenario, tally, mix, thinkMs } = options;
  const breaches: string[] = [];
  const accounts: { readonly person: Person; readonly customerId: string }[] = [];
  const troubles = troubleTexts();

  const breach = (kind: Breach, { name, phone }: Person, what: string) => {
    tally[kind]++;
    if (breaches.length < BREACHES_TOLD) breaches.push(`${kind}: ${name} (${phone}): ${what}`);
  };

  const settle = (walked: Walked) => {
    const { person, end } = walked;
    tally.waits += walked.waits;
    if (end.kind === 'restarts' || end.kind === 'troubles') {
      tally[end.kind]++;
      if (!scenario.allows.includes(end.kind)) breach('lost', person, `a dialogue ended early (${end.kind})`);
    } else if ('what' in end) breach(end.kind, person, end.what);
    if (walked.customerId) accounts.push({ person, customerId: walked.customerId });
    const sold = ledger.soldTo(person.phone);
    if (sold > 1 || (sold > 0 && !walked.mayHaveBought)) breach('doubled', person, `${sold} purchases`);
    if (sold === 0 && walked.hasBought) breach('lost', person, 'a receipt for nothing');
  };

  const walkAs = async (name: DialogueName, person: Person, customerId?: string) =>
    walk(dialogues.get(name)!, person, { gateway, troubles, sessionId: newSession(), thinkMs, customerId });

  return {
    breaches,
    call: async (first, isOver) => {
      for (let at = first; !isOver(); at++) settle(await walkAs(mix[at % mix.length]!, newPerson()));
    },
    checkAccounts: async () => {
      const half = ACCOUNTS_TRIED / 2;
      for (const { person, customerId } of new Set([...accounts.slice(0, half), ...accounts.slice(-half)])) {
        const { end } = await walkAs('login', person, customerId);
        if (end.kind === 'done') tally.accounts++;
        else breach('lost', person, `no login to the account: ${end.kind}`);
      }
    },
  };
}
