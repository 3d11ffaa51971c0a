// What `import … from 'twinline/domain'` gives: the registry of twins, their verification by vote, credits, feed, DIDs, cards.

export { type Caller, PERMITTED, ROLES, type Role } from './caller.ts';
export { isDid, mintDid, parseDidUrl } from './did/did.ts';
export { eventsAfter, type Feed, type FeedEvent, type FeedOptions, type FeedPage, feed } from './feed/feed.ts';
export { type Idempotency, idempotency, type Repeatable } from './idempotency.ts';
export { DOMAIN_KINDS } from './kinds.ts';
export { PROBLEMS, type Reason } from './problems.ts';
export { type Registry, type RegistryOptions, registry } from './registry.ts';
export { type Filter, matches, parseFilter } from './twin/filter.ts';
export type { Graph, GraphQuery } from './twin/graph.ts';
export type { DomainPage, ListQuery } from './twin/list.ts';
export { type Protocol, type Protocols, protocolView } from './twin/protocol.ts';
export {
  type CanonicalClass,
  CHAIN,
  canonicalClass,
  type Domain,
  type DomainView,
  domainView,
  STATUSES,
  type Status,
  type StoredDomain,
} from './twin/record.ts';
export { type VerificationOptions, type VerificationService, verification } from './verification.ts';
export {
  ACTIVITIES,
  type Activity,
  type Credits,
  canParticipate,
  credits,
  type Eligibility,
} from './voting/credits.ts';
export { DEFAULT_GOVERNANCE, type Governance, governanceView, parseGovernance } from './voting/governance.ts';
export { type Proposal, type ProposalView, proposalView } from './voting/proposal.ts';
