// What went over the wire of one phone, the newest first, as a list for people.

import { element } from '../element.ts';
import type { Exchange } from './phone.ts';

/** Shows exchanges in the list; what is shown already stays as it is, opened or not. */
export function showLog(list: HTMLOListElement, log: readonly Exchange[]): void {
  const keys = new Set(log.map(keyOf));
  for (const item of [...list.children]) if (!keys.has((item as HTMLElement).dataset.key!)) item.remove();
  const shown = new Set([...list.children].map((item) => (item as HTMLElement).dataset.key));
  for (const exchange of log) if (!shown.has(keyOf(exchange))) list.prepend(entry(exchange));
}

const keyOf = ({ at, what, answer }: Exchange) => `${at} ${what} ${answer.length}`;

function entry(exchange: Exchange): HTMLLIElement {
  const { what, at, ms, fields, answer } = exchange;
  const parts = [
    element('span', { class: 'what', text: what }),
    element('code', { text: fields.text === undefined ? '' : `text=${fields.text}` }),
    element('span', { class: 'at', text: `${ms} ms` }),
  ];
  const sent = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  return element('li', { is: { 'data-key': keyOf(exchange) } }, [
    element('details', {}, [
      element('summary', {}, parts),
      element('p', { class: 'at', text: new Date(at).toLocaleTimeString() }),
      element('pre', { class: 'sent', text: sent.join('\n') }),
      element('pre', { text: answer }),
    ]),
  ]);
}
