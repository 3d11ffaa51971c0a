// Actions on proposals: vote, withdraw, veto, execute again.

import { createHash } from 'node:crypto';
import type { EventObject } from 'xstate';
import type { Choice, ProposalState, Voter } from '../../../machines/proposal.ts';
import type { TwinlineError } from '../../errors.ts';
import { type Caller, requireRole } from '../caller.ts';
import { mayBeId } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { isRefusal, refuse } from '../problems.ts';
import { NEW_VOTE, VETO } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import type { StoredDomain } from '../twin/record.ts';
import { findSubjectChange, readVerification } from './execution.ts';
import type { Proposal } from './proposal.ts';
import type { VotingDeps } from './propose.ts';

export interface ActionRequest {
  /** The request's key: repeating it changes nothing and returns the same result. */
  readonly key?: string | undefined;
  readonly body?: unknown;
}

export interface ProposalRequest extends ActionRequest {
  readonly id: string;
}

/** The proposal; throws `not-found`. What has become due is done, and what it is about is looked at, first. */
export async function requireProposal(
  deps: VotingDeps,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<Proposal> {
  const proposal = mayBeId(id) ? await deps.proposals.read(id) : undefined;
  if (!proposal || proposal.body.tenant !== tenant)
    throw refuse('not-found', `There is no proposal ${JSON.stringify(id)}.`);
  return reviewProposal(deps, proposal);
}

/** The actions of an authorised caller. */
export interface PermittedActions {
  /** Casts the caller's ballot. */
  vote(request: ActionRequest): Promise<Voted>;
  /** Withdraws an open proposal, as its proposer or an operator. */
  withdraw(request: ActionRequest): Promise<Proposal>;
  /** Stops a proposal before it is executed. */
  veto(request: ActionRequest): Promise<Proposal>;
  /** Retries the execution of a passed proposal; no effect on an executed one. */
  execute(request: ActionRequest): Promise<Proposal>;
}
export type ProposalAction = keyof PermittedActions;

/**
 * The action on this proposal, to be done once its request was read. Throws `not-found`, or the refusal of a caller who
 * may not do this to this proposal.
 */
export async function permitAction<A extends ProposalAction>(
  deps: VotingDeps,
  caller: Caller,
  { id, action }: { readonly id: string; readonly action: A },
): Promise<PermittedActions[A]> {
  const proposal = await requireProposal(deps, caller, id);
  requireRole(caller, action);
  if (action === 'vote' && !voterIn(proposal, caller.principal))
    throw await notAVoter(deps, proposal, caller.principal);
  if (action === 'withdraw') requireProposer(proposal, caller);
  return actionsOn(deps, caller, proposal)[action];
}

function actionsOn(deps: VotingDeps, caller: Caller, proposal: Proposal): PermittedActions {
  const { id } = proposal;
  return {
    vote: (request) => castBallot(deps, caller, { id, ...request }),
    withdraw: ({ key }) =>
      step(deps, caller, { id, key, action: 'withdraw', from: ['open'], event: { type: 'WITHDRAW' } }),
    veto: async ({ body, key }) => {
      const { reason = 'vetoed' } = (await checkShape<{ reason?: string } | null>(VETO, body ?? {}, 'The veto')) ?? {};
      const event = { type: 'VETO', reason } as EventObject;
      return step(deps, caller, { id, key, action: 'veto', from: STOPPABLE, event });
    },
    execute: async ({ key }) => {
      if (proposal.state === 'executed') return proposal;
      const from: readonly ProposalState[] = ['passed', 'execution_failed'];
      return step(deps, caller, { id, key, action: 'execute', from, event: { type: 'EXECUTE' } });
    },
  };
}

function requireProposer({ body }: Proposal, { principal, roles }: Caller): void {
  if (body.proposer === principal || roles.has('operator')) return;
  throw refuse('not-proposer', `${body.proposer} made this proposal; only they withdraw it.`);
}

const STOPPABLE: readonly ProposalState[] = ['open', 'timelock', 'execution_failed'];

/** Ends a proposal whose domain has changed. Repairs the state after a crash between the change and its notification. */
export async function reviewProposal(deps: VotingDeps, proposal: Proposal): Promise<Proposal> {
  const { id, state, context, body } = proposal;
  if (!STOPPABLE.includes(state as ProposalState)) return proposal;
  const subject = await deps.documents.get<StoredDomain>(DOMAIN, context.subject);
  // An execution that was given up may have come through after all.
  const isExecuted = subject && readVerification(subject.body).settled?.[body.kind]?.proposal === id;
  if (isExecuted) return state === 'execution_failed' ? moveProposal(deps, proposal, { type: 'EXECUTE' }) : proposal;
  const reason = findSubjectChange(subject?.body, { kind: body.kind, hash: context.hash });
  return reason === undefined
    ? proposal
    : moveProposal(deps, proposal, { type: 'SUBJECT_CHANGED', reason } as EventObject);
}

// As long as the state is one of those that can be left this way; others have been faster otherwise.
async function moveProposal({ proposals }: VotingDeps, { id }: Proposal, event: EventObject): Promise<Proposal> {
  let last: Proposal | undefined;
  const decide = (proposal: Proposal) => {
    last = proposal;
    return STOPPABLE.includes(proposal.state as ProposalState) ? event : notOpen(proposal);
  };
  try {
    return (await proposals.take(id, { decide })).instance;
  } catch (error) {
    if (last && isRefusal(error)) return last;
    throw error;
  }
}

export interface Voted {
  readonly proposal: Proposal;
  readonly ballot: Voter;
  /** The request had been taken before. */
  readonly repeated: boolean;
}

async function castBallot(deps: VotingDeps, caller: Caller, { id, body, key }: ProposalRequest): Promise<Voted> {
  const { principal } = caller;
  const cast = await checkShape<{ vote: Choice; rationale?: string }>(NEW_VOTE, body, 'The vote');
  const { instance, repeated } = await deps.proposals.take(id, {
    ...makeCommand(caller, 'vote', key),
    decide: (proposal) =>
      findRefusal(proposal, { voter: principal, vote: cast.vote }) ??
      ({ type: 'CAST', voter: principal, ...cast } as EventObject),
  });
  return { proposal: instance, ballot: voterIn(instance, principal)!, repeated };
}

function findRefusal(
  proposal: Proposal,
  { voter: did, vote }: { voter: string; vote: Choice },
): TwinlineError | undefined {
  if (proposal.state !== 'open') return notOpen(proposal);
  const earlier = voterIn(proposal, did)?.vote;
  if (earlier === undefined) return undefined;
  if (!proposal.context.rules.allowRevoting)
    return refuse('already-voted', `${did} has voted ${earlier}; the rules allow one vote.`);
  return earlier === vote
    ? refuse('already-voted', `${did} has voted ${vote} already. Choose another option.`)
    : undefined;
}

async function notAVoter({ documents }: VotingDeps, { context }: Proposal, did: string): Promise<TwinlineError> {
  const subject = await documents.get<StoredDomain>(DOMAIN, context.subject);
  if (context.rules.recuseController && subject?.body.controllers.includes(did))
    return refuse('recused', `${did} controls ${context.subject} and does not vote on it.`);
  return refuse('not-eligible-voter', `${did} was not among the voters when the proposal was made.`);
}

interface StepRequest {
  readonly id: string;
  readonly key: string | undefined;
  readonly action: 'withdraw' | 'veto' | 'execute';
  readonly from: readonly ProposalState[];
  readonly event: EventObject;
}

async function step(
  { proposals }: VotingDeps,
  caller: Caller,
  { id, key, action, from, event }: StepRequest,
): Promise<Proposal> {
  const decide = (proposal: Proposal) =>
    from.includes(proposal.state as ProposalState)
      ? event
      : action === 'execute'
        ? notPassed(proposal)
        : notOpen(proposal);
  return (await proposals.take(id, { ...makeCommand(caller, action, key), decide })).instance;
}

// Two callers, or two actions, may use the same key.
function makeCommand({ principal }: Caller, action: string, key: string | undefined) {
  if (key === undefined) return { by: principal, action };
  const hash = createHash('sha256')
    .update(JSON.stringify([principal, action, key]))
    .digest('base64url');
  return { by: principal, action, key: hash.slice(0, 22) };
}

function voterIn({ context }: Proposal, did: string): Voter | undefined {
  return context.voters.find((voter) => voter.did === did);
}

function notOpen({ id, state }: Proposal): TwinlineError {
  return refuse('proposal-not-open', `Proposal ${id} is ${state}; this needs one that is open.`);
}

function notPassed({ id, state }: Proposal): TwinlineError {
  return refuse('wrong-status', `Proposal ${id} is ${state}; only one that has passed is executed.`);
}
