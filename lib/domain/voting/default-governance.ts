// The rules of a deployment that brings no rules file of its own. To change them, write the same keys into a JSON file
// and name it in GOVERNANCE_FILE; a key that the file leaves out keeps the value given here.

import type { Governance } from './governance.ts';

export const DEFAULT_GOVERNANCE: Governance = {
  // How many must say yes. "majority": more than half of the yes and no votes, so a tie loses.
  // { kind: 'percent', value: '0.5' }: at least that share of the yes and no votes, so a tie wins.
  // { kind: 'count', value: '3' }: at least that much voting power, however many say no.
  threshold: { kind: 'majority' },

  // How many must take part, whatever they vote: this share of all voting power. "0.2" is one fifth.
  quorum: '0.2',

  // How long a vote is open: 604800 seconds are seven days.
  votingPeriodSeconds: 604_800,

  // Whether voters may change their mind. If they may, nothing is decided before the vote closes;
  // if not, the vote ends as soon as the votes that are still missing cannot change the result.
  allowRevoting: false,

  // How long a result waits before it takes effect, so that an operator can still veto it. 0: at once.
  timelockSeconds: 0,

  // Whether those who control a domain are kept from voting on it.
  recuseController: false,

  // Who may propose, besides operators. An empty list: everyone whose API key has the role "representative".
  representatives: [],

  // Who may vote, and with how much power. An empty list: everyone whose API key has the role "voter", with power 1.
  voters: [],
};
