// The proposals that are not decided yet, the one that is over first before the others: what voters come for.

import { button, element } from '../element.ts';
import { askJson } from './client.ts';
import { formatTime, type ProposalView, type RecordPage } from './records.ts';
import { card } from './twin.ts';

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
