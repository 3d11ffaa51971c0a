// The list of twins, with a search by name, type, status and property.

import { button, element } from '../element.ts';
import { askJson, type RecordPage, readName, type Twin } from './client.ts';

const STATUSES = ['Created', 'UnderReview', 'Verified', 'Rejected', 'Suspended', 'Revoked', 'Deactivated'];
const PAGE_SIZE = 25;
/** Empty pages to skip at a time: a selective search may scan many records. */
const EMPTY_PAGES = 40;

interface ListSearch {
  readonly words: string;
  readonly type: string;
  readonly status: string;
  readonly property: string;
}

/** Makes the query of `GET /v1/domains`. Throws an Error for a malformed property condition. */
export function makeQuery({ words, type, status, property }: ListSearch): URLSearchParams {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), sort: '-created' });
  if (type !== '') query.set('type', type);
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

/** The list with its search form. */
export function twinList(): HTMLElement {
  const words = element('input', {
    is: { type: 'search', 'aria-label': 'Name', placeholder: 'Words of a name, or prefixes' },
  });
  const type = element('input', { is: { 'aria-label': 'Type', placeholder: 'Type, such as Project' } });
  const status = element('select', { is: { 'aria-label': 'Status' } }, [
    element('option', { text: 'Any status', is: { value: '' } }),
    ...STATUSES.map((name) => element('option', { text: name })),
  ]);
  const property = element('input', { is: { 'aria-label': 'Property', placeholder: 'Property, such as stoves > 10' } });
  const rows = element('ul', { class: 'twins lined named' });
  const notice = element('p', { class: 'at', is: { role: 'status' } });
  const more = button('More', () => void read(), { is: { hidden: true } });
  let next: string | null = null;
  let query = new URLSearchParams();
  let searches = 0;

  async function search(event?: Event): Promise<void> {
    event?.preventDefault();
    rows.replaceChildren();
    next = null;
    try {
      query = makeQuery({
        words: words.value.trim(),
        type: type.value.trim(),
        status: status.value,
        property: property.value,
      });
    } catch (error) {
      notice.textContent = (error as Error).message;
      return;
    }
    await read();
  }

  async function read(): Promise<void> {
    const mine = ++searches;
    more.hidden = true;
    notice.textContent = 'Reading …';
    try {
      for (let pages = 0; pages < EMPTY_PAGES; pages++) {
        if (next !== null) query.set('cursor', next);
        const page = await askJson<RecordPage<Twin>>(`GET /v1/domains?${query}`);
        if (mine !== searches) return;
        next = page.next;
        rows.append(...page.items.map(twinRow));
        if (page.items.length > 0 || next === null) break;
      }
      notice.textContent = tellCount(rows.childElementCount, next === null);
      more.hidden = next === null;
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
  }

  void search();
  const form = element('form', { class: 'search row', on: { submit: search, change: search } }, [
    words,
    type,
    status,
    property,
    element('button', { class: 'primary', text: 'Search', is: { type: 'submit' } }),
  ]);
  return element('section', { class: 'card' }, [
    element('div', { class: 'row apart' }, [
      element('h1', { text: 'Registry' }),
      element('a', { text: 'Register a twin', is: { href: '#/new' } }),
    ]),
    form,
    notice,
    rows,
    more,
  ]);
}

function tellCount(count: number, isAll: boolean): string {
  if (count > 0) return `${count} shown${isAll ? ', no more' : ''}`;
  return isAll ? 'No matches.' : 'No matches so far. More continues the search.';
}

function twinRow(twin: Twin): HTMLElement {
  return element('li', { class: 'row' }, [
    element('a', { text: readName(twin), is: { href: `#/twin/${encodeURIComponent(twin.did)}` } }),
    element('span', { class: `badge ${twin.status}`, text: twin.status }),
    element('span', { class: 'at', text: twin.type }),
    element('span', { class: 'did', text: twin.did }),
  ]);
}
