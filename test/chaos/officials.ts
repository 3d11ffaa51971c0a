// Operators and voters beside the callers: they do what the audit log tells of, at any instance, and in the end compare it with their book.

import { setTimeout as pause } from 'node:timers/promises';
import type { AuditEntry } from '../../server/audit/audit.ts';
import { asker, created, PROTOCOL, YES } from '../server/domain/place.ts';
import { run } from '../server/support/command.ts';
import { type DeedPlace, doDeeds, newBook, openVotes, readOutcomes } from '../server/support/deeds.ts';
import { ask as askUrl } from '../server/support/serve.ts';
import type { Random } from '../simulation/random.ts';
import type { Fleet } from './fleet.ts';

export interface Officials {
  /** Do one of each kind at a time, until it is over. */
  work(isOver: () => boolean, random: Random): Promise<void>;
  /** What the audit log lacks or has too much, in all that was ever done; empty when nothing. */
  check(): Promise<readonly string[]>;
  /** How many deeds were acknowledged, of the kind that was least often. */
  least(): number;
}

const PAUSE_MS = 250;
/** Kinds that these have no menus for. */
const LEFT_OUT = ['menus.edited', 'session.private'];

/** They begin with a verified domain; `env` is that of the instances. */
export async function startOfficials(fleet: Fleet, env: Readonly<Record<string, string>>): Promise<Officials> {
  const book = newBook();
  const proposals: string[] = [];
  let n = 0;
  let url = fleet.urls()[0]!;
  const plain: DeedPlace['plain'] = (where, how) => askUrl(url + where, how);
  const place: DeedPlace = { plain, ask: asker(() => plain), url: () => url, book, pinKeys: env.PIN_ENCRYPTION_KEY! };
  const { ask } = place;
  const readLog = async (...args: string[]) => {
    const { code, out, err } = await run(['audit', ...args, '--json'], env);
    return { code, told: out + err, lines: out.split('\n').filter(Boolean) };
  };
  const before = (await readLog('show')).lines.length;

  created(await ask('owner', 'POST /v1/protocols', PROTOCOL));
  const { did, decisive } = await openVotes(place);
  book.begin('proposal.executed', decisive);
  created(await ask('bob', `POST /v1/proposals/${decisive}/votes`, YES));
  proposals.push(decisive);

  return {
    async work(isOver, random) {
      for (; !isOver(); await pause(PAUSE_MS)) {
        url = fleet.urls()[random.below(fleet.size)]!;
        // One that cannot be opened is nothing that was done.
        const votes = await openVotes(place).catch(() => undefined);
        if (!votes) continue;
        proposals.push(votes.decisive);
        await doDeeds(place, { ...votes, did, n: ++n });
      }
    },
    async check() {
      url = fleet.urls()[0]!;
      await readOutcomes(place, proposals.splice(0));
      const { lines } = await readLog('show', '--after', String(before));
      const { code, told } = await readLog('verify');
      const wrong = book.check(lines.map((line) => JSON.parse(line) as AuditEntry));
      return code === 0 ? wrong : [...wrong, told];
    },
    least: () => {
      const counts = Object.entries(book.counts()).filter(([deed]) => !LEFT_OUT.includes(deed));
      return Math.min(...counts.map(([, count]) => count));
    },
  };
}
