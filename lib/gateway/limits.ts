// Limits of lib/gateway: a name, a number, its unit.

export const GATEWAY_LIMITS = {
  // --- gateway ----------------------------------------------------------------------------------------------------------
  /** Nesting depth of messages, as in the Protobuf libraries. */
  gatewayDepth: 100,
  /** Bytes of JSON of one reply. */
  gatewayJsonBytes: 67_108_864,
  /** Milliseconds of work on one stream per event-loop turn. */
  gatewayTurnMs: 10,
  /** Bytes of JSON of all error details together. */
  gatewayDetailBytes: 16_384,
  /** Characters of JSON of a message with default values, in the Cosmos form. */
  gatewayDefaultChars: 65_536,
  /** Query parameters per request. */
  gatewayParameters: 1_000,
  /** Metadata entries that a request may send to the node. */
  gatewayMetadata: 64,
  /** Characters of a path. */
  gatewayPathChars: 8_192,
  /** Segments of a template. */
  gatewaySegments: 64,
  /** Bytes of a GATEWAY_FILE, and entries of one of its lists. */
  gatewayFileBytes: 1_048_576,
  gatewayFileItems: 1_000,
  /** Depth of nested fields in a route's list of query parameters. */
  gatewayParameterDepth: 5,

  // --- gRPC -------------------------------------------------------------------------------------------------------------
  /** Default and longest deadline of a call in milliseconds. */
  grpcDeadlineMs: 10_000,
  /** Bytes of a message to the node: the default limit of gRPC servers. */
  grpcRequestBytes: 4_194_304,
  /** Bytes of a message from the node, decompressed: the limit of a Cosmos node. */
  grpcAnswerBytes: 10_485_760,
  /** Bytes of metadata per call and direction: names, values and 32 per entry. */
  grpcMetadataBytes: 16_384,
  /** Characters of a status message. */
  grpcMessageChars: 4_096,
  /** Timeout of a connection attempt, in milliseconds. */
  grpcConnectMs: 5_000,
  /** Milliseconds before the second connection attempt; doubles each time, with up to a fifth subtracted at random. */
  grpcBackoffMs: 250,
  grpcBackoffMaxMs: 10_000,
  /** Milliseconds to answer a ping before a silent connection is closed. */
  grpcPingMs: 5_000,
  /** Milliseconds between pings; a node treats more frequent ones as an attack. */
  grpcPingPauseMs: 30_000,
  /** Milliseconds that calls may continue while a channel closes. */
  grpcCloseMs: 2_000,
  /** Flow-control windows: bytes sent ahead of the reader of one call, and in flight on one connection. */
  grpcWindowBytes: 1_048_576,
  grpcConnectionWindowBytes: 16_777_216,
  /** Unsent bytes in the socket before bodies and new calls are held back, and replies held back with them. */
  grpcUnsentBytes: 262_144,
  grpcRepliesWaiting: 1_000,
  /**
   * Consecutive frames within `grpcIdleMs` that carry no reply: a node that sends more is disconnected. A node that blocks a
   * request by flow control may send several times as many.
   */
  grpcIdleFrames: 10_000,
  grpcIdleFramesBlocked: 50_000,
  /** Such frames tolerated per cancelled call, because they were already in flight. */
  grpcExcusedFrames: 1_024,
  grpcIdleMs: 1_000,
  /** Frames and bytes of a header block, even one too large to keep. */
  grpcHeadFrames: 64,
  grpcHeadBytes: 262_144,
  /** Cached header blocks per channel, bytes of each, and cached method prefixes. */
  grpcKeptHeads: 256,
  grpcKeptHeadBytes: 1_024,
  grpcKeptPaths: 1_024,
  /** Concurrent calls per connection, even if the node allows more; others wait. */
  grpcStreamsAtOnce: 2_048,
  /** Remembered calls that ended early, for which the node may still send. */
  grpcBrokenKept: 16_384,
  /** Milliseconds that the node may take to close after GOAWAY. */
  grpcGoodbyeMs: 1_000,
  /** Queued bytes (plus 64 per message) and messages for a slow reader before the node must pause. */
  grpcAheadBytes: 65_536,
  grpcAheadMessages: 1_024,
  /** Messages of a stream delivered per event-loop turn. */
  grpcMessagesPerTurn: 64,
  /** Bytes of large messages, complete or partial, that a channel holds for all calls. */
  grpcHeldBytes: 67_108_864,
  /** Concurrent calls per channel; more fail immediately. */
  grpcCallsAtOnce: 1_024,
  /** Consecutive failures that open the circuit breaker. */
  breakerFailures: 5,
  /** Milliseconds that it stays open; doubles with each failed trial. */
  breakerPauseMs: 1_000,
  breakerPauseMaxMs: 30_000,
  /** Bytes of the largest cached reply, and milliseconds that a reply for a fixed height is cached. */
  cacheAnswerBytes: 4_194_304,
  cacheHeightMs: 3_600_000,
  /** Milliseconds until an unconfirmed height is forgotten, in case the chain restarted. */
  cacheForgetMs: 60_000,
  /** Callers per shared call. */
  sharedWaiters: 10_000,
  /** Files, total bytes and milliseconds of reading a node's descriptors by reflection. */
  reflectionFiles: 2_000,
  reflectionBytes: 33_554_432,
  reflectionMs: 30_000,
  /** Undeclared types inside an Any: lookups per reply, and length of type names. */
  typesPerReply: 16,
  typeNameChars: 256,
  /** Times that a reply is rendered with newly learned types, and milliseconds that it waits for them. */
  typeRounds: 8,
  typesMs: 2_000,
  /** Concurrent type lookups, and types requested per minute. */
  typeCallsAtOnce: 4,
  typesPerMinute: 256,
  /** Types that the node lacks: how many are remembered, and for how long; and how long a failed lookup is. */
  typesUnknown: 4_096,
  typesUnknownMs: 300_000,
  typesFailedMs: 10_000,
} as const;
