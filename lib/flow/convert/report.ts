// The report of a conversion: an entry for each thing that was not converted, with its node and the reason.

export interface ReportEntry {
  /** Name of the converted flow. */
  readonly flow: string;
  /** Id of the node or screen; '' for the whole flow. */
  readonly node: string;
  /** What has no equivalent: a type, a key, an expression. */
  readonly what: string;
  /** Why, and what was done instead; a sentence. */
  readonly reason: string;
}

export interface ConversionReport {
  readonly entries: readonly ReportEntry[];
  /** Adds an entry, unless it exists already. */
  add(entry: ReportEntry): void;
}

/** Maximum number of entries. */
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
