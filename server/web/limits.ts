// Limits of the pages: inspector, drawings, chat: a name, a number, its unit.

export const PAGE_LIMITS = {
  // --- diagrams ---------------------------------------------------------------------------------------------------------
  /** Milliseconds and megabytes that laying out one diagram may take, and diagrams that may wait for it. */
  layoutMs: 30_000,
  layoutMemoryMb: 256,
  layoutQueue: 32,
  /** Diagrams that a process keeps. */
  diagramsKept: 128,

  // --- home -------------------------------------------------------------------------------------------------------------
  /** Menus whose test results a process keeps. */
  menusTested: 256,

  // --- governance -------------------------------------------------------------------------------------------------------
  /** Milliseconds that a link to the page of a proposal is good. */
  pagePassMs: 3_600_000,

  // --- inspector --------------------------------------------------------------------------------------------------------
  /** Bytes that wait in the socket of one viewer; then it is too slow. */
  inspectorSocketBytes: 8_388_608,
  /** Viewers of one process. */
  inspectorViewers: 32,
  /** Living sessions among which a caller is looked for by number. */
  inspectorSearched: 20_000,
  /** Living sessions among which one is looked for by its name, at some microseconds each. */
  namesTried: 1_000_000,
  /** Sessions that a search for a caller finds at most. */
  callersFound: 50,
  /** Milliseconds between two notes of an instance that it has viewers, and after which silence means that it has none. */
  inspectorPresenceMs: 2_000,
  inspectorAbsenceMs: 7_000,
  /** Milliseconds that one stream may last; then its reader is asked again who it is. */
  inspectorStreamMs: 3_600_000,

  // --- studio -----------------------------------------------------------------------------------------------------------
  /** Bytes of a request of the studio: a flow, its tests, and what JSON adds. */
  studioBytes: 12_582_912,
  /** Milliseconds and megabytes that working on one draft may take, and requests that may wait for it. */
  draftMs: 30_000,
  draftMemoryMb: 768,
  draftQueue: 64,
  /** Drafts whose problems are kept by the process, and whose compiled flows by the thread that works on them. */
  draftsKept: 8,
  draftsWorked: 2,
  /** Phones that have dialled drafts and are remembered, and the screens of all their drafts. */
  draftPhones: 50,
  draftPhoneScreens: 40_000,
  /** Saved versions of one flow that are kept. */
  studioVersions: 50,

  // --- pages ------------------------------------------------------------------------------------------------------------
  /** Simulated phones whose service calls are remembered, and calls of each. */
  simulatedSessions: 100,
  simulatedCalls: 64,
  /** Seconds that an invocation of the chat page lives; the page asks for another one in time. */
  chatTokenSeconds: 300,
  /** Seconds that a browser is the same user of the chat page: 30 days. */
  chatUserSeconds: 2_592_000,
  /** Seconds that an operator stays signed in in a browser. */
  operatorPassSeconds: 28_800,
} as const;
