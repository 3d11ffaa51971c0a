// A proposal as people read it: what is proposed, how the vote stands, under which rules, and who voted what. The server
// sends it as a page, the registry draws it in the browser from the JSON of /v1.

import type { ProposalView } from '../../../lib/domain/voting/proposal.ts';
import { type Count, resultAtClose } from '../../../lib/domain/voting/tally.ts';
import { html, type Markup, type Part } from '../../../lib/markup.ts';
import type { Choice } from '../../../machines/proposal.ts';
import { formatMoment, formatSpan } from '../kit/time-words.ts';
import { describeReason, describeRules, KIND_WORDS, STATE_WORDS } from './rule-words.ts';
import { formatPercent, tallyChart } from './tally-chart.ts';

/** A ballot as `GET /v1/proposals/:id/votes` lists it. */
export interface ShownBallot {
  readonly voter: string;
  readonly vote: Choice;
  readonly power: string;
  readonly at: string;
  readonly rationale?: string | undefined;
}

export interface ShownProposal {
  readonly proposal: ProposalView;
  /** What the proposal is about. @default the domain no longer exists */
  readonly domain?: { readonly type: string; readonly name: string | undefined } | undefined;
  /** Newest first, one for each voter. */
  readonly ballots: readonly ShownBallot[];
  /** Voters who have not voted. @default unknown */
  readonly silent?: readonly Pick<ShownBallot, 'voter' | 'power'>[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function proposalTitle({ proposal, domain }: Pick<ShownProposal, 'proposal' | 'domain'>): string {
  return `${KIND_WORDS[proposal.kind]} ${domain?.name ?? proposal.did}`;
}

/** Four cards. Text that others wrote is escaped. */
export function proposalCards(shown: ShownProposal): Markup {
  return html`${heading(shown)}${standing(shown.proposal)}${ballots(shown)}${rules(shown.proposal)}`;
}

function heading(shown: ShownProposal): Markup {
  const { proposal, domain, now } = shown;
  const { status, did, proposer, opensAt, reason } = proposal;
  const { badge, means } = STATE_WORDS[status];
  const why = reason === undefined ? '' : describeReason(reason);
  return html`<header class="card">
<p class="row"><span class="badge ${status}">${badge}</span>${domain && html`<span class="soft">${domain.type}</span>`}</p>
<h1>${proposalTitle(shown)}</h1>
<p class="did">${did}</p>
${timeLine(proposal, now)}
<p>${means}${why !== '' && html` <strong>${why}</strong>`}</p>
<p class="quiet">Proposed by <span class="did">${proposer}</span> on ${formatMoment(Date.parse(opensAt))}</p>
</header>
`;
}

function timeLine({ status, closesAt, executableAt, decidedAt }: ProposalView, now: number): Part {
  const showTimeLeft = (until: string, words: string) => {
    const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
    return html`<p class="time"><strong><time datetime="${until}" data-until="${until}" data-now="${new Date(
      now,
    ).toISOString()}">${formatSpan(seconds)}</time></strong> ${words} <span class="at">${formatMoment(Date.parse(until))}</span></p>`;
  };
  if (status === 'open') return showTimeLeft(closesAt, 'left to vote, until');
  if (executableAt !== undefined) return showTimeLeft(executableAt, 'until it takes effect, on');
  return html`<p class="time">${
    decidedAt !== undefined
      ? html`Decided on <span class="at">${formatMoment(Date.parse(decidedAt))}</span>`
      : 'The vote is over.'
  }</p>`;
}

const CHOICES = { yes: 'Yes', no: 'No', abstain: 'Abstain' } as const satisfies { readonly [choice in Choice]: string };

function standing({ status, tally, rules }: ProposalView): Markup {
  const count: Count = {
    yes: BigInt(tally.yes),
    no: BigInt(tally.no),
    abstain: BigInt(tally.abstain),
    cast: BigInt(tally.cast),
    totalPower: BigInt(tally.totalPower),
  };
  const result = resultAtClose(count, rules);
  const forecast =
    status === 'open' &&
    html`<p class="forecast ${result.kind}">If the vote closed now, it would ${
      result.kind === 'fails' ? html`be rejected: ${describeReason(result.reason).toLowerCase()}` : 'pass.'
    }</p>`;
  const tile = (kind: string, name: string, power: bigint) =>
    html`<div class="count ${kind}"><dt>${name}</dt><dd>${String(power)} <small>${formatPercent(power, count.totalPower)}</small></dd></div>`;
  const choices = Object.entries(CHOICES) as [Choice, string][];
  return html`<section class="card">
<h2>${status === 'open' ? 'How it stands' : 'How it went'}</h2>
<dl class="counts">${choices.map(([choice, name]) => tile(choice, name, count[choice]))}${tile(
    'open',
    'Not voted',
    count.totalPower - count.cast,
  )}</dl>
${tallyChart(count, rules)}
${forecast}
</section>
`;
}

function ballots({ ballots, silent = [] }: ShownProposal): Markup {
  return html`<section class="card">
<h2>Who has voted</h2>
${
  ballots.length === 0
    ? html`<p class="soft">Nobody so far.</p>`
    : html`<ul class="ballots lined">${ballots.map(ballotRow)}</ul>`
}
${
  silent.length > 0 &&
  html`<details><summary>${silent.length} of ${silent.length + ballots.length} have not voted</summary>
<ul class="stack">${silent.map(({ voter, power }) => html`<li><span class="did">${voter}</span>${weight(power)}</li>`)}</ul></details>`
}
</section>
`;
}

function ballotRow({ voter, power, vote, at, rationale }: ShownBallot): Markup {
  return html`<li><span class="choice ${vote}">${CHOICES[vote]}</span><div><span class="did">${voter}</span>${weight(power)}
<span class="at">${formatMoment(Date.parse(at))}</span>
${rationale !== undefined && html`<blockquote>${rationale}</blockquote>`}</div></li>
`;
}

const weight = (power: string) => power !== '1' && html` <span class="soft">power ${power}</span>`;

function rules({ id, rules, opensAt, closesAt, ...proposal }: ProposalView): Markup {
  return html`<section class="card">
<h2>The rules of this vote</h2>
<ul>${describeRules(rules).map((line) => html`<li>${line}</li>`)}</ul>
<details><summary>For the record</summary>
<dl class="record">
<dt>Proposal</dt><dd class="did">${id}</dd>
<dt>Opened</dt><dd>${formatMoment(Date.parse(opensAt))}</dd>
<dt>Closes</dt><dd>${formatMoment(Date.parse(closesAt))}</dd>
<dt>Revision of the domain</dt><dd>${proposal.domainRevision}</dd>
<dt>Package</dt><dd>${proposal.package ? 'sent with the proposal' : 'none'}, sealed as <span class="did">${proposal.packageHash}</span></dd>
</dl></details>
</section>
`;
}
