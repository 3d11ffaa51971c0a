// did:web: where the document of such a DID is, and the keys that it may sign tokens with. Never from a private address.

import { TwinlineError } from '../../errors.ts';
import { type Exchange, httpExchange } from '../../http/client.ts';
import { guardedLookup, parseHosts, type Resolve, systemResolve } from '../../http/hosts.ts';
import { didDocumentKeys } from './did-document.ts';
import type { ResolveKeys } from './issuer-keys.ts';

export interface DidWebOptions {
  /** Sends the request; for tests. */
  readonly exchange?: Exchange;
  /** All addresses of a host; for tests. Every one must be public, or nothing is asked. */
  readonly resolve?: Resolve;
  /** Hosts that may be asked: `host`, `host:port`, `*.example.com`. @default every public one */
  readonly hosts?: readonly string[];
}

// A name with a dot that does not end in a number: no address, no `localhost`.
const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Finds keys by did:web over HTTPS. Throws ERR_CONFIG for hosts that are none; rejects with ERR_SERVICE or ERR_TIMEOUT when the document cannot be had or used. */
export function didWebKeys(options: DidWebOptions = {}): ResolveKeys {
  const { exchange = httpExchange(), resolve = systemResolve, hosts } = options;
  const lookup = guardedLookup(resolve, 'public');
  const isListed = hosts && parseHosts(hosts);
  return async (did, signal) => {
    const url = didWebUrl(did);
    if (!url) throw unusable(did, 'it names no host and path that could have a document');
    if (isListed && !isListed(url)) throw unusable(did, `${url.host} is not among the hosts that may be asked`);
    const headers = { accept: 'application/did+json, application/json' };
    const { text } = await exchange({ method: 'GET', url, headers }, { lookup, signal });
    const keys = didDocumentKeys(did, parseJson(text));
    if (!keys) throw unusable(did, `${url.origin}${url.pathname} is not its document`);
    return keys;
  };
}

/** Where the document of a did:web is; undefined when the text is none, or names an address instead of a host. */
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
