// The page for chats with the agent; its script fills it.

import { html } from '../../../lib/markup.ts';
import { type Page, toolHeader } from '../kit/frame.ts';

export const CHAT_PAGE: Page = {
  title: 'Chat · Twinline',
  layout: 'wide',
  style: 'chat.css',
  script: 'chat.js',
  body: html`${toolHeader('/chat')}
<div class="chat card">
<aside class="side" aria-label="Chats">
<button id="new" class="primary" type="button">New chat</button>
<ul id="sessions" class="sessions"></ul>
<button id="more" type="button" hidden>Older chats</button>
<p id="user" class="user"></p>
</aside>
<section class="thread" aria-label="Messages">
<h1 id="title" class="title">New chat</h1>
<div id="messages" class="messages" tabindex="0" aria-label="Messages"></div>
<p id="trouble" class="trouble" role="alert" hidden></p>
<p id="state" class="state" role="status"></p>
<form id="composer" class="composer">
<label class="unseen" for="message">Your message</label>
<textarea id="message" rows="1" placeholder="Your message" required></textarea>
<button id="send" class="primary" type="submit">Send</button>
<button id="abort" type="button" hidden>Stop</button>
</form>
</section>
</div>
<noscript><p class="card">Chats need JavaScript. Without it, see <a href="/docs">the routes of the agent</a>.</p></noscript>`,
};
