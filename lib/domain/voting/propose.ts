// Creating proposals: who may, about which domain, with which rules and voters.

import type { ProposalInput } from '../../../machines/proposal.ts';
import type { Clock } from '../../clock.ts';
import type { Lifecycle } from '../../engine/lifecycle/lifecycle.ts';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { randomToken } from '../did/did.ts';
import { requireDomain, type SettleVotes } from '../find.ts';
import { PROPOSAL } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { NEW_PROPOSAL } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import { materialHash, packageHash } from '../twin/change.ts';
import { type Domain, findValidity } from '../twin/record.ts';
import { mayBecome, readVerification, statusBeneath } from './execution.ts';
import type { Governance, VoterPower } from './governance.ts';
import { openKey, type Proposal, type ProposalKind, type StoredProposal, type VotingContext } from './proposal.ts';
import { countVotes, resultAtClose, type VotingRules } from './tally.ts';

export interface VotingDeps {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly governance: Governance;
  readonly proposals: Lifecycle<VotingContext, StoredProposal>;
  /** Who may vote when the rules name no voters. */
  readonly electorate: (tenant: string) => readonly VoterPower[];
  readonly settle: SettleVotes;
}

export interface NewProposal {
  readonly body: unknown;
  /** Of the proposal: reserved for this request, so that a repeated one finds what the first has made. @default a new one */
  readonly id?: string | undefined;
}

interface RequestedAction {
  readonly kind: ProposalKind;
  readonly package?: JsonObject;
}

/** Makes a proposal about a domain (a DID or alias) once its request was read. Throws what keeps this caller from any. */
export async function permitProposal(
  deps: VotingDeps,
  caller: Caller,
  did: string,
): Promise<(request: NewProposal) => Promise<Proposal>> {
  const domain = await requireDomain(deps.documents, caller, did);
  requireRole(caller, 'propose');
  requireRepresentative(deps.governance, caller);
  return (request) => propose(deps, caller, { ...request, domain });
}

// Returns the existing proposal when an earlier try of the request created it.
async function propose(
  deps: VotingDeps,
  caller: Caller,
  { domain, body, id = randomToken() }: NewProposal & { readonly domain: Domain },
): Promise<Proposal> {
  const subject = domain.id;
  const action = await checkShape<RequestedAction>(NEW_PROPOSAL, body, 'The proposal');
  checkPackage(action.package);
  const earlier = await deps.proposals.read(id);
  if (earlier) return earlier;
  requireUnexpired(deps, action.kind, domain);
  // Apply closed votes first, so that they do not block a new proposal.
  await deps.settle({ domain: subject });
  await refuseSecond(deps, subject, action.kind);
  // The domain may have changed while the body was read.
  const latest = await requireDomain(deps.documents, caller, subject);
  const input = makeInput(deps, caller, { domain: latest, asked: action });
  const { tenant, principal } = caller;
  try {
    const { instance } = await deps.proposals.begin(id, {
      input: input as unknown as JsonObject,
      body: {
        tenant,
        subject,
        kind: action.kind,
        proposer: principal,
        created: deps.clock.now(),
        package: action.package ?? null,
      },
      by: principal,
      action: 'propose',
    });
    return instance;
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_EXISTS') throw second(subject, action.kind);
    throw error;
  }
}

async function refuseSecond({ documents }: VotingDeps, subject: string, kind: ProposalKind): Promise<void> {
  const where = { openFor: openKey(subject, kind) };
  const { items } = await documents.find<StoredProposal>(PROPOSAL, { index: 'open', where, limit: 1 });
  if (items.length) throw second(subject, kind);
}

function second(subject: string, kind: ProposalKind): TwinlineError {
  return refuse('proposal-open', `A proposal to ${kind} ${subject} is open already. Vote on that one, or withdraw it.`);
}

/** Throws `not-representative` unless the rules let this caller propose. */
function requireRepresentative({ representatives }: Governance, { roles, principal }: Caller): void {
  if (roles.has('operator') || !representatives.length || representatives.includes(principal)) return;
  throw refuse('not-representative', `${principal} is not among the representatives that the rules of voting name.`);
}

type Copies = Omit<ProposalInput, 'at'> & { readonly rules: VotingRules };

function makeInput(
  deps: VotingDeps,
  caller: Caller,
  { domain, asked }: { domain: Domain; asked: RequestedAction },
): Copies {
  const { body, revision } = domain;
  const { kind } = asked;
  requireUnexpired(deps, kind, domain);
  const hash = materialHash(body);
  const wholeHash = packageHash(hash, asked.package);
  if (!mayBecome(kind, body))
    throw refuse('wrong-status', `A domain that is ${body.status} cannot be proposed to ${kind}.`);
  if (statusBeneath(body) === 'Revoked' && readVerification(body).packageHash === wholeHash)
    throw refuse('package-unchanged', `${body.did} was revoked as it is. Change it, or send another package.`);
  const rules = pickRules(deps.governance);
  const voters = votersFor(deps, caller.tenant, rules.recuseController ? body.controllers : []);
  const unanimous = countVotes(voters.map((voter) => ({ ...voter, vote: 'yes' as const })));
  if (resultAtClose(unanimous, rules).kind !== 'passes')
    throw refuse(
      'no-electorate',
      'Even if all who may vote say yes, the proposal cannot pass. Change the rules of voting.',
    );
  return {
    kind,
    subject: body.did,
    hash,
    packageHash: wholeHash,
    subjectRevision: revision,
    proposer: caller.principal,
    rules,
    voters,
  };
}

function requireUnexpired({ clock }: VotingDeps, kind: ProposalKind, { body }: Domain): void {
  if (kind !== 'verify' || findValidity(body, clock.now()) !== 'expired') return;
  throw invalid(`${body.did} cannot be verified: it is no longer valid.`, [
    { field: '/validUntil', error: `was ${body.validUntil}; change it first` },
  ]);
}

function pickRules({ voters: _, representatives: __, ...rules }: Governance): VotingRules {
  return rules;
}

function votersFor({ governance, electorate }: VotingDeps, tenant: string, recused: readonly string[]) {
  const all = governance.voters.length ? governance.voters : electorate(tenant);
  const voters = all.filter(({ did, power }) => power !== '0' && !recused.includes(did));
  if (voters.length <= DOMAIN_LIMITS.votersPerProposal) return voters;
  throw new TwinlineError(
    'ERR_CONFIG',
    `${voters.length} API keys have the role voter; a proposal takes ${DOMAIN_LIMITS.votersPerProposal}. Name the voters in GOVERNANCE_FILE.`,
  );
}

function checkPackage(content: JsonObject | undefined): void {
  if (content === undefined) return;
  const refusal = (error: string) => invalid('The package cannot be taken.', [{ field: '/package', error }]);
  if (isDeeper(content, DOMAIN_LIMITS.packageDepth))
    throw refusal(`has more than ${DOMAIN_LIMITS.packageDepth} levels`);
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes > DOMAIN_LIMITS.packageBytes)
    throw refusal(`has ${bytes} bytes of JSON; ${DOMAIN_LIMITS.packageBytes} are allowed`);
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner as Json, levels - 1));
}
