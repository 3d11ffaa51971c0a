// Checking credentials as others do: with the library's own verifier, and nothing but what it is given.

import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import { type DocumentLoader, defaultDocumentLoader, type Verdict, verifyCredential } from '@digitalbazaar/vc';
import { checkStatus } from '@digitalbazaar/vc-bitstring-status-list';

export type Credential = Record<string, unknown> & { readonly credentialSubject: Record<string, unknown> };

/** What is found under a URL besides the built-in contexts and keys. */
export type Lookup = (url: string) => Promise<unknown>;

const nowhere: Lookup = (url) => Promise.reject(new Error(`nothing is at ${url}`));

/** The verdict on a credential. With a `lookup`, its status lists are looked up and checked, too. */
export function verdictOn(credential: object, lookup?: Lookup): Promise<Verdict> {
  const suite = new DataIntegrityProof({ cryptosuite });
  const documentLoader = loader(lookup ?? nowhere);
  // The library says which bits are set; what that means is up to whoever asks: here, it is not good any more.
  const check = async (options: object) => {
    const { verified, results = [], ...more } = await checkStatus({ ...options, suite, documentLoader });
    return { ...more, verified: verified && results.length > 0 && results.every(({ status }) => status === false) };
  };
  const unchecked = async () => ({ verified: true });
  return verifyCredential({ credential, suite, documentLoader, checkStatus: lookup ? check : unchecked });
}

function loader(lookup: Lookup): DocumentLoader {
  return async (url) => {
    if (url.startsWith('did:key:')) return { documentUrl: url, document: keyDocument(url) };
    return url.startsWith('https://www.w3.org/')
      ? defaultDocumentLoader(url)
      : { documentUrl: url, document: await lookup(url) };
  };
}

// A did:key holds its document.
function keyDocument(url: string): object {
  const [did, fragment] = url.split('#') as [string, string?];
  const key = did.slice('did:key:'.length);
  const id = `${did}#${key}`;
  const method = { id, type: 'Multikey', controller: did, publicKeyMultibase: key };
  if (fragment !== undefined) return { '@context': 'https://w3id.org/security/multikey/v1', ...method };
  return {
    '@context': ['https://www.w3.org/ns/did/v1'],
    id: did,
    verificationMethod: [method],
    assertionMethod: [id],
  };
}
