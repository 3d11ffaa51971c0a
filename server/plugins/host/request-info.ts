// What plugins and their gates are told of a request. A Matrix homeserver is passed on only if it is a public address.

import type { Context } from 'koa';
import { isPublicHost, isPublicUrl } from '../../../lib/http/hosts.ts';
import type { AgentUser } from '../../user/authenticate.ts';
import { zoneOf } from '../../user/input.ts';
import type { RequestInfo } from '../plugin.ts';

/** What is known of a request. On a public route no header says who asks. */
export function requestInfo(ctx: Pick<Context, 'state' | 'get' | 'method' | 'path'>): RequestInfo {
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

/** The URL or host name as it was given; undefined when it is none, or its text leads to a private place. */
export function publicHomeserver(given: string | undefined): string | undefined {
  if (given === undefined || given.length > 512) return undefined;
  const isPublic = /^https?:\/\//i.test(given)
    ? isPublicUrl(given)
    : /^[\w-]+(\.[\w-]+)+(:\d{1,5})?$/.test(given) && isPublicHost(given.replace(/:\d+$/, ''));
  return isPublic ? given : undefined;
}
