// Who signs verifiable credentials: the Ed25519 key of this service, as Data Integrity proofs (eddsa-rdfc-2022).

import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../store/store.ts';
import { isoTime } from '../twin/record.ts';

export interface Issuer {
  /** The did:key of the key. */
  did(): Promise<string>;
  /**
   * The credential with a proof made at `now`, and with this issuer unless it names one. Only built-in contexts are
   * read, never the network.
   */
  issue(credential: JsonObject, now: number): Promise<JsonObject>;
}

/** The issuer behind a key in ucanto's string format. Throws ERR_CONFIG when it is none, without any part of it. */
export function issuer(key: string): Issuer {
  const privateKey = readKey(key);
  let loading: Promise<Loaded> | undefined;
  // On first use: loading takes a third of a second and 20 MB, and not everybody wants cards.
  const loaded = () => {
    loading ??= load(privateKey);
    return loading;
  };
  return {
    did: async () => (await loaded()).did,
    async issue(credential, now) {
      const { did, verificationMethod, vc, DataIntegrityProof, cryptosuite } = await loaded();
      const signer = {
        algorithm: 'Ed25519',
        id: verificationMethod,
        sign: async ({ data }: { data: Uint8Array }) => sign(null, data, privateKey),
      };
      const suite = new DataIntegrityProof({ cryptosuite, signer, date: isoTime(now) });
      const { defaultDocumentLoader: documentLoader } = vc;
      const issued = await vc.issue({ credential: { issuer: did, ...credential }, suite, documentLoader });
      return issued as JsonObject;
    },
  };
}

type Loaded = Awaited<ReturnType<typeof load>>;

async function load(privateKey: KeyObject) {
  const [vc, { DataIntegrityProof }, { cryptosuite }, { fromJwk }] = await Promise.all([
    import('@digitalbazaar/vc'),
    import('@digitalbazaar/data-integrity'),
    import('@digitalbazaar/eddsa-rdfc-2022-cryptosuite'),
    import('@digitalbazaar/ed25519-multikey'),
  ]);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const { publicKeyMultibase } = await fromJwk({ jwk });
  const did = `did:key:${publicKeyMultibase}`;
  return { did, verificationMethod: `${did}#${publicKeyMultibase}`, vc, DataIntegrityProof, cryptosuite };
}

// Multibase `M` (padded base64) of: 0x1300 and the private key, 0xed and the public key.
function readKey(text: string): KeyObject {
  const bytes = Buffer.from(text.slice(1), 'base64');
  const isKey = text[0] === 'M' && bytes.length === 68 && bytes.readUInt16BE(0) === 0x8026;
  if (!isKey || bytes.readUInt16BE(34) !== 0xed01)
    throw new TwinlineError(
      'ERR_CONFIG',
      'The key of the issuer is no Ed25519 key in ucanto’s string format. Generate one with: npx twinline config --new-keys',
    );
  const d = bytes.subarray(2, 34).toString('base64url');
  const x = bytes.subarray(36).toString('base64url');
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
}
