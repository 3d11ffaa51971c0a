// Keys of issuers that are not did:key, read from the DID documents of did:web and did:ixo. Cached, with bounds on
// time, number and size.

import { base58btc } from '@ucanto/core/link';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { type HttpExchange, httpExchange, type SenderOptions } from '../http/client.ts';
import { parseHosts } from '../http/host-list.ts';
import { guardedLookup, type Resolve, systemResolve } from '../http/hosts.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import { didMethod, ed25519Did, issuerKey } from './principal.ts';
import type { IssuerKeys } from './ucan.ts';

/**
 * Finds the keys a DID may sign with, each as did:key. Rejects when it cannot; `signal` aborts on timeout. The sender
 * chooses the host of a did:web, so the resolver itself must refuse private addresses.
 */
export type ResolveKeys = (did: string, signal: AbortSignal) => Promise<readonly string[]>;

interface CachedKeys {
  readonly keys: Promise<readonly string[] | undefined>;
  /** Expiry by `clock.monotonic`; Infinity while the lookup is in flight. */
  until: number;
}

/** Coalesces concurrent lookups of a DID, and caches failures for half a minute so that no host is flooded. */
export function issuerKeys(methods: { readonly [method: string]: ResolveKeys }, clock: Clock): IssuerKeys {
  const cache = new LRUCache<string, CachedKeys>({ max: DELEGATION_LIMITS.issuerKeysKept });
  let running = 0;

  const look = async (resolve: ResolveKeys, did: string): Promise<readonly string[] | undefined> => {
    const over = new AbortController();
    const late = clock.wait(DELEGATION_LIMITS.issuerKeysMs, over.signal).then(() => undefined);
    try {
      return (await Promise.race([resolve(did, over.signal), late]))?.slice(0, DELEGATION_LIMITS.keysPerIssuer);
    } catch {
      return undefined;
    } finally {
      over.abort();
    }
  };

  return async (did) => {
    const resolve = Object.hasOwn(methods, didMethod(did)) ? methods[didMethod(did)] : undefined;
    const cached = cache.get(did);
    if (cached && cached.until > clock.monotonic()) return cached.keys;
    if (!resolve || running >= DELEGATION_LIMITS.issuersAtOnce) return undefined;
    running++;
    const entry: CachedKeys = { keys: look(resolve, did), until: Infinity };
    cache.set(did, entry);
    const keys = await entry.keys;
    running--;
    entry.until =
      clock.monotonic() + (keys ? DELEGATION_LIMITS.issuerKeysFreshMs : DELEGATION_LIMITS.issuerKeysFailedMs);
    return keys;
  };
}

type DocumentFields = { readonly [name: string]: unknown };

// Relations that allow acting or logging in as the subject. A document without any of them allows all its keys.
const RELATIONS = ['authentication', 'capabilityInvocation', 'capabilityDelegation'];

/**
 * The keys of `document`, each as did:key and at most 8; undefined when it is not the document of `did`. Skips unsupported
 * kinds of key.
 * @example
 * const document = { id: 'did:web:tea.example', verificationMethod: [] };
 * didDocumentKeys('did:web:tea.example', document); // → []
 */
export function didDocumentKeys(did: string, document: unknown): readonly string[] | undefined {
  if (!isFields(document) || document.id !== did) return undefined;
  const methods = toList(document.verificationMethod);
  const related = RELATIONS.flatMap((name) => toList(document[name]));
  const readId = (id: unknown): string => (typeof id === 'string' && id.startsWith('#') ? did + id : String(id));
  const chosen = related.flatMap((one) =>
    isFields(one) ? [one] : methods.filter((method) => isFields(method) && readId(method.id) === readId(one)),
  );
  const keys = (related.length > 0 ? chosen : methods).map((one) => (isFields(one) ? readKey(one) : undefined));
  const usable = keys.filter((key) => key !== undefined && issuerKey(key) !== undefined);
  return [...new Set(usable as string[])].slice(0, DELEGATION_LIMITS.keysPerIssuer);
}

function readKey({ publicKeyMultibase, publicKeyJwk, publicKeyBase58 }: DocumentFields): string | undefined {
  if (typeof publicKeyMultibase === 'string') return `did:key:${publicKeyMultibase}`;
  if (typeof publicKeyBase58 === 'string') return rawKey(publicKeyBase58, (text) => base58btc.baseDecode(text));
  const { kty, crv, x } = isFields(publicKeyJwk) ? publicKeyJwk : {};
  const isEd25519 = kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string';
  return isEd25519 ? rawKey(x, (text) => Buffer.from(text, 'base64url')) : undefined;
}

function rawKey(text: string, decode: (text: string) => Uint8Array): string | undefined {
  try {
    const raw = text.length <= DELEGATION_LIMITS.resourceChars ? decode(text) : Buffer.of();
    return raw.length === 32 ? ed25519Did(raw) : undefined;
  } catch {
    return undefined;
  }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 64) : [];
}

function isFields(value: unknown): value is DocumentFields {
  return typeof value === 'object' && value !== null;
}

/** Options of `didWebKeys`. */
export interface DidWebOptions extends Pick<SenderOptions, 'lookup' | 'ca'> {
  /** Sends the request; for tests. */
  readonly exchange?: HttpExchange;
  /** Resolves a host to all its addresses; for tests. Unless every one is public, no request is sent. */
  readonly resolve?: Resolve;
  /** Allow list: `host`, `host:port`, `*.example.com`. @default every public host */
  readonly hosts?: readonly string[];
}

// A dotted name that does not end in a number: neither an IP address nor `localhost`.
const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * Finds keys by did:web over HTTPS. Throws ERR_CONFIG for an invalid `hosts` entry; rejects with ERR_SERVICE or
 * ERR_TIMEOUT when the document cannot be fetched or used.
 * @example
 * const guard = tokenGuard({ audience: 'did:web:tea.example', methods: { web: didWebKeys() } });
 * (await guard.checkInvocation('?')).ok; // → false
 */
export function didWebKeys(options: DidWebOptions = {}): ResolveKeys {
  const { exchange = httpExchange(options), resolve = systemResolve, hosts } = options;
  const { lookup = guardedLookup(resolve, 'public') } = options;
  const isListed = hosts && parseHosts(hosts);
  return async (did, signal) => {
    const url = didWebUrl(did);
    if (!url) throw unusable(did, 'it does not name a valid host and path');
    if (isListed && !isListed(url)) throw unusable(did, `${url.host} is not in the list of allowed hosts`);
    const headers = { accept: 'application/did+json, application/json' };
    const { text } = await exchange({ method: 'GET', url, headers }, { lookup, signal });
    const keys = didDocumentKeys(did, parseJson(text));
    if (!keys) throw unusable(did, `${url.origin}${url.pathname} is not a DID document of that DID`);
    return keys;
  };
}

/**
 * The URL of a did:web document; undefined when the text is not a did:web or names an IP address.
 * @example
 * didWebUrl('did:web:tea.example')?.href; // → 'https://tea.example/.well-known/did.json'
 * didWebUrl('did:key:z6Mk'); // → undefined
 */
export function didWebUrl(did: string): URL | undefined {
  const [host = '', ...path] = did.startsWith('did:web:') ? did.slice('did:web:'.length).split(':') : [];
  const [, name = '', port] = /^([^%]*)(?:%3A(\d{1,5}))?$/.exec(host) ?? [];
  const plain = path.every((part) => /^[\w.-]+$/.test(part) && part !== '.' && part !== '..');
  if (!HOST.test(name) || !plain || Number(port ?? 443) > 65_535) return undefined;
  const place = path.length > 0 ? path.join('/') : '.well-known';
  return new URL(`https://${name}:${port ?? 443}/${place}/did.json`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(did: string, problem: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', `Cannot find the keys of ${did}: ${problem}.`);
}

/** Options of `didIxoKeys`. */
export interface DidIxoOptions {
  /** The GraphQL endpoint, chosen by the operator. */
  readonly url: URL;
  /** Sends the request; for tests. */
  readonly exchange?: HttpExchange;
  /** Resolves a host to all its addresses; for tests. */
  readonly resolve?: Resolve;
}

const QUERY =
  'query Keys($did: String!) { iids(filter: { id: { equalTo: $did } }, first: 1) { nodes { id verificationMethod authentication } } }';
const DID_IXO = /^did:ixo:[\w.:-]{1,200}$/;

/**
 * Finds keys by did:ixo. Rejects with ERR_SERVICE or ERR_TIMEOUT when the service does not return them.
 * @example
 * const resolve = didIxoKeys({ url: new URL('https://resolver.example/1.0/identifiers/') });
 * typeof resolve; // → 'function'
 */
export function didIxoKeys(options: DidIxoOptions): ResolveKeys {
  requireGiven('find keys by did:ixo', options, { url: 'object' });
  const { url, exchange = httpExchange(), resolve = systemResolve } = options;
  const lookup = guardedLookup(resolve, parseHosts([url.host])(url) ?? 'public');
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  return async (did, signal) => {
    if (!DID_IXO.test(did)) throw unusable(did, 'the service has no document for it');
    const body = JSON.stringify({ query: QUERY, variables: { did } });
    const { text } = await exchange({ method: 'POST', url, headers, body }, { lookup, signal });
    const keys = didDocumentKeys(did, documentIn(parseJson(text)));
    if (!keys) throw unusable(did, 'the service has no document for it');
    return keys;
  };
}

function documentIn(answer: unknown): unknown {
  return (answer as { data?: { iids?: { nodes?: readonly unknown[] } } } | null | undefined)?.data?.iids?.nodes?.[0];
}
