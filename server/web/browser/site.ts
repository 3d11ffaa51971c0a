// The header of pages for operators: shows menu edits that are not served, and signs out.

import { element } from './element.ts';
import { startSearch } from './search.ts';

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
    element('strong', { class: 'bad', text: 'An edit is not served. Callers get the previous version.' }),
    ...problems.slice(0, SHOWN).map((line) => element('pre', { text: line })),
    ...(more > 0 ? [element('p', { text: `and ${more} more; run npx twinline lint and npx twinline test` })] : []),
  );
}

/** Polls while the page is visible. */
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

/** Starts the header of the page. */
export function startHeader(): void {
  startSearch();
  const refused = document.getElementById('refused');
  if (refused) showRefusedEdits(refused);
  document.getElementById('sign-out')?.addEventListener('click', () => void signOut());
}
