// The parts of the library for status lists that tests use; it comes without types.

declare module '@digitalbazaar/vc-bitstring-status-list' {
  export function checkStatus(options: object): Promise<{
    verified: boolean;
    error?: Error;
    results?: readonly { readonly status: boolean }[];
  }>;
  export function decodeList(options: {
    encodedList: string;
  }): Promise<{ readonly length: number; getStatus(index: number): boolean }>;
}
