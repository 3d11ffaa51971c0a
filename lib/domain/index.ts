// What `import … from 'twinline/domain'` gives: the registry of twins, their verification by vote, credits, feed, DIDs, cards.

export { type Caller, PERMITTED, ROLES, type Role } from './caller.ts';
export { type CanonicalClass, CHAIN, canonicalClass } from './class.ts';
export { type Credits, credits } from './credits.ts';
export { DEFAULT_GOVERNANCE } from './default-governance.ts';
export { isDid, mintDid, parseDidUrl } from './did.ts';
export { ACTIVITIES, type Activity, canParticipate, type Eligibility } from './eligibility.ts';
export { eventsAfter, type FeedEvent, type FeedPage } from './feed.ts';
export { type Filter, matches, parseFilter } from './filter.ts';
export { type Feed, type FeedOptions, feed } from './follow.ts';
export { type Governance, governanceView, parseGovernance } from './governance.ts';
export type { Graph, GraphQuery } from './graph.ts';
export { type Idempotency, idempotency, type Repeatable } from './idempotency.ts';
export { DOMAIN_KINDS } from './kinds.ts';
export type { ListQuery, Page } from './list.ts';
export { PROBLEMS, type Reason } from './problems.ts';
export { type Proposal, type ProposalView, proposalView } from './proposal.ts';
export { type Protocol, type Protocols, protocolView } from './protocol.ts';
export { type Domain, type DomainView, domainView, STATUSES, type Status, type StoredDomain } from './record.ts';
export { type Registry, type RegistryOptions, registry } from './registry.ts';
export { type VerificationOptions, type VerificationService, verification } from './verification.ts';
