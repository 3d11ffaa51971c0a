// Every limit of Twinline in one place: a name, a number, its unit.

export const LIMITS = {
  // --- engine -------------------------------------------------------------------------------------------------------
  /** Microsteps (eventless and raised transitions) in one step of a machine. */
  microstepsPerStep: 100,
  /** Service calls and timers that one turn may pass through before it must rest. */
  hopsPerTurn: 20,
  /** Times that one turn is tried again after another writer was first. */
  conflictsPerTurn: 32,
  /** Characters of a stored session record. */
  recordChars: 65_536,
  /** Timers that one session may hold. */
  timersPerSession: 64,
  /** Older versions of a flow that are kept for the sessions that began on them. */
  versionsKept: 8,

  // --- services -----------------------------------------------------------------------------------------------------
  /** Milliseconds that a service call may take when its flow sets no `timeout`. */
  callTimeoutMs: 5_000,
  /** The longest `timeout` that a flow may set, in milliseconds. */
  callTimeoutMaxMs: 60_000,
  /** Tries after the first that a flow may set with `retry`. */
  callRetriesMax: 3,
  /** Milliseconds before the first repeated try; doubles each time. */
  callBackoffMs: 100,
  /** Milliseconds between the end of the work and the turn deadline, kept for commit and reply. */
  turnReserveMs: 500,
  /** Bytes of an answer that `http.get` and `http.post` read. */
  httpAnswerBytes: 65_536,
  /** Levels of lists and objects in such an answer. */
  httpAnswerDepth: 64,

  // --- flows --------------------------------------------------------------------------------------------------------
  flowFileBytes: 4_194_304,
  /** Levels of lists and objects in a flow file. */
  flowFileDepth: 64,
  screensPerFlow: 20_000,
  expressionChars: 500,
  expressionDepth: 40,
  templateChars: 2_000,
  /** Characters of a `pattern` rule. */
  patternChars: 200,
  /** Instructions that a `pattern` rule may compile to; bounds its time per answer. */
  patternSteps: 1_000,
  /** Items of a list variable. */
  listItems: 500,

  // --- diagrams -----------------------------------------------------------------------------------------------------
  /** States and arrows that are drawn at a time; of larger machines a part is shown. */
  drawnStates: 150,
  drawnArrows: 600,
  /** States and arrows of such a part, when it is what is near one state. */
  nearStates: 60,
  nearArrows: 120,
  /** Milliseconds and megabytes that laying out one diagram may take, and diagrams that may wait for it. */
  layoutMs: 30_000,
  layoutMemoryMb: 256,
  layoutQueue: 32,
  /** Diagrams that a process keeps. */
  diagramsKept: 128,

  // --- USSD ---------------------------------------------------------------------------------------------------------
  /** GSM-7 septets on one screen: 160 octets. */
  screenSeptets: 182,
  /** UCS-2 code units on one screen when any character is not GSM-7: 160 octets. */
  screenUcs2Units: 80,
  /** Characters of the `text` field of a request. */
  ussdTextChars: 182,
  ussdSessionIdChars: 100,
  /** Bytes of a request body at the USSD door. */
  ussdBodyBytes: 8_192,
  /** Seconds that the time of a signed USSD request may be away from now. */
  ussdSignatureSeconds: 300,
  /** Addresses of refused USSD gateways that are named in the log in one minute; the metric counts all. */
  ussdRefusalsLogged: 100,
  /** Seconds that the answer of an ended session is kept for retries. */
  endedSessionSeconds: 600,

  // --- accounts -----------------------------------------------------------------------------------------------------
  pinDigitsMin: 4,
  pinDigitsMax: 6,
  /** PIN checks waiting for a free scrypt worker; more are refused. */
  pinQueue: 32,
  /** Consecutive failures that lock an account. */
  pinFailuresToLock: 3,
  /** Milliseconds of the first lock; doubles with each further one. */
  pinLockMs: 900_000,
  pinLockMaxMs: 86_400_000,
  /** Failures in `pinWindowMs` that lock an account until it is recovered. */
  pinFailuresPerWindow: 10,
  pinWindowMs: 86_400_000,
  /** Characters of the name of an account holder. */
  accountNameChars: 64,
  /** Repeats of one PIN check (same idempotency key, outcome not yet known) that are not counted as tries of their own. */
  pinRepeats: 10,
  /** Documents that count the tries on phone numbers without an account; a number that needs a taken one replaces it. */
  strangerSlots: 65_536,
  /** More failures than this within `sprayWindowMs`, and a larger share of all checks than `sprayRatio`, raise the alarm. */
  sprayFailures: 50,
  sprayRatio: 0.2,
  sprayWindowMs: 300_000,

  // --- stores -------------------------------------------------------------------------------------------------------
  keyChars: 256,
  documentBytes: 1_048_576,
  fieldsPerIndex: 8,
  /** Elements of a list in one document that an index may hold. */
  elementsPerIndex: 1_000,
  /** Values of one `in` condition. */
  valuesPerIn: 100,
  pageSizeMax: 1_000,
  /** Entries that one sweep of expired or due sessions handles. */
  sweepBatch: 200,
  /** Bytes of one frame of a log, in UTF-8. */
  frameBytes: 262_144,
  /** Frames in one append, and their bytes. */
  framesPerAppend: 1_000,
  appendBytes: 1_048_576,
  /** Frames that one log holds at a time, and their bytes; trimming makes room. */
  framesPerLog: 100_000,
  logBytes: 268_435_456,
  /** Bytes that one read of a log gives; what a slow follower holds. At least `frameBytes`. */
  logReadBytes: 262_144,
  /** Milliseconds that a follower waits for a store that is away before it gives up. */
  followPatienceMs: 30_000,
  /** Characters of a channel's topic, and bytes of a message, in UTF-8. */
  topicChars: 320,
  channelMessageBytes: 65_536,

  // --- Redis --------------------------------------------------------------------------------------------------------
  /** Milliseconds until an unanswered command is refused; a turn has two of them. */
  redisCommandMs: 1_000,
  /** Milliseconds for one attempt to connect. */
  redisConnectMs: 2_000,
  /** Milliseconds after opening that commands wait for the first connection. */
  redisFirstConnectMs: 5_000,
  /** Milliseconds until a connection that is being closed is cut. */
  redisDisconnectMs: 500,
  /** The longest pause between two attempts to connect, in milliseconds. */
  redisBackoffMaxMs: 2_000,
  redisKeepAliveMs: 10_000,
  /** How often the map of a cluster is read again, in milliseconds. */
  redisSlotsRefreshMs: 2_000,
  /** Milliseconds that an expired session stays in Redis when nobody sweeps. */
  redisGraceMs: 3_600_000,
  /** Milliseconds for which timers that are due are given to one instance only. */
  redisClaimMs: 3_000,

  // --- MongoDB ------------------------------------------------------------------------------------------------------
  /** Milliseconds that MongoDB may take to answer, and a call may wait for a free connection. */
  mongoAnswerMs: 5_000,
  /** Milliseconds to find a primary, and to connect to it. */
  mongoConnectMs: 2_500,
  /** Milliseconds between two looks at a server. */
  mongoHeartbeatMs: 1_000,
  /** Connections of one process. */
  mongoPool: 20,
  /** Milliseconds that a declaration waits for another instance's, and for an index to be built. */
  mongoDeclareMs: 600_000,
  /** Milliseconds after which an instance looks whether others have declared kinds. */
  mongoKindsMs: 10_000,

  // --- lifecycles ---------------------------------------------------------------------------------------------------
  /** Requests that wait for one machine in a document, in this process. */
  lifecycleQueue: 1_000,
  /** Command keys that a machine in a document remembers. */
  commandsKept: 256,
  /** Tries of a call that a lifecycle makes before the machine is told that it failed. */
  lifecycleTries: 10,
  /** The longest pause between two of them, in milliseconds. */
  lifecycleBackoffMaxMs: 300_000,
  /** Milliseconds that a document which cannot be woken is left alone. */
  lifecyclePutOffMs: 60_000,

  // --- domains ------------------------------------------------------------------------------------------------------
  /** Items of one list of a twin, such as its services; properties or relationships of one twin. */
  itemsPerList: 256,
  aliasesPerTwin: 32,
  /** Bytes of a twin or protocol as it is stored, apart from its parts, its status and its journal. */
  contentBytes: 786_432,
  /** Problems that one refusal lists, and their bytes; characters of its message, and of a field or an error of the list. */
  problemDetails: 100,
  problemBytes: 32_768,
  problemChars: 2_000,
  problemFieldChars: 300,
  /** Bytes of the records that one page of a history compares, and what comparing two of them may cost; see json-diff.ts. */
  historyPageBytes: 2_097_152,
  historyDiff: { cellsPerList: 65_536, cells: 262_144, pathChars: 1_048_576 },
  /** Texts of one field, such as keywords, that a card shows; the record may hold more. */
  textsPerCard: 256,
  /** Signed cards that a process keeps, and their bytes. */
  cardsKept: 1_000,
  cardBytesKept: 16_777_216,
  /** Operations of one JSON Patch. */
  patchOperations: 100,
  /** Sub-domains of one twin. */
  partsPerTwin: 500,
  /** Milliseconds after which a part whose parent never came is thrown away. */
  provisionalMs: 60_000,
  /** Twins above one that are asked whether they were suspended or revoked. */
  ancestorsAsked: 16,
  /** Characters and levels of a filter. */
  filterChars: 2_000,
  filterDepth: 16,
  /** Changes that one read of the feed of events looks at. */
  feedPage: 200,
  /** The last events that a process keeps for its listeners. */
  feedKept: 512,
  /** Characters of a list of types of events, and names in it. */
  eventTypesChars: 1_000,
  eventTypes: 32,
  /** Documents that one page of a filtered list looks at. */
  listScan: 20_000,
  /** Bytes of those documents, and of the documents that one page of any list shows; a page may end before its limit. */
  listScanBytes: 16_777_216,
  pageBytes: 2_097_152,
  /** Steps from the first twin of a graph, and twins in it. */
  graphDepth: 8,
  graphNodes: 1_000,
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
  /** What checking the properties of one record may cost; see schema/schema-cost.ts. */
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
  /** Places in a status list of credentials: the standard asks for this many at least, so that nobody stands out. */
  statusListBits: 131_072,
  /** Random places that are tried before a list counts as full. */
  statusListTries: 16,
  /** Domains that are read at the same time to fill a list. */
  statusListReads: 32,
  /** Milliseconds after which a list is signed anew, and until which a signed one is valid. */
  statusListFreshMs: 3_600_000,
  statusListValidMs: 86_400_000,

  // --- governance ---------------------------------------------------------------------------------------------------
  votersPerProposal: 1_000,
  /** The longest voting period or timelock: a year. */
  votingSecondsMax: 31_536_000,
  /** Characters of the reason that a voter gives. */
  rationaleChars: 2_000,
  /** Milliseconds that a link to the page of a proposal is good. */
  pagePassMs: 3_600_000,
  /** Bytes and levels of the package of a proposal, as JSON. */
  packageBytes: 65_536,
  packageDepth: 32,

  // --- events and bulk ----------------------------------------------------------------------------------------------
  /** Streams of events that a process serves at a time, and those of one tenant, and of one user of the agent. */
  eventStreams: 1_000,
  eventStreamsPerTenant: 500,
  eventStreamsPerUser: 32,
  /** Milliseconds between two comments on a stream where nothing happens. */
  eventHeartbeatMs: 15_000,
  /** Milliseconds after which a reader that takes nothing is cut off; it may go on where it was. */
  eventStallMs: 30_000,
  /** Lines of one import, and bytes of one of them. */
  bulkLines: 100_000,
  bulkLineBytes: 1_048_576,
  /** Lines of an import that are worked on at the same time. */
  bulkAtOnce: 16,
  /** Imports that a process works on at the same time. */
  bulkRequests: 4,
  bulkRequestsPerTenant: 2,
  /** Bytes that its sender gives at least in so many milliseconds of waiting, and milliseconds that one takes at most. */
  bulkLeastBytes: 61_440,
  bulkRateMs: 60_000,
  bulkMs: 3_600_000,
  /** Bytes of answers that wait for a client which sends all before it reads; then nothing more is read from it. */
  bulkAnswerBytes: 16_777_216,
  /** Milliseconds without a byte in either direction after which an import is cut off. */
  bulkIdleMs: 60_000,
  /** Documents that an export reads at a time. */
  exportPage: 200,
  webhooksPerTenant: 50,
  /** Milliseconds that the name of a new webhook's host may take to be resolved before it is left for later. */
  webhookResolveMs: 1_000,
  /** Milliseconds that a receiver may take to answer. */
  webhookAnswerMs: 10_000,
  /** Webhooks that a process delivers to at the same time. */
  webhooksAtOnce: 64,
  /** Milliseconds for which a process may deliver to a webhook alone; longer than an answer may take. */
  webhookLeaseMs: 30_000,
  /** Tries to deliver an event before it is put aside; with the pauses between them about 40 minutes. */
  webhookTries: 10,
  /** Milliseconds before the second try; doubles with each further one, less up to a half at random. */
  webhookBackoffMs: 5_000,
  webhookBackoffMaxMs: 3_600_000,
  /** Milliseconds that an event which could not be delivered is kept: 30 days. */
  webhookLetterMs: 2_592_000_000,

  // --- delegations --------------------------------------------------------------------------------------------------
  /** Characters of an invocation: what fits into a header of a request. */
  invocationChars: 16_384,
  delegationChars: 65_536,
  /** Seconds that an invocation and a delegation may be valid from now on: 15 minutes, and 366 days. */
  invocationSeconds: 900,
  delegationSeconds: 31_622_400,
  /** Seconds that the clock of an issuer may be ahead of ours. A token that has expired is never valid. */
  tokenLeewaySeconds: 60,
  tokenBlocks: 64,
  /** UCANs in a chain of proofs. */
  tokenDepth: 8,
  /** Ways in which the capabilities of a chain can be derived from each other. */
  tokenPaths: 16,
  capabilitiesPerUcan: 16,
  /** Characters of a DID or of the resource of a capability. */
  resourceChars: 512,
  /** Signatures that are checked for one token; an issuer may have several keys. */
  tokenSignatures: 16,
  /** Tokens that are checked at the same time. */
  tokensAtOnce: 256,
  /** Seconds that an invocation which this service makes of another one lives; half of it, it is used again. */
  mintedSeconds: 300,
  /** Different ones that are remembered per user. */
  mintedPerUser: 32,
  /** Tokens and keys of issuers that are remembered. */
  tokensKept: 10_000,
  issuerKeysKept: 1_000,
  /** Keys of one issuer that are tried. */
  keysPerIssuer: 8,
  /** Milliseconds that the keys of an issuer may take to be found. */
  issuerKeysMs: 3_000,
  /** Milliseconds that they are taken for known, and that a failure is. */
  issuerKeysFreshMs: 300_000,
  issuerKeysFailedMs: 30_000,
  /** Issuers whose keys are looked for at the same time. */
  issuersAtOnce: 32,

  // --- gateway ------------------------------------------------------------------------------------------------------
  /** Messages inside each other in a reply or a request, as in the Protobuf libraries. */
  gatewayDepth: 100,
  /** Bytes of JSON that one reply may become. */
  gatewayJsonBytes: 67_108_864,
  /** Milliseconds of work on one stream before others have their turn. */
  gatewayTurnMs: 10,
  /** Bytes of a reply, of its JSON and of its messages out of order, beyond which it is written in a thread of its own. */
  gatewayBriefBytes: 65_536,
  gatewayBriefJsonBytes: 1_048_576,
  gatewayBriefOrderBytes: 262_144,
  /** Such large replies that wait for the thread, and bytes of them together. */
  gatewayLargeWaiting: 64,
  gatewayLargeBytes: 67_108_864,
  /** Milliseconds of work on one, and megabytes of memory for it besides its bytes and its JSON. */
  gatewayLargeMs: 10_000,
  gatewayLargeMemoryMb: 512,
  /** Bytes of the JSON of all details of an error together. */
  gatewayDetailBytes: 16_384,
  /** Characters of the JSON of a message with nothing set, in the Cosmos form. */
  gatewayDefaultChars: 65_536,
  /** Query parameters that are read. */
  gatewayParameters: 1_000,
  /** Metadata that one request may send to the node. */
  gatewayMetadata: 64,
  /** Characters of a path. */
  gatewayPathChars: 8_192,
  /** Segments of a template. */
  gatewaySegments: 64,
  /** Bytes of a GATEWAY_FILE, and entries of one of its lists. */
  gatewayFileBytes: 1_048_576,
  gatewayFileItems: 1_000,
  /** Levels of fields that a route's list of query parameters goes into. */
  gatewayParameterDepth: 5,

  // --- gRPC ---------------------------------------------------------------------------------------------------------
  /** Milliseconds that a call to the node may take when nobody says less. */
  grpcDeadlineMs: 10_000,
  /** Bytes of one message to the node: what gRPC servers accept when nobody tells them otherwise. */
  grpcRequestBytes: 4_194_304,
  /** Bytes of one message from the node, unpacked: what a Cosmos node sends at most. */
  grpcAnswerBytes: 10_485_760,
  /** Bytes of all metadata of a call, each way: names, values and 32 for each entry. */
  grpcMetadataBytes: 16_384,
  /** Characters of the text of a status that are kept. */
  grpcMessageChars: 4_096,
  /** Milliseconds for one attempt to connect. */
  grpcConnectMs: 5_000,
  /** Milliseconds before the second attempt to connect; doubles with each further one, less up to a fifth at random. */
  grpcBackoffMs: 250,
  grpcBackoffMaxMs: 10_000,
  /** Milliseconds that a silent connection may take to answer a ping before it is cut. */
  grpcPingMs: 5_000,
  /** Milliseconds between two pings; a node takes more for an attack. */
  grpcPingPauseMs: 30_000,
  /** Milliseconds that calls may go on while a channel is being closed. */
  grpcCloseMs: 2_000,
  /** Bytes that the node may send ahead of the reader of one call, and that may be under way on one connection. */
  grpcWindowBytes: 1_048_576,
  grpcConnectionWindowBytes: 16_777_216,
  /** Bytes that wait in the socket to the node before bodies and new calls wait too, and replies that may wait with them. */
  grpcUnsentBytes: 262_144,
  grpcRepliesWaiting: 1_000,
  /**
   * Frames in a row that are no part of an answer, in so many milliseconds: a node that sends more is cut off. While a
   * request waits for the node to make room, it may send some times as many.
   */
  grpcIdleFrames: 10_000,
  grpcIdleFramesBlocked: 50_000,
  /** Such frames that are forgiven for each call that was given up: they were under way. */
  grpcExcusedFrames: 1_024,
  grpcIdleMs: 1_000,
  /** Frames and bytes of one block of headers, also of one that is too large to be kept. */
  grpcHeadFrames: 64,
  grpcHeadBytes: 262_144,
  /** Blocks of headers whose meaning a channel keeps, bytes of each, and methods whose beginning it keeps. */
  grpcKeptHeads: 256,
  grpcKeptHeadBytes: 1_024,
  grpcKeptPaths: 1_024,
  /** Calls that run on one connection at the same time, whatever the node says; others wait. */
  grpcStreamsAtOnce: 2_048,
  /** Calls that ended before their time and for which the node may still send. */
  grpcBrokenKept: 16_384,
  /** Milliseconds that the node may take to hang up after it was said goodbye. */
  grpcGoodbyeMs: 1_000,
  /** Bytes (with 64 more for each) and number of messages that wait for a slow reader before the node is told to wait. */
  grpcAheadBytes: 65_536,
  grpcAheadMessages: 1_024,
  /** Messages of a stream that its reader gets before others have their turn. */
  grpcMessagesPerTurn: 64,
  /** Bytes of large messages that a channel holds at the same time for all calls: what came of them, and whole ones. */
  grpcHeldBytes: 67_108_864,
  /**
   * Calls of one channel at the same time on `http2`, and on `grpc-js`; more fail at once. On grpc-js fewer: it does not
   * tell how much it holds of the answers that come.
   */
  grpcCallsAtOnce: 1_024,
  grpcJsCallsAtOnce: 256,
  /** Consecutive failures to reach the node after which it is left alone. */
  breakerFailures: 5,
  /** Milliseconds that it is left alone; doubles with each failed trial. */
  breakerPauseMs: 1_000,
  breakerPauseMaxMs: 30_000,
  /** Bytes of the largest answer that the cache keeps, and milliseconds that an answer of a given height is kept. */
  cacheAnswerBytes: 4_194_304,
  cacheHeightMs: 3_600_000,
  /** Milliseconds after which a height that nobody confirms is forgotten: the chain began anew. */
  cacheForgetMs: 60_000,
  /** Callers that share one call. */
  sharedWaiters: 10_000,
  /** Files, bytes of all files and milliseconds of one reading of the descriptors of a node. */
  reflectionFiles: 2_000,
  reflectionBytes: 33_554_432,
  reflectionMs: 30_000,
  /** Types inside an Any that no descriptor declares: those of one reply that the node is asked for, and how long names may be. */
  typesPerReply: 16,
  typeNameChars: 256,
  /** How often a reply is rendered with types that were learned for it, and milliseconds that it waits for them. */
  typeRounds: 8,
  typesMs: 2_000,
  /** Calls of the node about types at the same time, and types that it is asked for in a minute. */
  typeCallsAtOnce: 4,
  typesPerMinute: 256,
  /** Types that the node does not have: how many are remembered, and for how long; after a failure, for how long. */
  typesUnknown: 4_096,
  typesUnknownMs: 300_000,
  typesFailedMs: 10_000,

  // --- agents -------------------------------------------------------------------------------------------------------
  /** Milliseconds that a process holds a run without renewing its lease, and between two renewals. */
  runLeaseMs: 15_000,
  runRenewMs: 5_000,
  /** Milliseconds between two looks whether a run that stands in line may begin. */
  runLookMs: 2_000,
  /** Milliseconds that one run may take. */
  runMs: 900_000,
  /** Times that a run is claimed before it ends as interrupted: something in it may be what kills its processes. */
  runClaims: 5,
  /** Runs that one process works on at a time. */
  runsAtOnce: 1_000,
  /** Runs of one session that are open at a time: one is live, the others stand in line. */
  runsPerSession: 8,
  /** Milliseconds that the log of a run is kept after its end, and while it is being written. */
  runLogKeepMs: 3_600_000,
  runLogAliveMs: 7_200_000,
  /** Frames of a log after which they are gathered for `runGatherMs` milliseconds before each append. */
  runFramesFast: 2_000,
  runGatherMs: 50,
  /** Bytes of frames that wait to be appended before the responder has to wait. */
  runFramesWaiting: 1_048_576,
  /** UTF-16 units of text in one frame. */
  deltaChars: 16_384,
  /** Bytes of JSON of arguments or output of a tool, and of the partial text, that a frame shows. */
  frameJsonBytes: 131_072,
  /** Bytes of JSON that a user sends with one message. */
  agentRequestBytes: 524_288,
  /** Browser tools, or actions, that one message may bring along. */
  declaredTools: 128,
  /** Bytes of one reply, text and outputs of tools, in UTF-8; AGENT_REPLY_MAX_BYTES sets less or more. */
  agentReplyBytes: 8_388_608,
  /** Bytes of a message that one document holds. */
  messagePieceBytes: 131_072,
  /** Messages of one session that a full list gives, the newest, and their bytes. */
  transcriptMessages: 1_000,
  transcriptBytes: 33_554_432,
  /** Messages of the past that a responder gets, and their bytes. */
  historyMessages: 100,
  historyBytes: 1_048_576,
  /** Milliseconds that tools in the browser, actions of the user interface and tools of plugins may take. */
  browserToolMs: 15_000,
  actionMs: 10_000,
  pluginToolMs: 30_000,
  /** Calls to the user's side that one run waits for at a time, and bytes of JSON of each result. */
  callsWaiting: 8,
  toolResultBytes: 32_768,
  /** Calls of tools in one run. */
  toolCallsPerRun: 256,
  /** Requests to a model that one reply may take: all but the last may end in calls of tools. */
  modelSteps: 16,
  /** Tries again of a request of which nothing has come yet. */
  modelRetries: 2,
  /** Milliseconds until a model begins to answer, and between two pieces of its answer. */
  modelAnswerMs: 120_000,
  modelStallMs: 60_000,
  /** Bytes of one answer of a model as events, and of one event. */
  modelStreamBytes: 67_108_864,
  modelLineBytes: 4_194_304,
  /** UTF-16 units of what was said before that a model is told; about 12,000 tokens of English. */
  modelHistoryChars: 48_000,
  /** UTF-16 units of JSON of what a tool gave that a model is told, and of the schema of a tool. */
  modelToolChars: 32_768,
  modelSchemaChars: 16_384,
  /** Milliseconds that a server starts without MCP servers that are slow, and that these may take to answer at all. */
  mcpReadyMs: 3_000,
  mcpConnectMs: 10_000,
  /** Milliseconds that a tool of one may take, and that one may say nothing of changes before it is asked anew. */
  mcpToolMs: 60_000,
  mcpSilenceMs: 3_600_000,
  /** Milliseconds after which its tools are listed anew, after which one that failed is asked again, and to say goodbye. */
  mcpFreshMs: 300_000,
  mcpRetryMs: 15_000,
  mcpCloseMs: 1_000,
  /** Tools of one server, and pages of its list. */
  mcpToolsPerServer: 128,
  mcpPages: 16,
  /** Bytes of an answer, and UTF-16 units of what is kept of it. */
  mcpAnswerBytes: 8_388_608,
  mcpResultChars: 65_536,
  sessionTitleChars: 60,
  /** Sessions that a list can leave out before the first it shows. */
  sessionOffsetMax: 10_000,
  /** Bytes of JSON that a responder keeps in a session. */
  responderStateBytes: 65_536,
  /** Milliseconds after which what a deleted session has left is looked for once more. */
  sessionRemainsMs: 60_000,

  // --- inspector ----------------------------------------------------------------------------------------------------
  /** The last turns and steps that are kept while somebody watches, and for how many milliseconds after the last one left. */
  inspectorMoments: 500,
  inspectorLingerMs: 15_000,
  /** Characters of one of them as JSON; a larger one comes without its context. */
  inspectorMomentChars: 16_384,
  /** Milliseconds in which what happens is collected before it is shown. */
  inspectorBatchMs: 40,
  /** Turns and steps that wait for one viewer; one that is slower is cut off, and may come back. */
  inspectorQueue: 1_000,
  /** Bytes that wait in the socket of one viewer; then it is too slow. */
  inspectorSocketBytes: 8_388_608,
  /** Viewers of one process. */
  inspectorViewers: 32,
  /** Living sessions that a viewer is told of when it comes. */
  inspectorSessions: 200,
  /** Milliseconds between two words of an instance that somebody watches there, and after which silence means nobody does. */
  inspectorPresenceMs: 2_000,
  inspectorAbsenceMs: 7_000,
  /** Milliseconds that one stream may last; then its reader is asked again who it is. */
  inspectorStreamMs: 3_600_000,

  // --- sockets ------------------------------------------------------------------------------------------------------
  /** Sockets of one process, those of one user in it, and sessions that one of them listens to. */
  sockets: 10_000,
  socketsPerUser: 32,
  sessionsPerSocket: 32,
  /** Bytes of one message from a client: an invocation, a delegation and what is around them fit in. */
  socketMessageBytes: 131_072,
  /** Messages that a client may send at once, and per second after that; one that sends more is cut off. */
  socketMessagesAtOnce: 200,
  socketMessagesPerSecond: 50,
  /** Bytes that wait for a slow client before it is cut off: it may come back for them. */
  socketWaitingBytes: 1_048_576,
  /** Milliseconds that a connection may exist before it says to whom it belongs. */
  socketConnectMs: 5_000,
  /** Milliseconds between two looks whether the token of a socket still counts. */
  socketCheckMs: 60_000,
  /** Milliseconds for which a client that lost its connection may come back for what it missed, and events kept for that. */
  socketRecoveryMs: 120_000,
  socketEventsKept: 10_000,
  /** Milliseconds that a read of the events of other instances waits for one. */
  socketBlockMs: 5_000,
  /** Milliseconds that clients may take to say goodbye when the server stops. */
  socketGoodbyeMs: 1_000,

  // --- pages --------------------------------------------------------------------------------------------------------
  /** Simulated phones whose service calls are remembered, and calls of each. */
  simulatedSessions: 100,
  simulatedCalls: 64,
  /** Inputs of a dialogue that is saved as a flow test. */
  simulatedInputs: 200,
  /** Seconds that an invocation of the chat page lives; the page asks for another one in time. */
  chatTokenSeconds: 300,
  /** Seconds that a browser is the same user of the chat page: 30 days. */
  chatUserSeconds: 2_592_000,
  /** Seconds that an operator stays signed in in a browser. */
  operatorPassSeconds: 28_800,

  // --- server -------------------------------------------------------------------------------------------------------
  /** Requests that are worked on at the same time; more are turned away. */
  requestsAtOnce: 1_000,
  /** The same while the event loop is late: fewer, for they are what makes it late; one stall alone turns nobody away. */
  requestsWhenLate: 100,
  /** Milliseconds that the event loop may be late (99th percentile of a second) before requests are turned away. */
  loopDelayMs: 250,
  /** Milliseconds after which a client that takes nothing of its answer is cut off. */
  answerStallMs: 30_000,
  /** Bytes of an answer of which as many wait that a client must take in so many milliseconds, or it is cut off. */
  answerLeastBytes: 262_144,
  answerLeastMs: 60_000,
  /** Bytes from which an answer is counted while it is being sent. */
  answerLargeBytes: 65_536,
  /** Bytes of such answers that may wait for clients, in all and for one address; larger ones get 503 then. */
  unsentBytes: 268_435_456,
  unsentBytesPerClient: 67_108_864,
  /** Connections of one address; proxies and gateways that are known may have more. */
  connectionsPerClient: 1_024,
  /** Headers of a request that are read. */
  headersPerRequest: 100,
  /** Bytes of a JSON body at the other doors. */
  jsonBodyBytes: 1_048_576,
  /** Levels of lists and objects in such a body. */
  jsonBodyDepth: 64,
  /** Clients whose requests are counted at the same time; the one that was seen longest ago is forgotten. */
  countedClients: 100_000,
  /** Requests that an instance takes at a time from a count that it shares. */
  countedLot: 100,
  /** Milliseconds that Redis may take to count a request; then this process counts. Part of the time of an answer. */
  sharedCountMs: 100,
  /** Milliseconds that work may go on after the server has stopped to listen. */
  drainMs: 20_000,
} as const;
