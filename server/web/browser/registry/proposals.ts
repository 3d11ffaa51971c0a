// The list of proposals that are not decided yet, the one that is over first before the others; and one proposal: the tally page of the
// server, what is to be verified, and what the holder of this key may do with it.

import { button, element } from '../element.ts';
import { ask, askJson, type Me, segment } from './client.ts';
import { formatTime, type ProposalView, type RecordPage, type Twin } from './records.ts';
import { card, recordCard } from './twin.ts';

const CHOICES = ['yes', 'no', 'abstain'] as const;

/** The page of open proposals. Rejects as `ask` does. */
export async function openProposals(): Promise<HTMLElement> {
  const rows = element('ul', { class: 'twins' });
  const none = element('p', { class: 'at', text: 'Nothing is voted on now.' });
  let next: string | null = null;
  const more = button('More', () => void read(), { is: { hidden: true } });
  async function read(): Promise<void> {
    const cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = await askJson<RecordPage<ProposalView>>(`GET /v1/proposals?which=undecided${cursor}`);
    next = page.next;
    rows.append(...page.items.map(openRow));
    more.hidden = next === null;
    none.hidden = rows.childElementCount > 0 || next !== null;
  }
  await read();
  return card('Open proposals', [rows, none, more]);
}

function openRow({ id, did, name, kind, status, closesAt, proposer }: ProposalView): HTMLElement {
  return element('li', {}, [
    element('a', { text: `To ${kind} ${name ?? did}`, is: { href: `#/proposal/${id}` } }),
    element('span', { class: `badge ${status}`, text: status }),
    ...(typeof name === 'string' ? [element('span', { class: 'at', text: did })] : []),
    element('span', { class: 'at', text: `by ${proposer}, until ${formatTime(closesAt)}` }),
  ]);
}

/** The page of a proposal. Rejects as `ask` does. */
export async function proposalView(id: string, me: Me, reload: () => void): Promise<HTMLElement> {
  const path = `/v1/proposals/${segment(id)}`;
  const [proposal, page] = await Promise.all([
    askJson<ProposalView>(`GET ${path}`),
    ask(`GET ${path}`, { accept: 'text/html' }).then((answer) => answer.text()),
  ]);
  const about = `/v1/domains/${segment(proposal.did)}`;
  const subject = await askJson<Twin>(`GET ${about}?at=${proposal.domainRevision}`).catch(() => undefined);
  // Written by this server, with everything of others escaped; scripts of a parsed document do not run.
  const tally = new DOMParser().parseFromString(page, 'text/html').querySelector('main')!;
  return element('div', { class: 'page' }, [
    ...[...tally.children].map((part) => document.importNode(part, true)),
    actionCard(proposal, { me, path, reload }),
    element('p', {}, [
      element('a', { text: 'The twin as it is now', is: { href: `#/twin/${segment(proposal.did)}` } }),
    ]),
    subject
      ? element('div', { class: 'page' }, [
          element('h2', { text: `What is voted on: revision ${proposal.domainRevision}` }),
          recordCard(subject),
        ])
      : card('What is voted on', ['The record of that time cannot be read.']),
  ]);
}

interface ActionContext {
  readonly me: Me;
  readonly path: string;
  /** Shows the proposal as it is afterwards. */
  readonly reload: () => void;
}

function actionCard({ status, proposer }: ProposalView, { me, path, reload }: ActionContext): HTMLElement | false {
  const notice = element('p', { class: 'notice', is: { role: 'alert' } });
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
    ...(status === 'passed' && can('operator') ? [button('Try again to execute', () => act('execute'))] : []),
  ];
  if (parts.length === 0) return false;
  return card('What you can do', [element('div', { class: 'actions' }, parts), notice]);
}

function ballot(cast: (vote: string, rationale: { rationale?: string }) => void): HTMLElement {
  const reason = element('input', {
    is: { 'aria-label': 'Your reason', placeholder: 'Your reason, if you like', maxlength: 1_000 },
  });
  const vote = (choice: string) => cast(choice, reason.value.trim() === '' ? {} : { rationale: reason.value.trim() });
  return element('div', { class: 'ballot', is: { role: 'group', 'aria-label': 'Your vote' } }, [
    reason,
    ...CHOICES.map((choice) =>
      button(choice[0]!.toUpperCase() + choice.slice(1), () => vote(choice), { class: 'primary' }),
    ),
  ]);
}
