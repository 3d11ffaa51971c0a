// The history of a twin: who wrote each revision, and of every field that it changed what it was before and what it is since.

import { element, valueTree } from '../element.ts';
import { askJson } from './client.ts';
import { formatTime, type HistoryItem, type RecordPage, type Twin } from './records.ts';

const SHOWN = 20;

/** The last revisions; `path` is that of the twin. */
export function historyPath(path: string): string {
  return `GET ${path}/history?limit=${SHOWN}`;
}

export function historyList({ items, next }: RecordPage<HistoryItem>, path: string): (Node | false)[] {
  return [
    element(
      'ol',
      { class: 'history' },
      items.map((item) => historyRow(item, path)),
    ),
    next !== null && element('p', { class: 'at', text: `The last ${SHOWN}.` }),
  ];
}

function historyRow({ revision, at, by, action, changes }: HistoryItem, path: string): HTMLElement {
  const words = `${changes.length} ${changes.length === 1 ? 'field' : 'fields'}`;
  const fields = element(
    'dl',
    { class: 'record' },
    changes.flatMap((change) => showChange(change, undefined)),
  );
  const row = element('details', {}, [
    element('summary', {}, [
      `${revision}. ${action} `,
      element('span', { class: 'at', text: `${by}, ${formatTime(at)}, ${words}` }),
    ]),
    fields,
  ]);
  const open = async () => {
    // What a revision changes is known by its history; what was there before only by the revision before it.
    const before =
      revision === 1 ? undefined : await askJson<Twin>(`GET ${path}?at=${revision - 1}`).catch(() => undefined);
    fields.replaceChildren(...changes.flatMap((change) => showChange(change, before)));
  };
  row.addEventListener('toggle', () => void open(), { once: true });
  return element('li', {}, [row]);
}

function showChange({ op, path, value }: HistoryItem['changes'][number], before: Twin | undefined): HTMLElement[] {
  const was = before === undefined ? undefined : readPointer(before, path);
  const parts = [
    ...(was === undefined ? [] : [element('span', { class: 'was', is: { title: 'before' } }, [valueTree(was)]), ' → ']),
    op === 'remove' ? 'removed' : valueTree(value),
  ];
  return [element('dt', { text: path.slice(1).replaceAll('/', ' › ') }), element('dd', { class: 'change' }, parts)];
}

/** What stands at a JSON pointer; undefined where nothing does. */
function readPointer(record: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
      record,
    );
}
