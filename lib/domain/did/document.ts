// DID documents of twins and protocols, as the method did:ixo describes them. Nothing inherited, nothing made up.

import type { Json, JsonObject } from '../../store/store.ts';
import type { StoredProtocol } from '../protocol/protocol.ts';
import type { StoredDomain } from '../twin/record.ts';
import { isDid } from './did.ts';

export const DID_CONTEXTS = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/ixo/ns/did/v1'] as const;

/** The lists of a document, in which each item has an id. */
export const DOCUMENT_LISTS = ['service', 'linkedResource', 'linkedClaim', 'linkedEntity', 'accordedRight'] as const;

/** A DID document (DID Core): its ids are absolute, and lists without items are left out. */
export type DidDocument = JsonObject & {
  readonly id: string;
  readonly service?: readonly JsonObject[];
};

/** The document of a twin. Its `class` is the DID of its protocol. */
export function twinDocument(body: StoredDomain): DidDocument {
  const service = body.services.map(({ endpoint, ...rest }) => ({ ...rest, serviceEndpoint: endpoint! }));
  return documentOf({ ...body, service }, body.class);
}

/** The document of a protocol. Its `class` is the DID of the protocol that it descends from, if there is one. */
export function protocolDocument(body: StoredProtocol): DidDocument {
  return documentOf({ ...body, service: [] }, body.parent);
}

type Lists = { readonly [list in (typeof DOCUMENT_LISTS)[number]]: readonly JsonObject[] };
type Source = Lists & {
  readonly did: string;
  readonly controllers: readonly string[];
  readonly alsoKnownAs: readonly string[];
};

function documentOf(source: Source, parent: string | null): DidDocument {
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
    const filled = filledIn(value, did);
    const isRelative = POINTERS.has(name) && typeof filled === 'string' && filled.startsWith('#');
    return [name, isRelative ? did + filled : filled];
  });
  return Object.fromEntries(members);
}

/** `{id}` stands for the DID, as often as it occurs. */
function filledIn(value: Json, did: string): Json {
  if (typeof value === 'string') return value.replaceAll('{id}', did);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => filledIn(part, did));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, filledIn(part, did)]));
}
