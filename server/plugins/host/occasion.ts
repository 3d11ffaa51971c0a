// What is known of a request that plugins answer, or that their gates are asked about.

import type { Context } from 'koa';
import type { AgentUser } from '../../user/authenticate.ts';
import { zoneOf } from '../../user/time-zone.ts';
import type { Occasion } from '../plugin.ts';
import { publicHomeserver } from './homeserver.ts';

/** What is known of a request. On a public route no header says who asks. */
export function occasionOf(ctx: Pick<Context, 'state' | 'get' | 'method' | 'path'>): Occasion {
  const { user, requestId } = ctx.state as { user?: AgentUser; requestId?: string };
  const token = ctx.get('x-matrix-access-token');
  return {
    did: user?.did,
    requestId,
    timezone: zoneOf(ctx.get('x-timezone')),
    matrixAccessToken: user && token ? token : undefined,
    matrixHomeserver: publicHomeserver(ctx.get('x-matrix-homeserver') || undefined),
    method: ctx.method,
    path: ctx.path,
  };
}
