// What the page of the inspector knows, read from the stream of the server: the sessions, and the last events of all.

import { element, found } from '../element.ts';

export interface Moment extends ToldMoment {
  readonly context: Snapshot['context'];
}

export interface Session extends Told {
  readonly context: Snapshot['context'];
  readonly ended: boolean;
  /** Of its last moment; 0 when none was seen. */
  readonly at: number;
  /** Moments that were seen. */
  readonly seen: number;
}

export interface Store {
  take(message: Message): void;
  sessions(): readonly Session[];
  session(actor: string): Session | undefined;
  /** Of a session, or of all of a machine. */
  moments(of: { readonly actor?: string | undefined; readonly machine?: string | undefined }): readonly Moment[];
  /** A stream that begins anew tells everything again. */
  restart(): void;
}

const KEPT = 500;

export function createStore(): Store {
  const sessions = new Map<string, Session>();
  let moments: Moment[] = [];
  let known = new Set<string>();
  return {
    take(message) {
      if (message.type === '@xstate.event' || !message.twinline) return;
      const { context } = message.snapshot;
      if (message.type === '@xstate.actor') {
        const { actor } = message.twinline;
        if (!sessions.has(actor)) sessions.set(actor, { ...message.twinline, context, ended: false, at: 0, seen: 0 });
        return;
      }
      const moment: Moment = { ...message.twinline, context };
      if (known.has(moment.id)) return;
      known.add(moment.id);
      moments.push(moment);
      if (moments.length > KEPT) known.delete(moments.shift()!.id);
      const before = sessions.get(moment.actor);
      sessions.delete(moment.actor);
      sessions.set(moment.actor, { ...before, ...moment, seen: (before?.seen ?? 0) + 1 });
    },
    // Whoever did something last stands first.
    sessions: () => [...sessions.values()].reverse(),
    session: (actor) => sessions.get(actor),
    moments: ({ actor, machine }) =>
      moments.filter((one) => (actor === undefined ? one.machine === machine : one.actor === actor)),
    restart() {
      sessions.clear();
      moments = [];
      known = new Set();
    },
  };
}

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

export interface StreamEnds {
  /** It begins, and tells from its beginning what it knows. */
  readonly onStart: () => void;
  readonly onMessage: (message: Message) => void;
}

const AGAIN_MS = 2_000;

/** Listens for as long as the page is open; a stream that broke is opened again. */
export function stream({ onStart, onMessage }: StreamEnds): void {
  const source = new EventSource('/inspector/stream');
  source.onopen = () => {
    say('live', 'Live');
    onStart();
  };
  source.onmessage = ({ data }: MessageEvent<string>) => onMessage(JSON.parse(data) as Message);
  source.onerror = () => {
    say('gone', 'Not connected; trying again …');
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => stream({ onStart, onMessage }), AGAIN_MS);
  };
  addEventListener('pagehide', () => source.close(), { once: true });
}

function say(state: 'live' | 'gone', words: string): void {
  found('state').replaceChildren(element('span', { class: `dot ${state}` }), words);
}
