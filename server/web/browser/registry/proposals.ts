// The list of undecided proposals, the next to close first; and one proposal: its vote, what is voted on, and what the holder of
// this key may do with it.

import { proposalCards, type ShownBallot } from '../../registry/proposal-view.ts';
import { button, element, findElement, markupElements } from '../element.ts';
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
  const own = ballots.find(({ voter }) => voter === me.principal)?.vote;
  const [heading, ...others] = markupElements(proposalCards({ proposal, domain, ballots, now: Date.now() }));
  return element('div', { class: 'page stack' }, [
    heading,
    actionCard(proposal, { me, path, own, reload }),
    ...others,
    votes.next !== null && element('p', { class: 'at', text: `The last ${BALLOTS_SHOWN} ballots.` }),
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
  /** What this person voted. */
  readonly own: ShownBallot['vote'] | undefined;
  /** Shows the proposal again after an action. */
  readonly reload: () => void;
}

function actionCard(
  { status, proposer, rules }: ListedProposal,
  { me, path, own, reload }: ActionContext,
): HTMLElement | false {
  const notice = element('p', { class: 'notice bad', is: { role: 'alert' } });
  /** Resolves to whether it was done. */
  const act = async (action: string, body?: unknown): Promise<boolean> => {
    notice.textContent = '';
    try {
      await ask(`POST ${path}/${action}`, body === undefined ? {} : { body });
    } catch (error) {
      notice.textContent = (error as Error).message;
      return false;
    }
    reload();
    return true;
  };
  const can = (role: string) => me.roles.includes(role);
  const isOpen = status === 'open';
  const others = [
    ...(isOpen && (proposer === me.principal || can('operator'))
      ? [button('Withdraw', () => void act('withdraw'))]
      : []),
    ...((isOpen || status === 'timelock') && can('operator') ? [button('Veto', () => void act('veto', {}))] : []),
    ...(status === 'passed' && can('operator') ? [button('Execute again', () => void act('execute'))] : []),
  ];
  const votes = isOpen && can('voter');
  if (!votes && own === undefined && others.length === 0) return false;
  const cast = (vote: ShownBallot['vote'], rationale: { rationale?: string }) =>
    void act('votes', { vote, ...rationale }).then((isDone) => {
      if (isDone) findElement('said').textContent = `Your vote ${nameChoice(vote)} is counted.`;
    });
  const canVote = votes && (own === undefined || rules.allowRevoting);
  return card(votes || own !== undefined ? 'Your vote' : 'What you can do', [
    own !== undefined && ownVote(own, canVote),
    canVote && ballot(own, cast),
    others.length > 0 && element('div', { class: 'row' }, others),
    notice,
  ]);
}

const nameChoice = (choice: string) => choice[0]!.toUpperCase() + choice.slice(1);

function ownVote(own: ShownBallot['vote'], canChange: boolean): HTMLElement {
  return element('p', { class: 'row' }, [
    'You voted ',
    element('span', { class: `choice own ${own}`, text: nameChoice(own) }),
    canChange && 'Another choice replaces it.',
  ]);
}

function ballot(
  own: ShownBallot['vote'] | undefined,
  cast: (vote: ShownBallot['vote'], rationale: { rationale?: string }) => void,
): HTMLElement {
  const reason = element('input', {
    is: { 'aria-label': 'Your reason', placeholder: 'Your reason (optional)', maxlength: 1_000 },
  });
  const vote = (choice: ShownBallot['vote']) =>
    cast(choice, reason.value.trim() === '' ? {} : { rationale: reason.value.trim() });
  return element('div', { class: 'ballot row', is: { role: 'group', 'aria-label': 'Your vote' } }, [
    element('div', { class: 'choices row' }, [
      ...CHOICES.map((choice) =>
        button(nameChoice(choice), () => vote(choice), {
          class: `primary ${choice}`,
          is: { 'aria-pressed': own === undefined ? undefined : String(choice === own) },
        }),
      ),
    ]),
    reason,
  ]);
}
