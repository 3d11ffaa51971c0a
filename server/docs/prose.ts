// Words of ours that have code in them.

import { type Html, html } from '../web/kit/html.ts';

/** What stands between backticks is code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;
}
