// GET /chat and the tokens that its page talks to the agent with, for operators only.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { mintInvocation } from '../../../lib/delegation/mint.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { ownPagesOnly } from '../../http/middleware/own-origin.ts';
import { sendPage } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { CHAT_PAGE } from './page.ts';
import { userKey } from './user-key.ts';

export interface ChatDeps {
  readonly operators: Middleware;
  readonly keyring: Keyring;
  /** The DID that tokens must name. */
  readonly audience: string;
  /** Seconds that the agent lets an invocation live. */
  readonly maxTtlSeconds: number;
}

const CAPABILITY = { can: '*', with: 'ixo:oracle' };

export function chatRoutes(router: Router, { operators, keyring, audience, maxTtlSeconds }: ChatDeps): void {
  const expiresIn = Math.min(PAGE_LIMITS.chatTokenSeconds, maxTtlSeconds);

  router.get('/chat', operators, (ctx) => sendPage(ctx, CHAT_PAGE));

  router.post('/chat/token', operators, ownPagesOnly(), async (ctx) => {
    const key = userKey(ctx, keyring);
    ctx.body = {
      token: await mintInvocation({ key, audience, expiresIn, capability: CAPABILITY }),
      did: key.did,
      expiresIn,
    };
  });
}
