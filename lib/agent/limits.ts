// Limits of lib/agent: a name, a number, its unit.

export const AGENT_LIMITS = {
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
  /** UTF-16 units of earlier messages that a model gets; about 12,000 tokens of English. */
  modelHistoryChars: 48_000,
  /** UTF-16 units of JSON of a tool's result that a model gets, and of the schema of a tool. */
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
  /** Bytes of JSON that one user, and all users of a process, may send in a day; sessions of one user. Settings change them. */
  userBytesPerDay: 67_108_864,
  bytesPerDay: 10_737_418_240,
  sessionsPerUser: 1_000,
  /** Of the bytes of all users: what one address may send, and what users who have sent nothing on an earlier day may. */
  clientShare: 0.25,
  newcomerShare: 0.5,
  /** Addresses that are counted; the ones that have sent last. */
  clientsCounted: 50_000,
  /** Days without a message after which a user is a new one. */
  knownUserDays: 30,
  /** Requests of one user for a new session that wait for each other. */
  sessionsWaiting: 100,
  sessionTitleChars: 60,
  /** Sessions that a list can leave out before the first it shows. */
  sessionOffsetMax: 10_000,
  /** Bytes of JSON that a responder keeps in a session. */
  responderStateBytes: 65_536,
  /** Milliseconds after which what a deleted session has left is looked for once more. */
  sessionRemainsMs: 60_000,
} as const;
