// Votes that are over take effect before anybody reads what they were about: no reader depends on the sweep.
//
// The work is that of the sweep, by the same writes, so it is done once however many readers and processes do it.

import type { Clock } from '../../clock.ts';
import type { Lifecycle } from '../../engine/lifecycle/lifecycle.ts';
import { TwinlineError } from '../../errors.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { DocumentStore, Query, StoredDocument } from '../../store/store.ts';
import { PROPOSAL } from '../kinds.ts';
import type { NoteOnDomain } from './execution.ts';
import type { Context, StoredProposal } from './proposal.ts';

/** What is about to be read: one domain by its DID, everything of a tenant, or everything. */
export type VoteScope = { readonly domain: string } | { readonly tenant: string } | 'all';

/**
 * Lets every vote in the scope that is over take effect on its domain; whether there was one. Rejects with an error
 * that may be tried again when that cannot be done now: then the domains do not say what they are.
 */
export type SettleVotes = (scope: VoteScope) => Promise<boolean>;

/** For deployments without votes. */
export const NO_VOTES: SettleVotes = async () => false;

export interface DueVotesOptions {
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly proposals: Lifecycle<Context, StoredProposal>;
  readonly note: NoteOnDomain;
}

export function dueVotes({ documents, clock, proposals, note }: DueVotesOptions): SettleVotes {
  async function settleOne(found: StoredDocument): Promise<boolean> {
    try {
      const proposal = await proposals.refresh(found);
      // Another process may be noting it just now, or may have died over it. Noting it twice changes nothing.
      for (const call of proposal.calling) await note(call, proposal);
      return proposal.revision !== found.revision || proposal.calling.length > 0;
    } catch (error) {
      // An unreadable proposal does not block reads of others; the sweep reports it.
      if (error instanceof TwinlineError && !error.retry) return false;
      throw error;
    }
  }

  return async (scope) => {
    let settled = false;
    for (const query of queriesFor(scope, clock.now()))
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const from = cursor === undefined ? {} : { cursor };
        const page = await documents.find<StoredProposal>(PROPOSAL, {
          ...query,
          ...from,
          limit: SHARED_LIMITS.sweepBatch,
        });
        const changes = await Promise.all(page.items.map(settleOne));
        settled ||= changes.includes(true);
        cursor = page.next;
      }
    return settled;
  };
}

// Of one domain all that have a deadline, which are few; else those whose deadline has passed or whose end is being noted.
function queriesFor(scope: VoteScope, now: number): readonly Query[] {
  if (scope === 'all')
    return [
      { index: 'due', where: { dueAt: { lte: now } } },
      { index: 'calling', where: { calling: true } },
    ];
  if ('domain' in scope) return [{ index: 'subject-due', where: { subject: scope.domain, dueAt: { gt: 0 } } }];
  const { tenant } = scope;
  return [
    { index: 'tenant-due', where: { tenant, dueAt: { lte: now } } },
    { index: 'calling', where: { calling: true, tenant } },
  ];
}
