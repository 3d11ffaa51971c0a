// The page at /: health, menus and links for operators, a welcome for everybody else. And GET /settings.

import type { Context } from 'koa';
import { html, type Markup } from '../../lib/markup.ts';
import type { ShownSetting } from '../config/secrets.ts';
import type { WrongClock } from '../health/clock-watch.ts';
import type { StoreHealth } from '../health/health.ts';
import { localUrl } from '../http/listen.ts';
import type { Route } from '../http/route-table.ts';
import type { HomeFacts, ServedMenu, Tested } from './home-facts.ts';
import { type PageContent, pageRoute, prefersHtml, sendPage } from './kit/frame.ts';
import { identifyReader, listTools, type SiteLink } from './kit/header.ts';
import { formatSpan } from './kit/time-words.ts';

export interface HomeOptions {
  readonly version: string;
  readonly environment: string;
  /** Base URL of this server. @default the address of the request */
  readonly publicUrl: string | undefined;
  readonly readFacts: () => Promise<HomeFacts>;
  /** Whether this server has pages for operators, possibly behind a sign-in. */
  readonly hasTools: boolean;
}

/** Returns a handler that answers `GET /` with a page if the client prefers HTML. It resolves to whether it answered. */
export function homeSender(options: HomeOptions): (ctx: Context) => Promise<boolean> {
  return async (ctx) => {
    ctx.vary('Accept');
    if (!prefersHtml(ctx)) return false;
    ctx.set('Cache-Control', 'no-store');
    await sendPage(ctx, await makeHome(ctx, options));
    return true;
  };
}

async function makeHome(ctx: Context, options: HomeOptions): Promise<PageContent> {
  const reader = await identifyReader(ctx);
  if (reader.kind === 'visitor') return publicHome(options);
  const url = options.publicUrl ?? localUrl(ctx.req.socket);
  return operatorHome(await options.readFacts(), { ...options, tools: listTools(ctx, reader), url });
}

function publicHome({ hasTools }: HomeOptions): PageContent {
  return {
    title: 'Twinline',
    style: 'home.css',
    body: html`<section class="card"><h1>Twinline is running</h1>
<p class="lead">It answers USSD dials, twins and votes, chats of an agent, and chain queries.</p>
${tiles([
  ['/docs/guides', 'Guides', 'how to write menus, run a server and use the engine'],
  ['/docs', 'API', 'every route, to be tried out'],
  ['/registry', 'Registry', 'twins, proposals and votes, with an API key'],
  ...(hasTools ? ([['/inspector', 'For operators', 'sign in to phones, chats and the inspector']] as const) : []),
])}</section>`,
  };
}

interface HomeFrame extends HomeOptions {
  readonly tools: readonly SiteLink[];
  /** Base URL of this server. */
  readonly url: string;
}

function operatorHome({ stores, wrongClocks, menus, machines, refused }: HomeFacts, frame: HomeFrame): PageContent {
  return {
    title: 'Twinline',
    style: 'home.css',
    layout: 'wide',
    body: html`<section class="card"><h1>Twinline <small>${frame.version} · ${frame.environment}</small></h1>
<ul class="row signs">${stores.map(storeLine)}${wrongClocks.map(clockLine)}
${signLine(refused.length === 0, describeEdits(refused.length))}
<li class="soft">Up for ${formatSpan(Math.floor(process.uptime()))} · <a href="/health">health</a></li></ul></section>
${menuCard(menus, frame)}
${machines.length ? machineCard(machines) : ''}
<section class="card"><h2>Dial</h2>
<p>A phone in the browser: <a href="/simulator">Phones</a>. In a terminal: <code>npx twinline chat</code>. As a telecom does:</p>
<pre>curl -s ${frame.url}/api/ussd -d sessionId=s1 -d serviceCode='*2233#' -d phoneNumber=+260971230001 -d text=</pre></section>
<section class="card"><h2>Where everything is</h2>
${tiles([...frame.tools.map(({ href, name }) => [href, name, ABOUT[href] ?? ''] as const), ...READING])}</section>`,
  };
}

const ABOUT: { readonly [href: string]: string } = {
  '/simulator': 'phones that dial the menus, with faults by button',
  '/studio': 'write, test and save menus',
  '/chat': 'chats with the agent',
  '/inspector': 'machines and sessions as they move',
};

const READING = [
  ['/registry', 'Registry', 'twins, proposals and votes, with an API key'],
  ['/settings', 'Settings', 'what this server was started with'],
  ['/docs/guides', 'Guides', 'menus, running a server, the engine, twins, agents'],
  ['/docs/flow-format', 'Flow format', 'every key of a menu, with examples'],
  ['/docs', 'API', 'every route, to be tried out'],
  ['/docs/errors', 'Errors', 'what went wrong, why, and what to do'],
  ['/docs/guides/operators', 'Running a server', 'settings, stores, keys, health, alerts'],
  ['/api/ussd/sessions', 'Sessions', 'living sessions as JSON'],
] as const;

function describeEdits(refused: number): string {
  if (refused === 0) return 'Every menu is served as it is written';
  return refused === 1 ? 'An edit is not served' : `${refused} problems keep edits from being served`;
}

function signLine(isFine: boolean, words: string): Markup {
  return html`<li${!isFine && html` class="bad"`}><span class="dot ${isFine ? 'live' : 'bad'}"></span>${words}</li>`;
}

const AWAY_WORDS: { readonly [away in NonNullable<StoreHealth['away']>]: string } = {
  refused: 'refuses connections',
  cut: 'cuts connections',
  'no-answer': 'does not answer',
  error: 'answers with errors',
  'refuses-writes': 'refuses writes',
  damaged: 'is damaged',
};

const KINDS: { readonly [kind: string]: string } = {
  lmdb: 'LMDB',
  mongo: 'MongoDB',
  redis: 'Redis',
  sqlite: 'SQLite',
};

function storeLine({ keeps, kind, away }: StoreHealth): Markup {
  const what = `${keeps === 'sessions' ? 'Sessions' : 'Documents'} in ${KINDS[kind] ?? kind}`;
  return signLine(
    away === undefined,
    away === undefined ? `${what}: all is well` : `${what}: the store ${AWAY_WORDS[away]}`,
  );
}

function clockLine({ kind, offsetSeconds }: WrongClock): Markup {
  const way = offsetSeconds < 0 ? 'behind' : 'ahead of';
  const words = `The clock of ${KINDS[kind] ?? kind} is ${Math.abs(Math.round(offsetSeconds))} s ${way} that of this machine`;
  return signLine(false, `${words}: one of them is wrong`);
}

function menuCard(menus: readonly ServedMenu[], { tools }: HomeFrame): Markup {
  const hasStudio = tools.some(({ href }) => href === '/studio');
  const rows = menus.map(
    ({ flow, version, screens, languages, tested }) =>
      html`<tr><th scope="row">${hasStudio ? html`<a href="/studio#${flow}">${flow}</a>` : flow}</th><td>${version}</td><td>${screens}</td>
<td>${languages.join(', ') || '–'}</td><td>${testWords(tested)}</td><td><a href="/inspector#machine=${flow}" aria-label="drawing of ${flow}">drawing</a></td></tr>\n`,
  );
  return html`<section class="card"><h2>Menus <small>${menus.length}</small></h2>
<div class="table" tabindex="0" role="region" aria-label="Menus"><table><thead><tr><th>Flow</th><th>Version</th><th>Screens</th><th>Languages</th><th>Tests</th><th></th></tr></thead><tbody>
${rows}</tbody></table></div></section>`;
}

function machineCard(machines: HomeFacts['machines']): Markup {
  const rows = machines.map(
    ({ id, version }) =>
      html`<tr><th scope="row">${id}</th><td>${version}</td><td><a href="/inspector#machine=${id}" aria-label="drawing of ${id}">drawing</a></td></tr>\n`,
  );
  return html`<section class="card"><h2>Machines of your own <small>${machines.length}</small></h2>
<div class="table" tabindex="0" role="region" aria-label="Machines of your own"><table><thead><tr><th>Machine</th><th>Version</th><th></th></tr></thead><tbody>
${rows}</tbody></table></div></section>`;
}

const NAMED = 3;

function testWords(tested: Tested): Markup {
  if (tested.kind === 'none') return html`<span class="at">none</span>`;
  if (tested.kind === 'unreadable')
    return html`<span class="dot bad"></span><span class="bad">the file cannot be read</span>`;
  const { count, failed } = tested;
  if (failed.length === 0) return html`<span class="dot live"></span>${count} passed`;
  const more = failed.length > NAMED ? ` and ${failed.length - NAMED} more` : '';
  return html`<span class="dot bad"></span><span class="bad">${failed.length} of ${count} fail: ${failed.slice(0, NAMED).join(', ')}${more}</span>`;
}

function tiles(links: readonly (readonly [href: string, name: string, about: string])[]): Markup {
  return html`<ul class="tiles">${links.map(([href, name, about]) => html`<li><a class="tile" href="${href}"><strong>${name}</strong><span>${about}</span></a></li>\n`)}</ul>`;
}

// --- GET /settings ---

export interface SettingsDeps {
  readonly settings: readonly ShownSetting[];
}

export const SETTINGS_ROUTE: Route<SettingsDeps> = pageRoute({
  path: '/settings',
  id: 'getSettings',
  summary: 'Settings that this server was started with; secrets are hidden',
  page: ({ settings }) => settingsPage(settings),
});

/** Settings that were set come first: they make this server different from others. */
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
