// GET /chat and the tokens its page sends to the agent service. Operators only. Each browser has its own key.

import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { makeOracleKey, type OracleKey } from '../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../lib/delegation/tokens.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import { hmacSha256, type Keyring } from '../../lib/keyring.ts';
import { html } from '../../lib/markup.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../http/common-answers.ts';
import type { Route } from '../http/route-table.ts';
import { type PageContent, pageRoute } from './kit/frame.ts';
import { siteCookie } from './kit/passes.ts';
import { PAGE_LIMITS } from './limits.ts';

export interface ChatDeps {
  readonly keyring: Keyring;
  /** How browsers reach this server. @default the Host of each request */
  readonly publicUrl: string | undefined;
  /** Audience of the tokens. */
  readonly audience: string;
  /** Longest lifetime of an invocation that the agent accepts, in seconds. */
  readonly maxTtlSeconds: number;
  /** Who writes the replies. */
  readonly writer: 'flow' | 'model';
}

const CAPABILITY = { can: '*', with: 'ixo:oracle' };

const TEXT: Schema = { type: 'string' };

/** The page. The writer decides how it shows replies. */
export const chatPage = (writer: ChatDeps['writer']): PageContent => ({
  title: 'Chat · Twinline',
  layout: 'full',
  style: 'chat.css',
  script: 'chat.js',
  body: html`<div class="chat card">
<aside class="side" aria-label="Chats">
<button id="new" class="primary" type="button">New chat</button>
<ul id="sessions" class="sessions stack"></ul>
<button id="more" type="button" hidden>Older chats</button>
<p id="user" class="quiet"></p>
</aside>
<section class="thread" aria-label="Messages">
<h1 id="title" class="title">New chat</h1>
<div id="messages" class="messages" data-writer="${writer}" tabindex="0" aria-label="Messages"></div>
<p id="trouble" class="trouble bad" role="alert" hidden></p>
<p id="state" class="state quiet" role="status"></p>
<form id="composer" class="composer row">
<label class="hidden" for="message">Your message</label>
<textarea id="message" class="grow" rows="1" placeholder="Your message" required></textarea>
<button id="send" class="primary" type="submit">Send</button>
<button id="abort" type="button" hidden>Stop</button>
</form>
</section>
</div>
<noscript><p class="card">Chats need JavaScript. Without it, see <a href="/docs">the routes of the agent</a>.</p></noscript>`,
});

export const CHAT_ROUTES: readonly Route<ChatDeps>[] = [
  pageRoute({
    path: '/chat',
    id: 'getChat',
    summary: 'Chat with the agent',
    page: ({ writer }) => chatPage(writer),
  }),
  {
    method: 'POST',
    path: '/chat/token',
    id: 'makeChatToken',
    summary: 'Make an invocation of the agent service for this browser',
    description: 'For the chat page only. An HttpOnly cookie makes the browser the same user the next time.',
    body: { types: jsonTypes({ type: 'object' }), example: {} },
    answers: {
      200: {
        description: 'The token',
        types: jsonTypes(
          record('A token', { token: TEXT, did: TEXT, expiresIn: { type: 'integer', description: 'Seconds' } }),
        ),
        headers: { 'Set-Cookie': 'Identifies the browser' },
      },
      ...JSON_BODY_ANSWERS,
    },
    ownPages: true,
    handle: async (ctx, { keyring, audience, maxTtlSeconds, publicUrl }) => {
      const key = userKey(ctx, { keyring, publicUrl });
      const expiresIn = Math.min(PAGE_LIMITS.chatTokenSeconds, maxTtlSeconds);
      const token = await mintInvocation({ key, audience, expiresIn, capability: CAPABILITY });
      ctx.body = { token, did: key.did, expiresIn };
    },
  },
];

const USER = /^([\w-]{43})\.([\w.-]{1,32})$/;

/** The key of the browser, from its cookie. A browser without one, or with one of a retired key, becomes a new user. */
export function userKey(ctx: Context, { keyring, publicUrl }: Pick<ChatDeps, 'keyring' | 'publicUrl'>): OracleKey {
  const cookie = siteCookie('twinline-chat', { publicUrl, path: '/chat' });
  const [, cookieId, kid] = USER.exec(cookie.read(ctx.req.headers) ?? '') ?? [];
  const isKept = cookieId !== undefined && keyring.ids.includes(kid!);
  const id = isKept ? cookieId : randomBytes(32).toString('base64url');
  const from = isKept ? kid! : keyring.active;
  cookie.write(ctx, `${id}.${from}`, PAGE_LIMITS.chatUserSeconds);
  return makeOracleKey(Buffer.from(hmacSha256(keyring.subkey('chat-user/v1', from)!, id), 'base64url'));
}
