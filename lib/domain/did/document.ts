// DID documents of twins and protocols, as the method did:ixo describes them, and the parts that a DID URL selects in them.

import { isPublicUrl } from '../../http/hosts.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { StoredProtocol } from '../twin/protocol.ts';
import { INHERITED, type StoredDomain } from '../twin/record.ts';
import { isDid } from './did.ts';
import { type Failed, makeFailure, type ResolutionOptions } from './resolution-options.ts';

const DID_CONTEXTS = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/ixo/ns/did/v1'] as const;

/** The lists of a document, in which each item has an id. */
const DOCUMENT_LISTS = ['service', ...INHERITED] as const;

/** A DID document (DID Core): its ids are absolute, and lists without items are left out. */
export type DidDocument = JsonObject & {
  readonly id: string;
  readonly service?: readonly JsonObject[];
};

/** The document of a twin. Its `class` is the DID of its protocol. */
export function twinDocument(body: StoredDomain): DidDocument {
  const service = body.services.map(({ endpoint, ...rest }) => ({ ...rest, serviceEndpoint: endpoint! }));
  return makeDocument({ ...body, service }, body.class);
}

/** The document of a protocol. Its `class` is the DID of the protocol that it descends from, if there is one. */
export function protocolDocument(body: StoredProtocol): DidDocument {
  return makeDocument({ ...body, service: [] }, body.parent);
}

type Lists = { readonly [list in (typeof DOCUMENT_LISTS)[number]]: readonly JsonObject[] };
type DocumentSource = Lists & {
  readonly did: string;
  readonly controllers: readonly string[];
  readonly alsoKnownAs: readonly string[];
};

function makeDocument(source: DocumentSource, parent: string | null): DidDocument {
  const { did, alsoKnownAs } = source;
  // A DID URL such as did:ixo:org/operator may control a twin here; in a DID document only a DID may.
  const controller = source.controllers.filter(isDid);
  const lists = DOCUMENT_LISTS.map((list) => [list, source[list].map((item) => absolute(item, did))] as const);
  return {
    '@context': DID_CONTEXTS,
    id: did,
    ...(controller.length && { controller }),
    ...(alsoKnownAs.length && { alsoKnownAs }),
    ...(parent !== null && { class: parent }),
    ...Object.fromEntries(lists.filter(([, items]) => items.length)),
  };
}

// Members that point into the document.
const POINTERS = new Set(['id', 'service']);

function absolute(item: JsonObject, did: string): JsonObject {
  const members = Object.entries(item).map(([name, value]) => {
    const filled = fillInDid(value, did);
    const isRelative = POINTERS.has(name) && typeof filled === 'string' && filled.startsWith('#');
    return [name, isRelative ? did + filled : filled];
  });
  return Object.fromEntries(members);
}

/** `{id}` stands for the DID, as often as it occurs. */
function fillInDid(value: Json, did: string): Json {
  if (typeof value === 'string') return value.replaceAll('{id}', did);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => fillInDid(part, did));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fillInDid(part, did)]));
}

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
  const leadsOut = relativeRef !== undefined && climbs(relativeRef);
  for (const { serviceEndpoint } of selected) {
    const endpoint = leadsOut ? undefined : below(String(serviceEndpoint), relativeRef);
    if (endpoint === undefined)
      return makeFailure('INVALID_DID_URL', `relativeRef=${JSON.stringify(relativeRef)} leads out of the service.`);
    if (fragment !== '' && endpoint.includes('#'))
      return makeFailure('INVALID_DID_URL', 'The address of the service has a fragment of its own.');
    // Everything stored was checked; what it has been joined with was not.
    if (isPublicUrl(endpoint)) endpoints.push(fragment === '' ? endpoint : `${endpoint}#${fragment}`);
  }
  const { service: _all, ...rest } = document;
  return { document: { ...rest, service: selected } as DidDocument, endpoints };
}

/** The item of the document that a fragment names. */
export function findPart(document: DidDocument, fragment: string): JsonObject | undefined {
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
  if (!URL.canParse(relativeRef, endpoint)) return undefined;
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
