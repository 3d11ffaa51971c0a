// What the header of pages for operators does: it says that an edit of a menu is not served, and why, until it is; and signs out.

import { element } from './element.ts';

const ASK_MS = 3_000;
const SHOWN = 3;

async function ask(place: HTMLElement): Promise<void> {
  if (document.hidden) return;
  const answer = await fetch('/menus/refused').catch(() => undefined);
  if (!answer?.ok) return;
  const { problems } = (await answer.json()) as { problems: readonly string[] };
  const text = problems.join('\n');
  if (place.dataset.problems === text) return;
  place.dataset.problems = text;
  place.hidden = problems.length === 0;
  const more = problems.length - SHOWN;
  place.replaceChildren(
    element('strong', { class: 'bad', text: 'An edit is not served. Callers get the version before it.' }),
    ...problems.slice(0, SHOWN).map((line) => element('pre', { text: line })),
    ...(more > 0 ? [element('p', { text: `and ${more} more: npx twinline lint and test show all` })] : []),
  );
}

/** Asks now, every few seconds while the page is seen, and when it is seen again. */
function showRefusedEdits(place: HTMLElement): void {
  const askNow = () => void ask(place);
  askNow();
  setInterval(askNow, ASK_MS);
  document.addEventListener('visibilitychange', askNow);
}

async function signOut(): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch('/operator/sign-out', { method: 'POST', headers, body: '{}' }).catch(() => undefined);
  if (answer?.ok) location.assign('/');
}

/** Starts what the header of this page has. */
export function startHeader(): void {
  const refused = document.getElementById('refused');
  if (refused) showRefusedEdits(refused);
  document.getElementById('sign-out')?.addEventListener('click', () => void signOut());
}
