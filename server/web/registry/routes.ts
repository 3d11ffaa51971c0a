// GET /registry: the page of twins and votes. It contains no data; its script requests /v1 with the reader's API key.

import { html } from '../../../lib/markup.ts';
import { PAGE_LIMITED } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { type PageContent, pageRoute } from '../kit/frame.ts';

const REGISTRY_PAGE: PageContent = {
  title: 'Registry · Twinline',
  style: 'registry.css',
  script: 'registry.js',
  layout: 'wide',
  body: html`<div id="registry" class="registry stack"></div>
<p id="said" class="hidden" role="status"></p>
<noscript><p class="card">The registry needs JavaScript. Without it, see <a href="/docs">the routes of domains</a>.</p></noscript>`,
};

export const REGISTRY_ROUTES: RouteGroup<unknown> = {
  tag: 'Pages for all',
  description: 'Pages without data of their own.',
  access: 'public',
  answers: { 429: PAGE_LIMITED },
  routes: [
    pageRoute({
      path: '/registry',
      id: 'getRegistry',
      summary: 'Twins and votes in a browser, for holders of an API key',
      page: () => REGISTRY_PAGE,
    }),
  ],
};
