// Finds calls of HTTP services to hosts that the server does not allow, where the address says the host before the call.

import { parseHosts } from '../../http/host-list.ts';
import { pointerTo } from '../format/source.ts';
import { findText, type Value } from '../format/way.ts';
import { listServiceUses } from '../screens/kinds.ts';
import { formatNames, type Lint, type RuleFinding } from './rule.ts';

export function* findRefusedHosts({ flow, serviceHosts }: Lint): Iterable<RuleFinding> {
  const findReach = serviceHosts && tryHosts(serviceHosts);
  if (!findReach) return;
  for (const [id, screen] of Object.entries(flow.screens))
    for (const { steps, service, with: values = {} } of listServiceUses(screen)) {
      const url = service.startsWith('http.') ? readUrl(values.url ?? null) : undefined;
      if (!url || findReach(url)) continue;
      const allowed = serviceHosts.length ? `allows ${formatNames(serviceHosts)} only` : 'allows no host';
      const message = `Screen "${id}" calls ${url.host}, and SERVICE_HTTP_HOSTS ${allowed}: the call always fails.`;
      const fix = `Add ${url.host} to SERVICE_HTTP_HOSTS, or call another host.`;
      yield { pointer: pointerTo('screens', id, ...steps, 'with', 'url'), message, fix };
    }
}

// A list that cannot be read is told at the start of the server.
function tryHosts(hosts: readonly string[]): ReturnType<typeof parseHosts> | undefined {
  try {
    return parseHosts(hosts);
  } catch {
    return undefined;
  }
}

const FIXED_START = /^(?:=\s*')?(https?:\/\/[^/'"{}\s?#]+)(?:[/?#]|'?$)/;

/** The origin of an address, where its text or the first constant of its expression has all of it. */
function readUrl(value: Value): URL | undefined {
  const text = findText(value) ?? value;
  const source = typeof text === 'object' && text !== null ? Object.values(text)[0] : text;
  const [, origin] = (typeof source === 'string' && FIXED_START.exec(source)) || [];
  return origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
}
