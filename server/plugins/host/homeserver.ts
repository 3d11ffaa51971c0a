// The Matrix homeserver that a request names: what plugins may call is on the public internet, or it is left out.

import { isPublicHost, isPublicUrl } from '../../../lib/http/hosts.ts';

/** The URL or host name as it was given; undefined when it is none, or its text leads to a private place. */
export function publicHomeserver(given: string | undefined): string | undefined {
  if (given === undefined || given.length > 512) return undefined;
  const isPublic = /^https?:\/\//i.test(given)
    ? isPublicUrl(given)
    : /^[\w-]+(\.[\w-]+)+(:\d{1,5})?$/.test(given) && isPublicHost(given.replace(/:\d+$/, ''));
  return isPublic ? given : undefined;
}
