// Routes of verification: proposals, votes, what they lead to, and the activity that they open.

import type Router from '@koa/router';
import type { Clock } from '../../../lib/clock.ts';
import { type Caller, requireRole } from '../../../lib/domain/caller.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import type { VerificationService } from '../../../lib/domain/verification.ts';
import type { Credits } from '../../../lib/domain/voting/credits.ts';
import type { SettleVotes } from '../../../lib/domain/voting/due-votes.ts';
import { activityOf, canParticipate } from '../../../lib/domain/voting/eligibility.ts';
import { type Governance, governanceView } from '../../../lib/domain/voting/governance.ts';
import { type Proposal, proposalView } from '../../../lib/domain/voting/proposal.ts';
import { requireRepresentative } from '../../../lib/domain/voting/propose.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { type ProposalPages, prefersHtml } from '../../web/proposal/routes.ts';
import { callerOf } from '../authenticate.ts';
import { readBody } from '../body.ts';
import { spareKnown } from '../conditional.ts';
import { answerPage, readPage } from '../paging.ts';
import { once, wholeNumber } from '../parameters.ts';
import { answerOnce, keyOf } from '../repeat.ts';

export interface ProposalDeps {
  readonly documents: DocumentStore;
  readonly registry: Registry;
  readonly verification: VerificationService;
  readonly credits: Credits;
  readonly governance: Governance;
  readonly idempotency: Idempotency;
  readonly pages: ProposalPages;
  readonly settleVotes: SettleVotes;
  readonly clock: Clock;
}

/** Adds the routes; `ctx.state.caller` is known. */
export function proposalRoutes(router: Router, deps: ProposalDeps): void {
  const { documents, registry, verification, credits, governance, idempotency, pages, settleVotes, clock } = deps;

  for (const root of ['/v1/domains/:did', '/v1/entities/:did']) {
    router.post(`${root}/proposals`, async (ctx) => {
      const caller = callerOf(ctx);
      const { id: did } = await registry.get(caller, ctx.params.did!);
      requireRole(caller, 'propose');
      requireRepresentative(governance, caller);
      const body = await readBody(ctx);
      await answerOnce(ctx, { idempotency, caller, body }, async (reserved) => {
        const id = reserved?.slice(-32);
        const made = await verification.propose(caller, { did, body: body.value, ...(id !== undefined && { id }) });
        return { status: 201, headers: headersOf(made), body: proposalView(made) };
      });
    });

    router.get(`${root}/proposals`, async (ctx) => {
      const query = { did: ctx.params.did!, ...readPage(ctx.query) };
      const { items, next } = await verification.list(callerOf(ctx), query);
      answerPage(ctx, { items: items.map(proposalView), next });
    });

    router.get(`${root}/verification`, async (ctx) => {
      ctx.body = await verification.verificationOf(callerOf(ctx), ctx.params.did!);
    });

    router.get(`${root}/eligibility`, async (ctx) => {
      const activity = activityOf(once(ctx.query, ['activity']).activity);
      const domain = await registry.get(callerOf(ctx), ctx.params.did!);
      const { eligible, reasons } = await canParticipate({ documents, settleVotes }, domain, clock.now());
      ctx.body = { did: domain.id, activity, eligible, reasons };
    });

    router.post(`${root}/credits`, async (ctx) => {
      const caller = callerOf(ctx);
      const { id: did } = await registry.get(caller, ctx.params.did!);
      requireRole(caller, 'issue credits');
      const body = await readBody(ctx);
      await answerOnce(ctx, { idempotency, caller, body }, async (reserved) => {
        const issued = await credits.issue(caller, { did, body: body.value, id: reserved?.slice(-32) });
        return { status: 201, headers: {}, body: issued };
      });
    });

    router.get(`${root}/credits`, async (ctx) => {
      answerPage(ctx, await credits.list(callerOf(ctx), { did: ctx.params.did!, ...readPage(ctx.query) }));
    });
  }

  router.get('/v1/proposals', async (ctx) => {
    const { items, next } = await verification.list(callerOf(ctx), readPage(ctx.query));
    answerPage(ctx, { items: items.map(proposalView), next });
  });

  router.get('/v1/proposals/:id', async (ctx) => {
    const proposal = await verification.get(callerOf(ctx), ctx.params.id!);
    ctx.vary('Accept');
    if (prefersHtml(ctx)) return pages.show(ctx, proposal, { rationales: true });
    ctx.set(headersOf(proposal));
    ctx.body = proposalView(proposal);
    spareKnown(ctx, headersOf(proposal).ETag);
  });

  router.get('/v1/proposals/:id/page-link', async (ctx) => {
    const { rationales = 'hide' } = once(ctx.query, ['rationales']);
    if (rationales !== 'hide' && rationales !== 'show')
      throw refuse('bad-request', `rationales=${JSON.stringify(rationales)} is not one of hide, show.`);
    const proposal = await verification.get(callerOf(ctx), ctx.params.id!);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = pages.link(proposal, { rationales: rationales === 'show' });
  });

  router.get('/v1/proposals/:id/votes', async (ctx) => {
    const { limit, cursor } = readPage(ctx.query);
    const before =
      cursor === undefined
        ? undefined
        : wholeNumber(cursor, { name: 'cursor', least: 1, most: 1e9, usual: 1, reason: 'bad-cursor' });
    const { items, next } = await verification.votes(callerOf(ctx), {
      id: ctx.params.id!,
      limit,
      ...(before !== undefined && { before }),
    });
    answerPage(ctx, { items, next: next === undefined ? undefined : String(next) });
  });

  router.post('/v1/proposals/:id/votes', async (ctx) => {
    const caller = callerOf(ctx);
    const id = ctx.params.id!;
    await verification.permit(caller, { id, action: 'vote' });
    const body = await readBody(ctx);
    await answerOnce(ctx, { idempotency, caller, body }, async () => {
      const { proposal, ballot } = await verification.vote(caller, { id, body: body.value, key: keyOf(ctx) });
      return { status: 201, headers: headersOf(proposal), body: { ...proposalView(proposal), ballot } };
    });
  });

  const actions = {
    withdraw: verification.withdraw,
    veto: verification.veto,
    execute: verification.execute,
  } as const;
  for (const [action, act] of Object.entries(actions) as [keyof typeof actions, VerificationService['veto']][])
    router.post(`/v1/proposals/:id/${action}`, async (ctx) => {
      const caller: Caller = callerOf(ctx);
      const id = ctx.params.id!;
      await verification.permit(caller, { id, action });
      const body = await readBody(ctx, { optional: true });
      await answerOnce(ctx, { idempotency, caller, body }, async () => {
        const proposal = await act(caller, { id, body: body.value, key: keyOf(ctx) });
        return { status: 200, headers: headersOf(proposal), body: proposalView(proposal) };
      });
    });

  router.get('/v1/governance/config', (ctx) => {
    ctx.body = governanceView(governance);
  });
}

function headersOf({ id, revision }: Proposal) {
  return { Location: `/v1/proposals/${id}`, ETag: `"${revision}"` } as const;
}
