// The parts of the libraries for verifiable credentials that are used here; they come without types.

declare module '@digitalbazaar/vc' {
  /** What a URL leads to; rejects for any that is not built in. */
  export type DocumentLoader = (url: string) => Promise<{ documentUrl: string; document: unknown }>;
  export interface Verdict {
    readonly verified: boolean;
    readonly error?: Error & { readonly errors?: readonly Error[] };
  }
  export const defaultDocumentLoader: DocumentLoader;
  export function issue(options: {
    credential: object;
    suite: object;
    documentLoader: DocumentLoader;
  }): Promise<Record<string, unknown>>;
  export function verifyCredential(options: {
    credential: object;
    suite: object;
    documentLoader: DocumentLoader;
    checkStatus: (options: object) => Promise<Verdict>;
    now?: Date;
  }): Promise<Verdict & { readonly statusResult?: Verdict }>;
}

declare module '@digitalbazaar/data-integrity' {
  export class DataIntegrityProof {
    constructor(options: {
      cryptosuite: object;
      signer?: { algorithm: string; id: string; sign(options: { data: Uint8Array }): Promise<Uint8Array> };
      date?: string;
    });
  }
}

declare module '@digitalbazaar/eddsa-rdfc-2022-cryptosuite' {
  export const cryptosuite: object;
}
