// The list of twins, with a search by name or DID, type, status and property; the address has the search.

import { ProblemError } from '../../../../lib/client/errors.ts';
import { csvLine } from '../../../../lib/json/csv.ts';
import { button, download, element } from '../element.ts';
import { askJson, type RecordPage, readName, segment, type Twin, timeElement } from './client.ts';
import { TYPES } from './new-twin.ts';

const STATUSES = ['Created', 'UnderReview', 'Verified', 'Rejected', 'Suspended', 'Revoked', 'Deactivated'];
const SORTS: { readonly [sort: string]: string } = {
  '-created': 'Newest first',
  created: 'Oldest first',
  '-updated': 'Last changed first',
};
const [FIRST_SORT] = Object.keys(SORTS) as [string];
/** Twins of a request, and of one "More". */
const PAGE_SIZE = 200;
const ROWS = 25;
/** Twins of a CSV. */
const MOST_SAVED = 10_000;
/** Empty pages to skip at a time: a selective search may scan many records. */
const EMPTY_PAGES = 40;

interface ListSearch {
  readonly words: string;
  readonly type: string;
  readonly status: string;
  readonly property: string;
  readonly sort: string;
}

const FIELDS = ['words', 'type', 'status', 'property', 'sort'] as const;

/** Makes the query of `GET /v1/domains`. Throws an Error for a malformed property condition. */
export function makeQuery({ words, type, status, property, sort }: ListSearch): URLSearchParams {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), sort: Object.hasOwn(SORTS, sort) ? sort : FIRST_SORT });
  if (type !== '') query.set('type', type[0]!.toUpperCase() + type.slice(1));
  if (status !== '') query.set('status', status);
  if (words !== '') query.set('text', words);
  if (property !== '') query.set('filter', propertyCondition(property));
  return query;
}

const OPERATORS: { readonly [sign: string]: string } = { '=': 'eq', '>': 'gt', '<': 'lt', '>=': 'ge', '<=': 'le' };

function propertyCondition(text: string): string {
  const [, field, sign, value] = /^\s*([A-Za-z_][\w.-]*)\s*(>=|<=|=|>|<)\s*(.+?)\s*$/.exec(text) ?? [];
  if (field === undefined || sign === undefined || value === undefined)
    throw new Error('Write a property condition like stoves > 10 or place = Lusaka.');
  const isPlain = /^(-?\d+(\.\d+)?|true|false|null)$/.test(value);
  return `${OPERATORS[sign]}(properties.${field},${isPlain ? value : JSON.stringify(value)})`;
}

/** The list as the query of the address says, with its search form. */
export function twinList(address: URLSearchParams): HTMLElement {
  const fields = searchFields(address);
  const rows = element('ul', { class: 'twins lined named' });
  const notice = element('p', { class: 'at grow', is: { role: 'status' } });
  const more = button('More', () => void show(), { is: { hidden: true } });
  const save = button('Download CSV', () => void saveCsv(), { class: 'small', is: { hidden: true } });
  let found = findTwins(readFields(fields));
  let shown = 0;

  function search(event?: Event): void {
    event?.preventDefault();
    const chosen = readFields(fields);
    const query = new URLSearchParams(FIELDS.filter((name) => chosen[name] !== '').map((name) => [name, chosen[name]]));
    if (query.get('sort') === FIRST_SORT) query.delete('sort');
    const next = query.size ? `#/?${query}` : '#/';
    if (next === (location.hash || '#/')) return;
    history.pushState(null, '', next);
    rows.replaceChildren();
    shown = 0;
    found = findTwins(chosen);
    void show();
  }

  async function show(): Promise<void> {
    const mine = found;
    more.hidden = save.hidden = true;
    notice.textContent = 'Reading …';
    try {
      await mine.read(shown + ROWS);
      if (mine !== found) return;
      const { twins, isAll } = mine;
      rows.append(...twins.slice(shown, shown + ROWS).map(twinRow));
      shown = rows.childElementCount;
      notice.textContent = tellCount(shown, twins.length, isAll);
      more.hidden = isAll && shown === twins.length;
      save.hidden = twins.length === 0;
    } catch (error) {
      if (mine === found) notice.textContent = (error as Error).message;
    }
  }

  async function saveCsv(): Promise<void> {
    const mine = found;
    save.disabled = true;
    try {
      await mine.read(MOST_SAVED);
      const lines = mine.twins.map((twin) => COLUMNS.map((column) => readColumn(twin, column)));
      download(new Blob([[COLUMNS, ...lines].map(csvLine).join('')], { type: 'text/csv' }), 'twins.csv');
      if (!mine.isAll)
        notice.textContent = `The file has the first ${mine.twins.length}. Narrow the search for the others.`;
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
    save.disabled = false;
  }

  void show();
  return element('section', { class: 'card' }, [
    element('div', { class: 'row apart' }, [
      element('h1', { text: 'Registry' }),
      element('a', { text: 'Register a twin', is: { href: '#/new' } }),
    ]),
    element('form', { class: 'search row', on: { submit: search, change: search } }, [
      ...FIELDS.map((name) => fields[name]),
      typeList(),
      element('button', { class: 'primary', text: 'Search', is: { type: 'submit' } }),
    ]),
    element('div', { class: 'row' }, [notice, save]),
    rows,
    more,
  ]);
}

type SearchFields = { readonly [name in (typeof FIELDS)[number]]: HTMLInputElement | HTMLSelectElement };

function searchFields(address: URLSearchParams): SearchFields {
  const option = (value: string, text: string) => element('option', { text, is: { value } });
  const fields: SearchFields = {
    words: element('input', { is: { type: 'search', 'aria-label': 'Name or DID', placeholder: 'Name or DID' } }),
    type: element('input', { is: { 'aria-label': 'Type', placeholder: 'Type, such as Project', list: 'types' } }),
    status: element('select', { is: { 'aria-label': 'Status' } }, [
      option('', 'Any status'),
      ...STATUSES.map((name) => option(name, name)),
    ]),
    property: element('input', { is: { 'aria-label': 'Property', placeholder: 'Property, such as stoves > 10' } }),
    sort: element(
      'select',
      { is: { 'aria-label': 'Order' } },
      Object.entries(SORTS).map(([value, text]) => option(value, text)),
    ),
  };
  for (const name of FIELDS) fields[name].value = address.get(name) ?? (name === 'sort' ? FIRST_SORT : '');
  return fields;
}

function readFields(fields: SearchFields): ListSearch {
  const read = (name: (typeof FIELDS)[number]) => fields[name].value.trim();
  return {
    words: read('words'),
    type: read('type'),
    status: read('status'),
    property: read('property'),
    sort: read('sort'),
  };
}

interface FoundTwins {
  readonly twins: readonly Twin[];
  /** Whether there are no others. */
  readonly isAll: boolean;
  /** Reads until there are so many, or no others, or `EMPTY_PAGES` pages had nothing. Rejects like `ask`. */
  read(count: number): Promise<void>;
}

function findTwins(search: ListSearch): FoundTwins {
  const twins: Twin[] = [];
  const found = { twins, isAll: false, read };
  let next: string | null = null;
  async function read(count: number): Promise<void> {
    if (found.isAll) return;
    if (search.words.startsWith('did:')) {
      twins.push(...(await findByDid(search.words)));
      found.isAll = true;
      return;
    }
    const query = makeQuery(search);
    for (let empty = 0; twins.length < count && !found.isAll && empty < EMPTY_PAGES; ) {
      if (next !== null) query.set('cursor', next);
      const page: RecordPage<Twin> = await askJson(`GET /v1/domains?${query}`);
      next = page.next;
      found.isAll = next === null;
      twins.push(...page.items);
      if (page.items.length === 0) empty++;
    }
  }
  return found;
}

/** The twin, active or deactivated, or nothing. */
async function findByDid(did: string): Promise<Twin[]> {
  const path = `/v1/domains/${segment(did)}`;
  try {
    return [await askJson<Twin>(`GET ${path}`)];
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    if (error.status === 410)
      return [await askJson<Twin>(`GET ${path}?at=1`).then((first) => ({ ...first, status: 'Deactivated' }))];
    if (error.status === 404 || error.status === 400) return [];
    throw error;
  }
}

const typeList = () =>
  element(
    'datalist',
    { is: { id: 'types' } },
    TYPES.map((value) => element('option', { is: { value } })),
  );

const COLUMNS = ['did', 'name', 'type', 'status', 'protocol', 'created', 'updated', 'revision'] as const;

const readColumn = (twin: Twin, column: (typeof COLUMNS)[number]) =>
  String((column === 'name' ? twin.metadata.name : twin[column]) ?? '');

function tellCount(shown: number, count: number, isAll: boolean): string {
  if (count === 0) return isAll ? 'No matches.' : 'No matches so far. More continues the search.';
  return `${shown} of ${isAll ? '' : 'more than '}${count}`;
}

function twinRow(twin: Twin): HTMLElement {
  return element('li', { class: 'row' }, [
    element('a', { text: readName(twin), is: { href: `#/twin/${segment(twin.did)}` } }),
    element('span', { class: `badge ${twin.status}`, text: twin.status }),
    element('span', { class: 'at grow', text: twin.type }),
    element('span', { class: 'at' }, [timeElement(twin.created)]),
    element('span', { class: 'did', text: twin.did }),
  ]);
}
