// Limits of lib/domain: a name, a number, its unit.

export const DOMAIN_LIMITS = {
  // --- domains ----------------------------------------------------------------------------------------------------------
  /** Items of one list of a twin, such as its services; properties or relationships of one twin. */
  itemsPerList: 256,
  aliasesPerTwin: 32,
  /** Bytes of a twin or protocol as it is stored, apart from its parts, its status and its journal. */
  contentBytes: 786_432,
  problemChars: 2_000,
  problemFieldChars: 300,
  /** Bytes of the records that one page of a history compares, and what comparing two of them may cost; see lib/json/compare.ts. */
  historyPageBytes: 2_097_152,
  historyDiff: { cellsPerList: 65_536, cells: 262_144, pathChars: 1_048_576 },
  /** Texts of one field, such as keywords, that a card shows; the record may hold more. */
  textsPerCard: 256,
  /** Operations of one JSON Patch. */
  patchOperations: 100,
  /** Sub-domains of one twin. */
  partsPerTwin: 500,
  /** Twins above one that are asked whether they were suspended or revoked. */
  ancestorsAsked: 16,
  /** Words of a twin's names, and values of its properties, by which it is found without reading others. */
  wordsPerTwin: 24,
  valueTermsPerTwin: 256,
  /** Characters and levels of a filter. */
  filterChars: 2_000,
  filterDepth: 16,
  /** Changes that one read of the feed of events looks at. */
  feedPage: 200,
  /** The last events that a process keeps for its listeners. */
  feedKept: 512,
  /** Pages of earlier events kept for all who read them at the same time. */
  feedPagesKept: 32,
  eventTypes: 32,
  /** Terms of a search whose twins are counted, so that the rarest one is read. */
  termsCounted: 12,
  /**
   * What comparing records with a filter and a text may cost, in units of about two nanoseconds: a page that has cost so much ends, and
   * one record that alone costs more is refused.
   */
  listWork: 10_000_000,
  /** Documents that one page of a filtered list looks at, or one graph for what points at its twins. */
  listScan: 20_000,
  /** Bytes of those documents, and of the documents that one page of any list shows; a page may end before its limit. */
  listScanBytes: 16_777_216,
  pageBytes: 2_097_152,
  /** Characters of one option of DID resolution: each of the services that it selects may be joined with it. */
  resolutionOptionChars: 2_048,
  /** Steps from the first twin of a graph, and twins and edges in it. */
  graphDepth: 8,
  graphNodes: 1_000,
  graphEdges: 20_000,
  /** Compiled checks of properties that are kept in memory. */
  propertyChecksKept: 2_000,
  /** Protocols on the way from one to its oldest ancestor. */
  protocolDepth: 16,
  /** Bytes and levels of the JSON Schema of one property. */
  propertySchemaBytes: 16_384,
  propertySchemaDepth: 24,
  /** Schemas in the schema of one property, as often as `$ref` leads to each, and in all of one protocol. */
  propertyBranches: 500,
  protocolBranches: 2_000,
  /** Characters of all `pattern`s of one property, and steps that they compile to, as often as `$ref` leads to each. */
  propertyPatternChars: 1_000,
  propertyPatternSteps: 4_000,
  /** What checking the properties of one record may cost; see protocol/property.ts. */
  propertyWork: 4_000_000,
  idempotencyKeyChars: 255,
  /** Milliseconds that the first answer of an Idempotency-Key is kept. */
  idempotencyMs: 86_400_000,
  /** Milliseconds that a repeated request waits for the first one to end. */
  idempotencyWaitMs: 5_000,
  /**
   * Milliseconds after which a request that has not ended counts as dead, and a repeated one does its work: less than it
   * waits, so that it hears of no crash. Should the first live after all, both do the same: what they write is reserved.
   */
  idempotencyLeaseMs: 4_000,
  /** Places in a status list of credentials: the standard asks for this many at least, so that a place tells little about its holder. */
  statusListBits: 131_072,
  /** Random places that are tried before a list counts as full. */
  statusListTries: 16,
  /** Lists that a process keeps in memory. */
  statusListsKept: 64,
  /** Pages of changes that a list is kept up to date by; one that is further behind is read anew. */
  statusListPages: 20,
  /** Places of an issuer without a key that are looked at, whether their credential counts. */
  lostPlacesRead: 1_000,
  /** Domains that are read at the same time to fill a list. */
  statusListReads: 32,
  /** Milliseconds after which a list is signed anew, and until which a signed one is valid. */
  statusListFreshMs: 3_600_000,
  statusListValidMs: 86_400_000,

  // --- governance -------------------------------------------------------------------------------------------------------
  votersPerProposal: 1_000,
  /** The longest voting period or timelock: a year. */
  votingSecondsMax: 31_536_000,
  /** Characters of the reason that a voter gives. */
  rationaleChars: 2_000,
  /** Bytes and levels of the package of a proposal, as JSON. */
  packageBytes: 65_536,
  packageDepth: 32,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Lines of one import, and bytes of one of them. */
  bulkLines: 100_000,
  bulkLineBytes: 1_048_576,
  /** Revisions that the line of a record may count further than the earlier ones that were sent. */
  bulkRevisionsUnsent: 1_000,
  /** Lines of an import that are worked on at the same time. */
  bulkAtOnce: 16,
  /** Documents that an export reads at a time. */
  exportPage: 200,
  webhooksPerTenant: 50,
  /** Webhooks that a process delivers to at the same time. */
  webhooksAtOnce: 64,
  webhooksAtOncePerTenant: 16,
  /** Milliseconds for which a process may deliver to a webhook alone; longer than an answer may take. */
  webhookLeaseMs: 30_000,
  /** Tries to deliver an event before it is put aside; with the pauses between them one to two days. */
  webhookTries: 20,
  /** Milliseconds before the second try; doubles with each further one, less up to a half at random. */
  webhookBackoffMs: 5_000,
  /** The longest pause, also where a receiver asks for a longer one by Retry-After. */
  webhookBackoffMaxMs: 21_600_000,
  /** Milliseconds that an event which could not be delivered is kept: 30 days. */
  webhookLetterMs: 2_592_000_000,
} as const;
