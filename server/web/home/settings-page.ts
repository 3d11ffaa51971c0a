// GET /settings: every setting with what it comes to here and from where, for operators. Secrets are hidden.

import { html, type Markup } from '../../../lib/markup.ts';
import type { ShownSetting } from '../../config/secrets.ts';
import type { Route } from '../../http/route-table.ts';
import { type PageContent, pageRoute } from '../kit/frame.ts';

export interface SettingsDeps {
  readonly settings: readonly ShownSetting[];
}

export const SETTINGS_ROUTE: Route<SettingsDeps> = pageRoute({
  path: '/settings',
  id: 'getSettings',
  summary: 'What this server was started with; secrets are hidden',
  page: ({ settings }) => settingsPage(settings),
});

/** Those that were set come first: they are what differs from other servers. */
export function settingsPage(settings: readonly ShownSetting[]): PageContent {
  const set = settings.filter(({ source }) => source !== 'default');
  const others = settings.filter(({ source }) => source === 'default');
  return {
    title: 'Settings · Twinline',
    style: 'home.css',
    layout: 'wide',
    body: html`<section class="card"><h1>Settings</h1>
<p class="lead">Read once, at the start, from the environment of the server. What each is for in full: <a href="/docs/guides/operators#settings">Running a server</a>; the same in a terminal: <code>npx twinline config</code>.</p></section>
${part('Set here', set)}${part('By default', others)}`,
  };
}

function part(title: string, settings: readonly ShownSetting[]): Markup {
  return html`<section class="card"><h2>${title} <small>${settings.length}</small></h2>
<dl class="settings lined">${settings.map(entry)}</dl></section>`;
}

function entry({ name, value, source, usual, meaning }: ShownSetting): Markup {
  const from = source === 'default' || source === 'environment' ? '' : ` · ${source}`;
  const by = source === 'default' || usual === undefined ? '' : ` · default ${usual}`;
  return html`<div><dt><code>${name}</code></dt>
<dd>${value === undefined ? html`<span class="soft">not set</span>` : html`<code class="value">${value}</code>`}<span class="soft">${from}${by}</span></dd>
<dd class="soft">${meaning}</dd></div>\n`;
}
