// The machines that are no flows: the lifecycles, by name, as they can be drawn and exported.

import type { AnyStateMachine } from 'xstate';
import { agentStream } from '../../../machines/agent-stream.ts';
import { delegationMachine } from '../../../machines/delegation.ts';
import { domainVerification } from '../../../machines/domain-verification.ts';

// A picture counts no ballots.
const HANDS = { outcome: () => ({ kind: 'open' }) as const };

/** What each machine is about, and how it is made. */
export const LIFECYCLES: { readonly [name: string]: { readonly summary: string; machine(): AnyStateMachine } } = {
  'domain-verification': { summary: 'a proposal about a domain', machine: () => domainVerification(HANDS) },
  delegation: { summary: 'what a user lets the service do', machine: () => delegationMachine },
  'agent-stream': { summary: 'a run of an agent', machine: agentStream },
};
