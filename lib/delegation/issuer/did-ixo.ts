// did:ixo: the keys of such a DID, as the GraphQL service that indexes its chain tells them.

import { TwinlineError } from '../../errors.ts';
import { type Exchange, httpExchange } from '../../http/client.ts';
import { guardedLookup, parseHosts, type Resolve, systemResolve } from '../../http/hosts.ts';
import { didDocumentKeys } from './did-document.ts';
import type { ResolveKeys } from './issuer-keys.ts';

export interface DidIxoOptions {
  /** The service's GraphQL endpoint, of the operator's choice. */
  readonly url: URL;
  /** Sends the request; for tests. */
  readonly exchange?: Exchange;
  /** All addresses of a host; for tests. */
  readonly resolve?: Resolve;
}

const QUERY =
  'query Keys($did: String!) { iids(filter: { id: { equalTo: $did } }, first: 1) { nodes { id verificationMethod authentication } } }';
const DID_IXO = /^did:ixo:[\w.:-]{1,200}$/;

/** Finds keys by did:ixo. Rejects with ERR_SERVICE or ERR_TIMEOUT when the service does not tell them. */
export function didIxoKeys({ url, exchange = httpExchange(), resolve = systemResolve }: DidIxoOptions): ResolveKeys {
  const lookup = guardedLookup(resolve, parseHosts([url.host])(url) ?? 'public');
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  return async (did, signal) => {
    if (!DID_IXO.test(did)) throw unknown(did);
    const body = JSON.stringify({ query: QUERY, variables: { did } });
    const { text } = await exchange({ method: 'POST', url, headers, body }, { lookup, signal });
    const keys = didDocumentKeys(did, documentIn(text));
    if (!keys) throw unknown(did);
    return keys;
  };
}

function documentIn(text: string): unknown {
  try {
    const answer = JSON.parse(text) as { data?: { iids?: { nodes?: readonly unknown[] } } } | null;
    return answer?.data?.iids?.nodes?.[0];
  } catch {
    return undefined;
  }
}

function unknown(did: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', `Cannot find the keys of ${did}: the service knows no document of it.`);
}
