// Limits of the pages: inspector, drawings, studio, chat.

export const PAGE_LIMITS = {
  // --- diagrams ---------------------------------------------------------------------------------------------------------
  /** Milliseconds and megabytes for the layout of one diagram, and diagrams in the queue. */
  layoutMs: 30_000,
  layoutMemoryMb: 256,
  layoutQueue: 32,
  /** Diagrams in the cache of a process. */
  diagramsKept: 128,

  // --- home -------------------------------------------------------------------------------------------------------------
  /** Test results in the cache of a process. */
  menusTested: 256,

  // --- governance -------------------------------------------------------------------------------------------------------
  /** Lifetime of a link to the page of a proposal, in milliseconds. */
  pagePassMs: 3_600_000,

  // --- inspector --------------------------------------------------------------------------------------------------------
  /** Unsent bytes in the socket of one viewer; above this it is too slow. */
  inspectorSocketBytes: 8_388_608,
  /** Viewers per process. */
  inspectorViewers: 32,
  /** Live sessions scanned for the phone number of a caller. */
  inspectorSearched: 20_000,
  /** Live sessions scanned for a name; each costs a few microseconds. */
  namesTried: 1_000_000,
  /** Most results of a search for a caller. */
  callersFound: 50,
  /** Milliseconds between announcements that an instance has viewers, and the silence after which it counts as without. */
  inspectorPresenceMs: 2_000,
  inspectorAbsenceMs: 7_000,
  /** Longest duration of one stream in milliseconds; after it the viewer authenticates again. */
  inspectorStreamMs: 3_600_000,

  // --- studio -----------------------------------------------------------------------------------------------------------
  /** Bytes of a request of the studio: a flow, its tests, and JSON escapes. */
  studioBytes: 12_582_912,
  /** Milliseconds and megabytes for one job on a draft, and jobs in the queue. */
  draftMs: 30_000,
  draftMemoryMb: 768,
  draftQueue: 64,
  /** Drafts whose problems the process caches, and whose compiled flows the worker thread caches. */
  draftsKept: 8,
  draftsWorked: 2,
  /** Phones with sessions in drafts, and the total screens of their drafts. */
  draftPhones: 50,
  draftPhoneScreens: 40_000,
  /** Saved versions kept per flow, and deleted flows that can be restored. */
  studioVersions: 50,
  /** Living links to previews, the longest hours of one, and its turns in a minute of an instance. */
  previewLinks: 200,
  previewHours: 168,
  previewTurns: 120,
  /** Previews whose texts the process caches. */
  previewsKept: 8,
  /** Screens of a template that are shown before a flow begins with it. */
  templateScreens: 3,

  // --- pages ------------------------------------------------------------------------------------------------------------
  /** Simulated phones whose service calls are recorded, and calls per phone. */
  simulatedSessions: 100,
  simulatedCalls: 64,
  /** Lifetime of an invocation of the chat page in seconds; the page renews it in time. */
  chatTokenSeconds: 300,
  /** Seconds for which a browser stays the same user of the chat page: 30 days. */
  chatUserSeconds: 2_592_000,
  /** Seconds for which an operator stays signed in. */
  operatorPassSeconds: 28_800,
} as const;
