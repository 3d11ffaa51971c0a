// What a conversion could not carry over: one entry for each thing, with the node that it belongs to and the reason.

export interface ReportEntry {
  /** Name of the flow, as it is called here. */
  readonly flow: string;
  /** Id of the node or screen; '' for the flow as a whole. */
  readonly node: string;
  /** The thing without a counterpart: a type, a key, an expression. */
  readonly what: string;
  /** Why, and what was done instead; a sentence. */
  readonly reason: string;
}

export interface ConversionReport {
  readonly entries: readonly ReportEntry[];
  /** Adds an entry, unless the same one is there. */
  add(entry: ReportEntry): void;
}

/** Enough to see what is wrong with a file; more would only fill a disk. */
const ENTRIES_MAX = 10_000;
const WHAT_CHARS = 120;

export function makeReport(): ConversionReport {
  const entries = new Map<string, ReportEntry>();
  return {
    get entries() {
      return [...entries.values()];
    },
    add: ({ what, ...entry }) => {
      const cut = { ...entry, what: what.length > WHAT_CHARS ? `${what.slice(0, WHAT_CHARS)}…` : what };
      const key = JSON.stringify([cut.flow, cut.node, cut.what, cut.reason]);
      if (entries.size < ENTRIES_MAX) entries.set(key, cut);
    },
  };
}

/** `clinic 5f0c…: call_webhook. Reason.` */
export function reportLine({ flow, node, what, reason }: ReportEntry): string {
  return `${[flow, node].filter(Boolean).join(' ')}: ${what}. ${reason}`;
}
