// The records of /v1 as the registry reads them.

export interface Twin {
  readonly did: string;
  readonly type: string;
  readonly status: string;
  readonly entityVerified: boolean;
  readonly controller: string | readonly string[];
  readonly protocol: string | null;
  readonly metadata: { readonly name?: string; readonly description?: string };
  readonly properties: Readonly<Record<string, unknown>>;
  readonly relationships: Readonly<Record<string, unknown>>;
  readonly services: readonly unknown[];
  readonly revision: number;
  readonly created: string;
  readonly updated: string;
  readonly [field: string]: unknown;
}

export interface ProposalView {
  readonly id: string;
  readonly did: string;
  /** How the twin is called; only in the list of all proposals. */
  readonly name?: string | null;
  readonly kind: string;
  readonly status: string;
  readonly domainRevision: number;
  readonly proposer: string;
  readonly closesAt: string;
}

export interface Protocol {
  readonly did: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface HistoryItem {
  readonly revision: number;
  readonly at: string;
  readonly by: string;
  readonly action: string;
  readonly changes: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

export interface RecordPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

export const readName = ({ metadata, did }: Pick<Twin, 'metadata' | 'did'>) => metadata.name ?? did;
export const formatTime = (iso: string) => new Date(iso).toLocaleString();
