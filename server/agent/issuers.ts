// Which issuers of tokens are known beside did:key: those whose keys this server may ask for.

import { didIxoKeys, didWebKeys, type ResolveKeys } from '../../lib/delegation/issuer/issuer-keys.ts';
import type { Config } from '../config/config.ts';

/** By method of a DID, how its keys are found; a method that nothing is set for is not accepted. */
export function issuerMethods({ didWebHosts, didIxoUrl }: Config['agent']): { readonly [method: string]: ResolveKeys } {
  return {
    ...(didWebHosts.length > 0 && { web: didWebKeys({ hosts: didWebHosts }) }),
    ...(didIxoUrl !== undefined && { ixo: didIxoKeys({ url: new URL(didIxoUrl) }) }),
  };
}
