// What the stream of the inspector brings, as far as its page reads it.

export interface Edge {
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
}

export interface Typed {
  /** Null where it was a secret. */
  readonly text: string | null;
  readonly at: string;
}

export interface Snapshot {
  readonly status: 'active' | 'done';
  readonly context: { readonly [name: string]: unknown };
}

/** Whose machine it is, and where. */
export interface Told {
  readonly actor: string;
  readonly door: string;
  readonly label: string;
  readonly caller?: string;
  readonly machine: string;
  readonly version: number;
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly born?: number;
}

export interface ToldMoment extends Told {
  readonly id: string;
  readonly at: number;
  readonly edges: readonly Edge[];
  readonly ended: boolean;
  readonly reply?: string;
  readonly waiting?: boolean;
  readonly typed?: readonly Typed[];
}

export type Message =
  | { readonly type: '@xstate.actor'; readonly snapshot: Snapshot; readonly twinline?: Told }
  | { readonly type: '@xstate.event' }
  | { readonly type: '@xstate.snapshot'; readonly snapshot: Snapshot; readonly twinline: ToldMoment };

export interface Machine {
  readonly id: string;
  readonly kind: 'flow' | 'lifecycle';
  readonly version: number;
  readonly title: string;
}
