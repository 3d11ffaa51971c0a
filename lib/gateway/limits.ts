// Limits of lib/gateway: a name, a number, its unit.

export const GATEWAY_LIMITS = {
  // --- gateway ----------------------------------------------------------------------------------------------------------
  /** Messages inside each other in a reply or a request, as in the Protobuf libraries. */
  gatewayDepth: 100,
  /** Bytes of JSON that one reply may become. */
  gatewayJsonBytes: 67_108_864,
  /** Milliseconds of work on one stream before others have their turn. */
  gatewayTurnMs: 10,
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

  // --- gRPC -------------------------------------------------------------------------------------------------------------
  /** Milliseconds that a call to the node may take when its deadline is not shorter. */
  grpcDeadlineMs: 10_000,
  /** Bytes of one message to the node: what gRPC servers accept by default. */
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
  /** Calls that run on one connection at the same time, also where the node allows more; others wait. */
  grpcStreamsAtOnce: 2_048,
  /** Calls that ended before their time and for which the node may still send. */
  grpcBrokenKept: 16_384,
  /** Milliseconds that the node may take to hang up after it was said goodbye. */
  grpcGoodbyeMs: 1_000,
  /** Bytes (with 64 more for each) and number of messages that wait for a slow reader before the node has to wait. */
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
  /** Consecutive failures to reach the node after which it is left alone. */
  breakerFailures: 5,
  /** Milliseconds that it is left alone; doubles with each failed trial. */
  breakerPauseMs: 1_000,
  breakerPauseMaxMs: 30_000,
  /** Bytes of the largest answer that the cache keeps, and milliseconds that an answer of a given height is kept. */
  cacheAnswerBytes: 4_194_304,
  cacheHeightMs: 3_600_000,
  /** Milliseconds after which a height that is not confirmed is forgotten: the chain began anew. */
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
} as const;
