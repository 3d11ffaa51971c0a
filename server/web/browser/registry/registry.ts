// The registry: opens the page that the address names, and asks for the API key.

import { ProblemError } from '../../../../lib/client/errors.ts';
import { button, element, findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import { askJson, forgetKey, hasKey, keepKey, type Me } from './client.ts';
import { twinList } from './list.ts';
import { newTwin } from './new-twin.ts';
import { openProposals, proposalPage } from './proposals.ts';
import { card, twinPage } from './twin.ts';

startHeader();

const place = findElement('registry');
let me: Me | undefined;
let shown = 0;

/** Of an id, or of the query of the list. */
type MakePage = (id: string, me: Me) => HTMLElement | Promise<HTMLElement>;

const PAGES: { readonly [name: string]: MakePage } = {
  '': (query) => twinList(new URLSearchParams(query)),
  new: () => newTwin(),
  proposals: () => openProposals(),
  twin: (did, me) => twinPage(did, me),
  proposal: (id, me) => proposalPage(id, me, () => void show()),
};

async function show(): Promise<void> {
  const mine = ++shown;
  const [path = '', query = ''] = location.hash.slice(1).split('?');
  const [, name = '', id = ''] = path.split('/');
  const make = Object.hasOwn(PAGES, name) ? PAGES[name]! : PAGES['']!;
  try {
    if (!hasKey()) return put(mine, keyForm(''));
    me ??= await askJson<Me>('GET /v1/whoami');
    put(mine, whoBar(me), await make(name === '' ? query : decodeURIComponent(id), me));
  } catch (error) {
    const isRefused = error instanceof ProblemError && error.status === 401;
    if (isRefused) signOut('This server does not know the key.');
    else put(mine, card('The request failed', [(error as Error).message]));
  }
}

function put(mine: number, ...parts: readonly HTMLElement[]): void {
  if (mine !== shown) return;
  place.replaceChildren(...parts);
  const title = place.querySelector('h1')?.textContent ?? 'Registry';
  document.title = `${title}${title === 'Registry' ? '' : ' · Registry'} · Twinline`;
}

function signOut(words: string): void {
  forgetKey();
  me = undefined;
  place.replaceChildren(keyForm(words));
}

function whoBar({ principal, roles, tenant }: Me): HTMLElement {
  const words = `${principal} · ${roles.join(', ') || 'reads only'} · tenant ${tenant}`;
  return element('nav', { class: 'who row', is: { 'aria-label': 'You' } }, [
    element('a', { text: 'All twins', is: { href: '#/' } }),
    element('a', { text: 'Open proposals', is: { href: '#/proposals' } }),
    element('span', { class: 'at', text: words }),
    button('Forget the key', () => signOut(''), { class: 'small' }),
  ]);
}

function keyForm(words: string): HTMLElement {
  const key = element('input', {
    is: { type: 'password', autocomplete: 'off', required: true, id: 'key', 'aria-describedby': 'key-words' },
  });
  const enter = (event: Event) => {
    event.preventDefault();
    keepKey(key.value.trim());
    void show();
  };
  return card('Registry', [
    element('p', {
      text: 'Enter an API key of this server. The key stays in this tab until you close it or forget the key, and is sent to this server only.',
      is: { id: 'key-words' },
    }),
    element('form', { class: 'sign-in row', on: { submit: enter } }, [
      element('label', { class: 'stack grow' }, ['API key', key]),
      element('button', { class: 'primary', text: 'Open', is: { type: 'submit' } }),
    ]),
    element('p', { class: 'notice bad', text: words, is: { role: 'alert' } }),
  ]);
}

addEventListener('hashchange', () => {
  scrollTo(0, 0);
  void show();
});
void show();
