// The list of undecided proposals, the next to close first; and one proposal: its vote, what is voted on, and what the holder of
// this key may do with it.

import { proposalCards, type ShownBallot } from '../../registry/proposal-view.ts';
import { button, element, markupElements } from '../element.ts';
import { ask, askJson, type ListedProposal, type Me, type RecordPage, readName, segment, type Twin } from './client.ts';
import { card, proposalRow, recordCard } from './twin.ts';

const CHOICES = ['yes', 'no', 'abstain'] as const;

/** The page of open proposals. Rejects like `ask`. */
export async function openProposals(): Promise<HTMLElement> {
  const rows = element('ul', { class: 'twins lined named' });
  const none = element('p', { class: 'at', text: 'No vote is open.' });
  let next: string | null = null;
  const more = button('More', () => void read(), { is: { hidden: true } });
  async function read(): Promise<void> {
    const cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = await askJson<RecordPage<ListedProposal>>(`GET /v1/proposals?which=undecided${cursor}`);
    next = page.next;
    rows.append(...page.items.map(openRow));
    more.hidden = next === null;
    none.hidden = rows.childElementCount > 0 || next !== null;
  }
  await read();
  return card('Open proposals', [rows, none, more]);
}

function openRow(proposal: ListedProposal): HTMLElement {
  const { did, name, kind } = proposal;
  const row = proposalRow(proposal, `To ${kind} ${name ?? did}`);
  if (typeof name === 'string') row.append(element('span', { class: 'did', text: did }));
  return row;
}

/** The page of a proposal. Rejects like `ask`. */
export async function proposalPage(id: string, me: Me, reload: () => void): Promise<HTMLElement> {
  const path = `/v1/proposals/${segment(id)}`;
  const [proposal, votes] = await Promise.all([
    askJson<ListedProposal>(`GET ${path}`),
    askJson<RecordPage<ShownBallot>>(`GET ${path}/votes?limit=${BALLOTS_SHOWN}`),
  ]);
  const about = `/v1/domains/${segment(proposal.did)}`;
  const subject = await askJson<Twin>(`GET ${about}?at=${proposal.domainRevision}`).catch(() => undefined);
  const domain = subject && { type: subject.type, name: readName(subject) };
  // Newest first, so the first ballot of a voter is the one that counts.
  const ballots = votes.items.filter(
    ({ voter }, at) => votes.items.findIndex((ballot) => ballot.voter === voter) === at,
  );
  return element('div', { class: 'page stack' }, [
    ...markupElements(proposalCards({ proposal, domain, ballots, now: Date.now() })),
    votes.next !== null && element('p', { class: 'at', text: `The last ${BALLOTS_SHOWN} ballots.` }),
    actionCard(proposal, { me, path, reload }),
    element('p', {}, [
      element('a', { text: 'The twin as it is now', is: { href: `#/twin/${segment(proposal.did)}` } }),
    ]),
    element('h2', { text: `What is voted on: revision ${proposal.domainRevision}` }),
    subject ? recordCard(subject) : card('Record', ['This revision is not readable.']),
  ]);
}

const BALLOTS_SHOWN = 200;

interface ActionContext {
  readonly me: Me;
  readonly path: string;
  /** Shows the proposal again after an action. */
  readonly reload: () => void;
}

function actionCard({ status, proposer }: ListedProposal, { me, path, reload }: ActionContext): HTMLElement | false {
  const notice = element('p', { class: 'notice bad', is: { role: 'alert' } });
  const act = (action: string, body?: unknown) =>
    void ask(`POST ${path}/${action}`, body === undefined ? {} : { body }).then(reload, (error: Error) => {
      notice.textContent = error.message;
    });
  const can = (role: string) => me.roles.includes(role);
  const parts = [
    ...(status === 'open' && can('voter') ? [ballot((vote, rationale) => act('votes', { vote, ...rationale }))] : []),
    ...(status === 'open' && (proposer === me.principal || can('operator'))
      ? [button('Withdraw', () => act('withdraw'))]
      : []),
    ...((status === 'open' || status === 'timelock') && can('operator') ? [button('Veto', () => act('veto', {}))] : []),
    ...(status === 'passed' && can('operator') ? [button('Execute again', () => act('execute'))] : []),
  ];
  if (parts.length === 0) return false;
  return card('What you can do', [element('div', { class: 'row' }, parts), notice]);
}

function ballot(cast: (vote: string, rationale: { rationale?: string }) => void): HTMLElement {
  const reason = element('input', {
    is: { 'aria-label': 'Your reason', placeholder: 'Your reason (optional)', maxlength: 1_000 },
  });
  const vote = (choice: string) => cast(choice, reason.value.trim() === '' ? {} : { rationale: reason.value.trim() });
  return element('div', { class: 'ballot row', is: { role: 'group', 'aria-label': 'Your vote' } }, [
    reason,
    ...CHOICES.map((choice) =>
      button(choice[0]!.toUpperCase() + choice.slice(1), () => vote(choice), { class: 'primary' }),
    ),
  ]);
}
