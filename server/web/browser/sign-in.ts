// The sign-in form of operators: sends the token once, then reloads the requested page.

import { findElement } from './element.ts';
import { startHeader } from './site.ts';

startHeader();

const token = findElement<HTMLInputElement>('token');

findElement('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ token: token.value });
  const answer = await fetch('/operator/sign-in', { method: 'POST', headers, body }).catch(() => undefined);
  if (answer?.ok) return location.reload();
  const problem = (await answer?.json().catch(() => undefined)) as { error?: string } | undefined;
  findElement('notice').textContent = problem?.error ?? 'The server did not answer.';
  token.select();
});
