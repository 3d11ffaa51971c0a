// The page of a twin: record, related twins, history, proposals and actions.

import { ProblemError } from '../../../../lib/client/errors.ts';
import { button, download, element, valueTree } from '../element.ts';
import {
  ask,
  askJson,
  type HistoryItem,
  isTwinDid,
  type ListedProposal,
  type Me,
  protocolName,
  type RecordPage,
  readName,
  segment,
  type Twin,
  timeElement,
  twinLink,
} from './client.ts';

const KINDS: { readonly [status: string]: readonly string[] } = {
  Created: ['verify'],
  Rejected: ['verify'],
  Verified: ['suspend', 'revoke'],
  Suspended: ['reinstate', 'verify', 'revoke'],
  Revoked: ['verify'],
};
const PROPOSALS_SHOWN = 20;

/** The page of a twin, active or deactivated. Rejects like `ask`. */
export async function twinPage(did: string, me: Me): Promise<HTMLElement> {
  const path = `/v1/domains/${segment(did)}`;
  const read = Promise.all([
    askJson<Twin>(`GET ${path}`),
    askJson<RecordPage<HistoryItem>>(historyPath(path)),
    askJson<RecordPage<ListedProposal>>(`GET ${path}/proposals?limit=${PROPOSALS_SHOWN}`),
  ]);
  return read.then(
    ([twin, history, proposals]) => livingTwin({ twin, history, proposals }, me),
    (error) => {
      if (!(error instanceof ProblemError) || error.status !== GONE) throw error;
      return deactivatedTwin(did, path);
    },
  );
}

const GONE = 410;

/** The page of a deactivated twin: its history and last record. */
async function deactivatedTwin(did: string, path: string): Promise<HTMLElement> {
  const history = await askJson<RecordPage<HistoryItem>>(historyPath(path));
  const [end] = history.items;
  const last = end && (await askJson<Twin>(`GET ${path}?at=${end.revision - 1}`).catch(() => undefined));
  return element('div', { class: 'page stack' }, [
    element('header', { class: 'card' }, [
      element('p', { class: 'row' }, [element('span', { class: 'badge Deactivated', text: 'Deactivated' })]),
      element('h1', { text: last ? readName(last) : did }),
      element('p', { class: 'did', text: did }),
      element('p', {}, [
        'This twin was deactivated',
        ...(end ? [` by ${end.by}, `, timeElement(end.at)] : []),
        '. Its DID is not reused, and its history remains readable.',
      ]),
    ]),
    ...(last ? [recordCard(last, 'Last record')] : []),
    card('History', historyList(history, path)),
  ]);
}

interface LivingTwin {
  readonly twin: Twin;
  readonly history: RecordPage<HistoryItem>;
  readonly proposals: RecordPage<ListedProposal>;
}

function livingTwin({ twin, history, proposals }: LivingTwin, me: Me): HTMLElement {
  const path = `/v1/domains/${segment(twin.did)}`;
  const drawing = element('div', {
    class: 'drawing-box',
    text: 'Drawing …',
    is: { tabindex: 0, role: 'region', 'aria-label': 'Related twins' },
  });
  void showDrawing(drawing, path);
  return element('div', { class: 'page stack' }, [
    heading(twin, me),
    recordCard(twin),
    card('Related twins', [drawing]),
    card('Proposals', [
      proposals.items.length
        ? element(
            'ul',
            { class: 'twins lined named' },
            proposals.items.map((one) => proposalRow(one, `To ${one.kind} it`)),
          )
        : 'None.',
    ]),
    card('History', historyList(history, path)),
  ]);
}

function heading(twin: Twin, { roles }: Me): HTMLElement {
  const notice = element('p', { class: 'notice bad', is: { role: 'alert' } });
  const tell = (error: Error) => {
    notice.textContent = error.message;
  };
  const path = `/v1/domains/${segment(twin.did)}`;
  const propose = async (kind: string) => {
    const { id } = await askJson<ListedProposal>(`POST ${path}/proposals`, { body: { kind } });
    location.hash = `#/proposal/${id}`;
  };
  const proposing = roles.includes('representative') ? (KINDS[twin.status] ?? []) : [];
  return element('header', { class: 'card' }, [
    element('p', { class: 'row' }, [
      element('span', { class: `badge ${twin.status}`, text: twin.status }),
      element('span', { class: 'soft', text: twin.type }),
    ]),
    element('h1', { text: readName(twin) }),
    element('p', { class: 'did', text: twin.did }),
    twin.metadata.description !== undefined && element('p', { text: twin.metadata.description }),
    element('div', { class: 'row' }, [
      ...proposing.map((kind) =>
        button(`Propose to ${kind}`, () => void propose(kind).catch(tell), { class: 'primary' }),
      ),
      button('Card as a credential', () => void downloadCard(path, twin.did).catch(tell)),
    ]),
    notice,
  ]);
}

async function downloadCard(path: string, did: string): Promise<void> {
  const answer = await ask(`GET ${path}/card`, { headers: { Accept: 'application/vc' } });
  download(await answer.blob(), `${did.replaceAll(':', '-')}.vc.json`);
}

// Fields that the heading shows.
const ABOVE = new Set(['did', 'type', 'status', 'metadata', 'links', 'entityVerified']);
const isEmpty = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** The record of a twin as names and values, without empty ones. */
export function recordCard(twin: Twin, title = 'Record'): HTMLElement {
  const fields = Object.entries({ ...twin.metadata, ...twin }).filter(
    ([name, value]) =>
      !ABOVE.has(name) &&
      !(name === 'class' && value === twin.protocol) &&
      name !== 'name' &&
      name !== 'description' &&
      !isEmpty(value),
  );
  return card(title, [
    element(
      'dl',
      { class: 'record' },
      fields.flatMap(([name, value]) => [
        element('dt', { text: FIELD_WORDS[name] ?? name }),
        element('dd', {}, [recordValue(name, value)]),
      ]),
    ),
  ]);
}

function recordValue(name: string, value: unknown): Node {
  if (name === 'created' || name === 'updated') return timeElement(value as string);
  if ((name === 'protocol' || name === 'class') && typeof value === 'string') return protocolName(value);
  return valueTree(value, linkTwin);
}

const linkTwin = (text: string) => (isTwinDid(text) ? twinLink(text) : undefined);

const FIELD_WORDS: { readonly [field: string]: string } = {
  canonicalClass: 'class of twins',
  class: 'made from',
  classVersion: 'version of the protocol',
  controller: 'controlled by',
  alsoKnownAs: 'also known as',
  externalId: 'name elsewhere',
  validFrom: 'valid from',
  validUntil: 'valid until',
};

async function showDrawing(place: HTMLElement, path: string): Promise<void> {
  try {
    const answer = await ask(`GET ${path}/graph?direction=both`, { headers: { Accept: 'image/svg+xml' } });
    const parsed = new DOMParser().parseFromString(await answer.text(), 'image/svg+xml').documentElement;
    // An image has no links inside.
    parsed.setAttribute('role', 'group');
    place.replaceChildren(document.importNode(parsed, true));
    for (const state of place.querySelectorAll<SVGElement>('[data-state^="did:"]')) {
      const link = document.createElementNS('http://www.w3.org/2000/svg', 'a');
      link.setAttribute('href', `#/twin/${segment(state.dataset.state!)}`);
      state.replaceWith(link);
      link.append(state);
    }
  } catch (error) {
    place.textContent = (error as Error).message;
  }
}

/** A row of a list of proposals. */
export function proposalRow({ id, status, closesAt, proposer }: ListedProposal, title: string): HTMLElement {
  return element('li', { class: 'row' }, [
    element('a', { text: title, is: { href: `#/proposal/${id}` } }),
    element('span', { class: `badge ${status}`, text: status }),
    element('span', { class: 'at' }, [`by ${proposer}, closes `, timeElement(closesAt)]),
  ]);
}

/** A card with a title. */
export function card(title: string, parts: readonly (Node | string | false)[]): HTMLElement {
  return element('section', { class: 'card' }, [element('h2', { text: title }), ...parts]);
}

// --- history ------------------------------------------------------------

const SHOWN = 20;

/** Request line for the last revisions of the twin at `path`. */
export function historyPath(path: string): string {
  return `GET ${path}/history?limit=${SHOWN}`;
}

export function historyList({ items, next }: RecordPage<HistoryItem>, path: string): (Node | false)[] {
  return [
    element(
      'ol',
      { class: 'history lined' },
      items.map((item) => historyRow(item, path)),
    ),
    next !== null && element('p', { class: 'at', text: `The last ${SHOWN}.` }),
  ];
}

function historyRow({ revision, at, by, action, changes }: HistoryItem, path: string): HTMLElement {
  const count = changes.length > 0 && `, ${changes.length} ${changes.length === 1 ? 'field' : 'fields'}`;
  const fields = element(
    'dl',
    { class: 'record' },
    changes.flatMap((change) => showChange(change, undefined)),
  );
  const row = element('details', {}, [
    element('summary', {}, [
      `${revision}. ${action} `,
      element('span', { class: 'at' }, [`${by}, `, timeElement(at), count]),
    ]),
    fields,
  ]);
  const open = async () => {
    // The history has new values only; old ones come from the revision before.
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
    ...(was === undefined
      ? []
      : [element('span', { class: 'was soft', is: { title: 'before' } }, [valueTree(was)]), ' → ']),
    op === 'remove' ? 'removed' : valueTree(value),
  ];
  return [element('dt', { text: path.slice(1).replaceAll('/', ' › ') }), element('dd', { class: 'row' }, parts)];
}

/** The value at a JSON pointer, or undefined. */
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
