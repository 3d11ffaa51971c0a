// What stands above every tool: where the others are.

import { type Html, html } from './html.ts';

const TOOLS = [
  ['/simulator', 'Phones'],
  ['/chat', 'Chat'],
  ['/inspector', 'Inspector'],
  ['/docs', 'Docs'],
] as const;

/** The line of tools; `here` is the one that is open. */
export function toolHeader(here: string): Html {
  return html`<nav class="tools" aria-label="Tools"><strong>Twinline</strong>
${TOOLS.map(([path, name]) =>
  path === here ? html`<a href="${path}" aria-current="page">${name}</a>\n` : html`<a href="${path}">${name}</a>\n`,
)}</nav>`;
}
