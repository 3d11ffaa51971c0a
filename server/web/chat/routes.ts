// GET /chat and the tokens that its page talks to the agent with, for operators only.

import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { JSON_BODY_ANSWERS, jsonTypes, PAGE } from '../../http/common-answers.ts';
import type { Route } from '../../http/route-table.ts';
import { sendPage } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { CHAT_PAGE } from './page.ts';
import { userKey } from './user-key.ts';

export interface ChatDeps {
  readonly keyring: Keyring;
  /** The DID that tokens must name. */
  readonly audience: string;
  /** Seconds that the agent lets an invocation live. */
  readonly maxTtlSeconds: number;
}

const CAPABILITY = { can: '*', with: 'ixo:oracle' };

const TEXT: Schema = { type: 'string' };

export const CHAT_ROUTES: readonly Route<ChatDeps>[] = [
  {
    method: 'GET',
    path: '/chat',
    id: 'getChat',
    summary: 'Chats with the agent',
    answers: { 200: PAGE },
    handle: (ctx) => sendPage(ctx, CHAT_PAGE),
  },
  {
    method: 'POST',
    path: '/chat/token',
    id: 'makeChatToken',
    summary: 'An invocation of the agent service for this browser',
    description: 'Only the page of chats may ask. A cookie that no script reads makes the browser the same user again.',
    body: { types: jsonTypes({ type: 'object' }) },
    answers: {
      200: {
        description: 'The token',
        types: jsonTypes(
          record('A token', { token: TEXT, did: TEXT, expiresIn: { type: 'integer', description: 'Seconds' } }),
        ),
        headers: { 'Set-Cookie': 'Who the browser is' },
      },
      ...JSON_BODY_ANSWERS,
    },
    ownPages: true,
    handle: async (ctx, { keyring, audience, maxTtlSeconds }) => {
      const key = userKey(ctx, keyring);
      const expiresIn = Math.min(PAGE_LIMITS.chatTokenSeconds, maxTtlSeconds);
      const token = await mintInvocation({ key, audience, expiresIn, capability: CAPABILITY });
      ctx.body = { token, did: key.did, expiresIn };
    },
  },
];
