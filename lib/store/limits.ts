// Limits of lib/store: a name, a number, its unit.

export const STORE_LIMITS = {
  // --- stores -----------------------------------------------------------------------------------------------------------
  fieldsPerIndex: 8,
  /** Bytes of one frame of a log, in UTF-8. */
  frameBytes: 262_144,
  /** Frames that one log holds at a time, and their bytes; trimming makes room. */
  framesPerLog: 100_000,
  logBytes: 268_435_456,
  /** Milliseconds that a follower waits for a store that is away before it gives up. */
  followPatienceMs: 30_000,
  /** Characters of a channel's topic. */
  topicChars: 320,

  // --- Redis ------------------------------------------------------------------------------------------------------------
  /** Milliseconds until an unanswered command is refused; a turn has two of them. */
  redisCommandMs: 1_000,
  /** Milliseconds for one attempt to connect. */
  redisConnectMs: 2_000,
  /** Milliseconds after opening that commands wait for the first connection. */
  redisFirstConnectMs: 5_000,
  /** Milliseconds until a connection that is being closed is cut. */
  redisDisconnectMs: 500,
  /** The longest pause between two attempts to connect, in milliseconds: what a caller waits at most after Redis is back. */
  redisBackoffMaxMs: 200,
  redisKeepAliveMs: 10_000,
  /** How often the map of a cluster is read again, in milliseconds. */
  redisSlotsRefreshMs: 2_000,
  /** Milliseconds that an expired session stays in Redis when it is not swept. */
  redisGraceMs: 3_600_000,
  /** Milliseconds for which timers that are due are given to one instance only. */
  redisClaimMs: 3_000,

  // --- MongoDB ----------------------------------------------------------------------------------------------------------
  /** Milliseconds that MongoDB may take to answer, and a call may wait for a free connection. */
  mongoAnswerMs: 5_000,
  /** Milliseconds to find a primary, and to connect to it. */
  mongoConnectMs: 2_500,
  /** Milliseconds between two looks at a server. */
  mongoHeartbeatMs: 1_000,
  /** Connections of one process. */
  mongoPool: 20,
  /** Milliseconds that a declaration waits for an index to be built. */
  mongoDeclareMs: 600_000,
} as const;
