// Patterns for methods of services: `ixo.bonds.*`, as a GATEWAY_FILE names what is disabled or forbidden.

/** Whether a method such as `ixo.bonds.v1beta1.Query/Bonds` is meant. */
export type RpcFilter = (rpc: string) => boolean;

/** `*` stands for any text; the method may follow its service after a slash or a dot. */
export function rpcFilter(patterns: readonly string[]): RpcFilter {
  const tests = patterns.map((pattern) => {
    const parts = dotted(pattern)
      .split('*')
      .map((part) => part.replaceAll('.', '\\.'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (rpc) => tests.some((test) => test.test(dotted(rpc)));
}

/** The patterns that mean none of these methods: most likely misspelt. */
export function idlePatterns(patterns: readonly string[], rpcs: readonly string[]): string[] {
  return patterns.filter((pattern) => !rpcs.some(rpcFilter([pattern])));
}

/** Letters, digits, `_`, dots, slashes and stars; at most three stars in a row of 256 characters. */
export function isRpcPattern(pattern: string): boolean {
  return /^[A-Za-z0-9_./*]{1,256}$/.test(pattern) && pattern.split('*').length <= 4;
}

function dotted(rpc: string): string {
  return rpc.replaceAll('/', '.');
}
