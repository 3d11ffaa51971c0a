// Words of ours that have code in them.

import { html, type Markup } from '../../lib/markup.ts';

/** What stands between backticks is code. */
export function prose(text: string): Markup {
  return html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;
}
