// Following a DID URL into a document: the services that it selects, their addresses, or the part that it names.

import { isPublicUrl } from '../../http/hosts.ts';
import type { JsonObject } from '../../store/store.ts';
import { type DidDocument, DOCUMENT_LISTS } from './document.ts';
import { type Failed, failed, type ResolutionOptions } from './resolution-options.ts';

/** A document with nothing but the selected services, and their addresses as far as these are public. */
export interface Selection {
  readonly document: DidDocument;
  readonly endpoints: readonly string[];
}

/** What `service`, `serviceType` and `relativeRef` select; the fragment of the DID URL goes on to the addresses. */
export function selectServices(
  document: DidDocument,
  { service, serviceType, relativeRef }: ResolutionOptions,
  fragment: string,
): Selection | Failed {
  const id = service === undefined ? undefined : absoluteId(document.id, service);
  const selected = (document.service ?? []).filter(
    (one) => (id === undefined || one.id === id) && (serviceType === undefined || one.type === serviceType),
  );
  const endpoints: string[] = [];
  for (const { serviceEndpoint } of selected) {
    const endpoint = below(String(serviceEndpoint), relativeRef);
    if (endpoint === undefined)
      return failed('INVALID_DID_URL', `relativeRef=${JSON.stringify(relativeRef)} leads out of the service.`);
    if (fragment !== '' && endpoint.includes('#'))
      return failed('INVALID_DID_URL', 'The address of the service has a fragment of its own.');
    // Everything stored was checked; what it has been joined with was not.
    if (isPublicUrl(endpoint)) endpoints.push(fragment === '' ? endpoint : `${endpoint}#${fragment}`);
  }
  const { service: _all, ...rest } = document;
  return { document: { ...rest, service: selected } as DidDocument, endpoints };
}

/** The item of the document that a fragment names. */
export function partOf(document: DidDocument, fragment: string): JsonObject | undefined {
  const id = `${document.id}#${fragment}`;
  const items = DOCUMENT_LISTS.flatMap((list) => (document[list] ?? []) as readonly JsonObject[]);
  return items.find((item) => item.id === id);
}

// `data` and `#data` are the same service of this document.
function absoluteId(did: string, service: string): string {
  if (service.startsWith('#')) return did + service;
  return /^[a-z][a-z0-9+.-]*:/i.test(service) ? service : `${did}#${service}`;
}

/** The address with the reference resolved against it (RFC 3986, 5), which must stay in the same folder. */
function below(endpoint: string, relativeRef: string | undefined): string | undefined {
  if (relativeRef === undefined) return endpoint;
  if (!URL.canParse(relativeRef, endpoint) || climbs(relativeRef)) return undefined;
  const base = new URL(endpoint);
  const url = new URL(relativeRef, base);
  const folder = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1);
  const stays = url.protocol === base.protocol && url.host === base.host && url.pathname.startsWith(folder);
  return stays && !url.username && !url.password ? url.href : undefined;
}

// However often it is escaped: the server behind the address may decode it again.
function climbs(reference: string): boolean {
  let text = reference;
  for (let times = 0; times < 8; times++) {
    if (/(^|[/\\?#])\.\.([/\\?#]|$)|\\/.test(text)) return true;
    const decoded = text.replace(/%(2e|2f|5c|25)/gi, (code) => decodeURIComponent(code));
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}
