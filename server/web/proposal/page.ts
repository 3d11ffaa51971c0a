// The page of a proposal: what is proposed, how the vote stands, under which rules, and who has voted what.

import type { Domain } from '../../../lib/domain/twin/record.ts';
import type { Proposal } from '../../../lib/domain/voting/proposal.ts';
import { type Count, countVotes, resultAtClose } from '../../../lib/domain/voting/tally.ts';
import { html, type Markup, type Part } from '../../../lib/markup.ts';
import type { Choice, ProposalState, Voter } from '../../../machines/proposal.ts';
import type { PageContent } from '../kit/frame.ts';
import { formatMoment, formatSpan } from '../kit/time-words.ts';
import { describeReason, describeRules, KIND_WORDS, STATE_WORDS } from './rule-words.ts';
import { formatPercent, tallyChart } from './tally-chart.ts';

export interface ProposalFacts {
  readonly proposal: Proposal;
  /** What it is about; undefined when it is not there any more. */
  readonly domain: Domain | undefined;
  /** The reasons that voters gave, by voter; none are shown without. */
  readonly rationales: ReadonlyMap<string, string> | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function proposalPage(facts: ProposalFacts): PageContent {
  const { proposal, domain } = facts;
  const name = domainName(domain) ?? proposal.body.subject;
  const title = `${KIND_WORDS[proposal.body.kind]} ${name}`;
  const count = countVotes(proposal.context.voters);
  return {
    title: `${title} · Proposal`,
    script: 'header.js',
    style: 'proposal.css',
    body: html`${heading(facts, title)}${standing(proposal, count)}${ballots(facts)}${rules(proposal)}`,
  };
}

function heading({ proposal, domain, now }: ProposalFacts, title: string): Markup {
  const { body, context } = proposal;
  const state = proposal.state as ProposalState;
  const { badge, means } = STATE_WORDS[state];
  const reason = context.reason === undefined ? '' : describeReason(context.reason);
  return html`<header class="card">
<p class="over"><span class="badge ${state}">${badge}</span>${domain && html`<span>${domain.body.type}</span>`}</p>
<h1>${title}</h1>
<p class="did">${body.subject}</p>
${timeLine(proposal, now)}
<p class="means">${means}${reason !== '' && html` <strong>${reason}</strong>`}</p>
<p class="by">Proposed by <span class="did">${body.proposer}</span> on ${formatMoment(context.openedAt)}</p>
</header>
`;
}

function timeLine({ state, context }: Proposal, now: number): Part {
  const showTimeLeft = (until: number, words: string) =>
    html`<p class="time"><strong><time datetime="${iso(until)}" data-until="${iso(until)}" data-now="${iso(now)}">${formatSpan(
      Math.max(0, Math.ceil((until - now) / 1_000)),
    )}</time></strong> ${words} <span class="at">${formatMoment(until)}</span></p>`;
  if (state === 'open') return showTimeLeft(context.closesAt, 'left to vote, until');
  if (state === 'timelock' && context.passesAt !== undefined)
    return showTimeLeft(context.passesAt, 'until it takes effect, on');
  const { decidedAt } = context;
  return html`<p class="time">${
    decidedAt === undefined
      ? html`The vote is over.`
      : html`Decided on <span class="at">${formatMoment(decidedAt)}</span>`
  }</p>`;
}

const CHOICES = { yes: 'Yes', no: 'No', abstain: 'Abstain' } as const satisfies { readonly [choice in Choice]: string };

function standing(proposal: Proposal, count: Count): Markup {
  const { rules } = proposal.context;
  const result = resultAtClose(count, rules);
  const forecast =
    proposal.state === 'open' &&
    html`<p class="forecast ${result.kind}">If the vote closed now, it would ${
      result.kind === 'fails' ? html`be rejected: ${describeReason(result.reason).toLowerCase()}` : 'pass.'
    }</p>`;
  const tiles = Object.entries(CHOICES).map(([choice, name]) => {
    const power = count[choice as Choice];
    return html`<div class="tile ${choice}"><dt>${name}</dt><dd>${String(power)} <small>${formatPercent(
      power,
      count.totalPower,
    )}</small></dd></div>`;
  });
  const open = count.totalPower - count.cast;
  return html`<section class="card">
<h2>${proposal.state === 'open' ? 'How it stands' : 'How it went'}</h2>
<dl class="tiles">${tiles}<div class="tile"><dt>Not voted</dt><dd>${String(open)} <small>${formatPercent(
    open,
    count.totalPower,
  )}</small></dd></div></dl>
${tallyChart(count, rules)}
${forecast}
</section>
`;
}

function ballots({ proposal, rationales }: ProposalFacts): Markup {
  const { voters } = proposal.context;
  const cast = voters.filter(({ vote }) => vote !== undefined).sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
  const silent = voters.filter(({ vote }) => vote === undefined);
  return html`<section class="card">
<h2>Who has voted</h2>
${
  cast.length === 0
    ? html`<p class="none">Nobody so far.</p>`
    : html`<ul class="ballots">${cast.map((voter) => ballot(voter, rationales?.get(voter.did)))}</ul>`
}
${
  silent.length > 0 &&
  html`<details><summary>${silent.length} of ${voters.length} have not voted</summary>
<ul class="silent">${silent.map(({ did, power }) => html`<li><span class="did">${did}</span>${weight(power)}</li>`)}</ul></details>`
}
</section>
`;
}

function ballot({ did, power, vote, at }: Voter, rationale: string | undefined): Markup {
  return html`<li><span class="chip ${vote!}">${CHOICES[vote!]}</span><div><span class="did">${did}</span>${weight(power)}
${at !== undefined && html`<span class="at">${formatMoment(at)}</span>`}
${rationale !== undefined && html`<blockquote>${rationale}</blockquote>`}</div></li>
`;
}

const weight = (power: string) => power !== '1' && html` <span class="power">power ${power}</span>`;

function rules({ id, body, context }: Proposal): Markup {
  return html`<section class="card">
<h2>The rules of this vote</h2>
<ul class="rules">${describeRules(context.rules).map((line) => html`<li>${line}</li>`)}</ul>
<details><summary>For the record</summary>
<dl class="record">
<dt>Proposal</dt><dd class="did">${id}</dd>
<dt>Opened</dt><dd>${formatMoment(context.openedAt)}</dd>
<dt>Closes</dt><dd>${formatMoment(context.closesAt)}</dd>
<dt>Revision of the domain</dt><dd>${context.subjectRevision}</dd>
<dt>Package</dt><dd>${body.package ? 'sent with the proposal' : 'none'}, sealed as <span class="did">${context.packageHash}</span></dd>
</dl></details>
</section>
`;
}

function domainName(domain: Domain | undefined): string | undefined {
  const name = domain?.body.metadata.name;
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
