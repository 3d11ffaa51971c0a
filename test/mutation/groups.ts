// What is mutated: groups of code on which security rests, each with the tests that must notice any change to it.

export interface Group {
  readonly guards: string;
  /** Files of the source. */
  readonly files: readonly string[];
  /** Test files below test/, without .test.ts. */
  readonly tests: readonly string[];
}

export const GROUPS: { readonly [name: string]: Group } = {
  redactor: {
    guards: 'secrets in words that leave the process',
    files: ['lib/redact.ts'],
    tests: ['redact/redact'],
  },
  cors: {
    guards: 'which pages of other origins may call what',
    files: ['server/http/middleware/cors.ts'],
    tests: ['server/http/cors-headers'],
  },
  limiter: {
    guards: 'what a request is counted under',
    files: ['server/http/middleware/client.ts'],
    tests: ['server/http/client'],
  },
  tally: {
    guards: 'how votes are counted',
    files: ['lib/domain/voting/tally.ts'],
    tests: ['domain/tally', 'domain/governance'],
  },
  ballots: {
    guards: 'who may vote, withdraw, veto and execute, and when',
    files: ['lib/domain/voting/ballot.ts'],
    tests: ['ballots', 'verification', 'execution'].map((name) => `domain/${name}`),
  },
  token: {
    guards: 'which delegations and invocations pass',
    files: [
      'lib/delegation/guard.ts',
      ...['claim', 'principal', 'signed-payload'].map((name) => `lib/delegation/${name}.ts`),
      ...['car', 'cbor', 'ucan'].map((name) => `lib/delegation/${name}.ts`),
    ],
    tests: [
      'guard',
      'fields',
      'chains',
      'foreign',
      'hostile',
      'cbor',
      'principal',
      'reference.short.long',
      'issuer-keys',
      'mint',
    ].map((name) => `delegation/${name}`),
  },
  pin: {
    guards: 'who may log in by PIN, and what guesses cost',
    files: ['attempts', 'check', 'pin', 'account', 'records', 'spray'].map((name) => `lib/account/${name}.ts`),
    tests: ['attempts', 'account', 'meanwhile', 'pin', 'weak', 'sim', 'spray', 'shared-spray'].map(
      (name) => `account/${name}`,
    ),
  },
  turns: {
    guards: 'that a turn is taken once, and its retry gets the same reply',
    files: ['lib/ussd/dial.ts', ...['turn', 'record', 'commit'].map((name) => `lib/engine/session/${name}.ts`)],
    tests: [
      ...[
        'turn',
        'record',
        'contention',
        'overtaking',
        'waiting',
        'slow-calls',
        'crash',
        'calls',
        'timers',
        'inspection',
        'later',
        'as-actors',
        'machines',
        'own-machine',
        'edges',
        'migrate',
      ].map((name) => `engine/${name}`),
      ...['dial', 'closed-sessions', 'old-copies', 'clock', 'phone-sessions'].map((name) => `ussd/${name}`),
      'flow/private',
    ],
  },
  store: {
    guards: 'that what is written at a revision replaces that revision only',
    files: ['lib/store/memory/index.ts', 'lib/store/memory/documents.ts'],
    tests: ['store/memory'],
  },
  access: {
    guards: 'which caller a key or a token stands for, and what its roles permit',
    files: [
      'lib/domain/caller.ts',
      'server/domain/api-keys.ts',
      'server/user/authenticate.ts',
      'server/http/middleware/operator.ts',
    ],
    tests: ['domain/callers', 'user/authenticate', 'http/operator', 'http/cors-headers'].map(
      (name) => `server/${name}`,
    ),
  },
};
