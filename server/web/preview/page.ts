// The page of a preview: a phone, what it is, and until when. The token is behind the # of the address, which browsers send to nobody.

import { html } from '../../../lib/markup.ts';
import type { PageContent } from '../kit/frame.ts';

export const PREVIEW_PAGE: PageContent = {
  title: 'Preview of a menu · Twinline',
  style: 'preview.css',
  script: 'preview.js',
  isBare: true,
  body: html`<header><h1 id="title">Preview of a menu</h1>
<p id="about" class="quiet" role="status">Opening …</p></header>
<div class="preview card"><button id="dial" class="primary" type="button" disabled>Dial</button>
<div id="device" class="device"></div></div>
<p class="quiet">This is a draft: no real line, no money, no messages. Services answer with the samples of its tests, and nothing is kept.
Do not type a real PIN.</p>
<noscript><p class="card">The preview needs JavaScript.</p></noscript>`,
};
