// Limits of the server, in and around its doors: a name, a number, its unit.

export const SERVER_LIMITS = {
  // --- start ------------------------------------------------------------------------------------------------------------
  /** Milliseconds that a start waits for a module to be loaded, and for a plugin to be ready. */
  moduleStartMs: 30_000,

  // --- menus ------------------------------------------------------------------------------------------------------------
  /** Milliseconds and megabytes that the check of an edit may take, with all menus of the folder and their tests. */
  menuCheckMs: 60_000,
  menuCheckMemoryMb: 768,

  // --- USSD -------------------------------------------------------------------------------------------------------------
  /** Seconds that the time of a signed USSD request may be away from now. */
  ussdSignatureSeconds: 300,
  /** Addresses of refused USSD gateways that are named in the log in one minute; the metric counts all. */
  ussdRefusalsLogged: 100,

  // --- domains ----------------------------------------------------------------------------------------------------------
  /** Signed cards that a process keeps, and their bytes. */
  cardsKept: 1_000,
  cardBytesKept: 16_777_216,
  /** Milliseconds after which a part whose parent never came is thrown away. */
  provisionalMs: 60_000,
  /** Characters of a list of types of events, and names in it. */
  eventTypesChars: 1_000,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Streams of events that a process serves at a time, and those of one tenant, and of one user of the agent. */
  eventStreams: 1_000,
  eventStreamsPerTenant: 500,
  eventStreamsPerUser: 32,
  /** Milliseconds between two comments on a stream where nothing happens. */
  eventHeartbeatMs: 15_000,
  /** Milliseconds after which a reader that takes nothing is cut off; it may go on where it was. */
  eventStallMs: 30_000,
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

  // --- gateway ----------------------------------------------------------------------------------------------------------
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

  // --- gRPC -------------------------------------------------------------------------------------------------------------
  grpcJsCallsAtOnce: 256,

  // --- agents -----------------------------------------------------------------------------------------------------------
  /** Browser tools, or actions, that one message may bring along. */
  declaredTools: 128,

  // --- sockets ----------------------------------------------------------------------------------------------------------
  /** Sockets of one process, those of one user in it, and sessions that one of them listens to. */
  sockets: 10_000,
  socketsPerUser: 32,
  sessionsPerSocket: 32,
  /** Bytes of one message from a client: an invocation, a delegation and what is around them fit in. */
  socketMessageBytes: 131_072,
  /**
   * Messages that a client may send at once, and per second after that; one that sends more is cut off. A message counts once,
   * and once more for each `socketShareBytes` bytes.
   */
  socketMessagesAtOnce: 200,
  socketMessagesPerSecond: 50,
  socketShareBytes: 16_384,
  /** Bytes that wait for a slow client before it is cut off: it may come back for them. */
  socketWaitingBytes: 1_048_576,
  /** Milliseconds that a connection may exist before it names its user. */
  socketConnectMs: 5_000,
  /** Milliseconds between two checks whether the token of a socket is still valid. */
  socketCheckMs: 60_000,
  /** Milliseconds for which a client that lost its connection may come back for what it missed, and events kept for that, and their bytes. */
  socketRecoveryMs: 120_000,
  socketEventsKept: 10_000,
  socketEventBytesKept: 67_108_864,
  /** Milliseconds that a read of the events of other instances waits for one. */
  socketBlockMs: 5_000,
  /** Milliseconds that clients may take to say goodbye when the server stops. */
  socketGoodbyeMs: 1_000,

  // --- pages ------------------------------------------------------------------------------------------------------------
  /** Inputs of a dialogue that is saved as a flow test. */
  simulatedInputs: 200,

  // --- server -----------------------------------------------------------------------------------------------------------
  /** Requests that are worked on at the same time; others wait. */
  requestsAtOnce: 1_000,
  /** The same while the event loop is late: fewer, for they are what makes it late; a single stall refuses no request. */
  requestsWhenLate: 100,
  /** Milliseconds that a request may wait until it is worked on; then it is turned away. */
  requestWaitMs: 1_000,
  /** Such requests that are turned away in 20 ms at most: others wait for longer, and their clients with them. */
  refusalsPerLook: 20,
  /** Milliseconds that the event loop may be late (99th percentile of a second) before requests are turned away. */
  loopDelayMs: 250,
  /** Milliseconds after which a client that takes nothing of its answer is cut off. */
  answerStallMs: 30_000,
  /** Bytes of an answer of which as many wait that a client must take in so many milliseconds, or it is cut off. */
  answerLeastBytes: 262_144,
  answerLeastMs: 60_000,
  /** Bytes of a request's body that its client must send in so many milliseconds, or all of it, or it is cut off. */
  bodyLeastBytes: 4_096,
  bodyLeastMs: 4_000,
  /** Bytes from which an answer is counted while it is being sent. */
  answerLargeBytes: 65_536,
  /** Bytes of such answers that may wait for clients, in all and for one address; larger ones get 503 then. */
  unsentBytes: 268_435_456,
  unsentBytesPerClient: 67_108_864,
  /** Connections of one address; proxies and gateways that are known may have more. */
  connectionsPerClient: 1_024,
  /** Header fields of a request; one with more is refused. */
  headersPerRequest: 100,
  /** Requests that a client may send ahead, before it has the answer to the one before; one that sends more is cut off. */
  requestsAhead: 100,
  /** Bytes of a JSON body at the other doors. */
  jsonBodyBytes: 1_048_576,
  /** Wrong tokens of operators that one address may show in so many milliseconds. */
  operatorFailures: 5,
  operatorFailureMs: 60_000,
  /** Times RATE_LIMIT_MAX: what all addresses of an IPv6 /48, which one customer may have, may ask together. */
  networkShare: 16,
  /** Clients whose requests are counted at the same time; the one that was seen longest ago is forgotten. */
  countedClients: 100_000,
  /** Permits for requests that an instance fetches at a time from a count that it shares. */
  permitBatch: 100,
  /** Milliseconds that Redis may take to count a request; then this process counts. Part of the time of an answer. */
  sharedCountMs: 100,
  /** Milliseconds that work may go on after the server has stopped to listen. */
  drainMs: 20_000,
  /** How long a server that drains leaves idle connections open after it takes no more: a proxy may be sending on one of them. */
  lingerMs: 500,
} as const;
