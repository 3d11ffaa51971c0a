// Limits of lib/agent: a name, a number, its unit.

export const AGENT_LIMITS = {
  /** Lease of a run in milliseconds, and the interval of renewals. */
  runLeaseMs: 15_000,
  runRenewMs: 5_000,
  /** Interval in milliseconds at which a queued run checks whether it may start. */
  runLookMs: 2_000,
  /** Longest duration of a run in milliseconds. */
  runMs: 900_000,
  /** Claims of a run before it ends as interrupted: it may be what crashes its processes. */
  runClaims: 5,
  /** Runs driven by one process at once. */
  runsAtOnce: 1_000,
  /** Open runs per session: one live, the rest queued. */
  runsPerSession: 8,
  /** Milliseconds that a run's log is kept after its end, and while it is being written. */
  runLogKeepMs: 3_600_000,
  runLogAliveMs: 7_200_000,
  /** After this many frames, frames are buffered for `runGatherMs` milliseconds before each append. */
  runFramesFast: 2_000,
  runGatherMs: 50,
  /** Bytes of unappended frames before the responder is blocked. */
  runFramesWaiting: 1_048_576,
  /** UTF-16 units of text in one frame. */
  deltaChars: 16_384,
  /** Bytes of JSON of tool arguments, tool output or partial text in a frame. */
  frameJsonBytes: 131_072,
  /** Bytes of JSON in one message of a user. */
  agentRequestBytes: 524_288,
  /** Bytes of one reply in UTF-8, text and tool outputs; AGENT_REPLY_MAX_BYTES overrides it. */
  agentReplyBytes: 8_388_608,
  /** Bytes of a message in one document. */
  messagePieceBytes: 131_072,
  /** Newest messages in a full list of a session, and their bytes. */
  transcriptMessages: 1_000,
  transcriptBytes: 33_554_432,
  /** Earlier messages passed to a responder, and their bytes. */
  historyMessages: 100,
  historyBytes: 1_048_576,
  /** Timeouts in milliseconds of browser tools, UI actions and plugin tools. */
  browserToolMs: 15_000,
  actionMs: 10_000,
  pluginToolMs: 30_000,
  /** Concurrent calls to the client in one run, and bytes of JSON of each result. */
  callsWaiting: 8,
  toolResultBytes: 32_768,
  /** Tool calls per run. */
  toolCallsPerRun: 256,
  /** Requests to a model per reply: all but the last may end in tool calls. */
  modelSteps: 16,
  /** Retries of a request that has not returned anything yet. */
  modelRetries: 2,
  /** Milliseconds that such a retry may be asked to wait; a provider that wants more is told to the user at once. */
  modelRetryMs: 5_000,
  /** Timeouts in milliseconds for the start of a model's response, and between chunks. */
  modelAnswerMs: 120_000,
  modelStallMs: 60_000,
  /** Bytes of a model's event stream, and of one event. */
  modelStreamBytes: 67_108_864,
  modelLineBytes: 4_194_304,
  /** UTF-16 units of earlier messages sent to a model; about 12,000 tokens of English. */
  modelHistoryChars: 48_000,
  /** UTF-16 units of JSON of a tool result sent to a model, and of a tool's schema. */
  modelToolChars: 32_768,
  modelSchemaChars: 16_384,
  /** Milliseconds that startup waits for slow MCP servers, and the timeout for connecting to one. */
  mcpReadyMs: 3_000,
  mcpConnectMs: 10_000,
  /** Timeouts in milliseconds of an MCP tool, and of a silent notification stream before it is reopened. */
  mcpToolMs: 60_000,
  mcpSilenceMs: 3_600_000,
  /** Milliseconds until a server's tools are listed again, until a failed server is retried, and to say goodbye. */
  mcpFreshMs: 300_000,
  mcpRetryMs: 15_000,
  mcpCloseMs: 1_000,
  /** Tools per server, and pages of its list. */
  mcpToolsPerServer: 128,
  mcpPages: 16,
  /** Bytes of a response, and UTF-16 units of it that are kept. */
  mcpAnswerBytes: 8_388_608,
  mcpResultChars: 65_536,
  /** Daily bytes of JSON from one user, and from all users of a process; sessions per user. Configurable. */
  userBytesPerDay: 67_108_864,
  bytesPerDay: 10_737_418_240,
  sessionsPerUser: 1_000,
  /** Shares of the bytes of all users: for one address, and for users who sent nothing on an earlier day. */
  clientShare: 0.25,
  newcomerShare: 0.5,
  /** Addresses tracked, most recent senders first. */
  clientsCounted: 50_000,
  /** Days without a message after which a user counts as new again. */
  knownUserDays: 30,
  /** Queued session creations per user. */
  sessionsWaiting: 100,
  sessionTitleChars: 60,
  /** Largest offset of a session list. */
  sessionOffsetMax: 10_000,
  /** Bytes of JSON that a responder may store in a session. */
  responderStateBytes: 65_536,
  /** Milliseconds after a session's deletion until leftovers are cleaned up again. */
  sessionRemainsMs: 60_000,
} as const;
