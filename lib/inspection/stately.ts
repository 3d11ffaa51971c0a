// The wire format of Stately's inspector, which the page reads, too: an actor, each event, and the snapshot after them.
//
// What Stately does not know of (edges, screens, what was typed) stands beside it under `twinline`; its tools leave it.

import type { StateValue } from 'xstate';
import type { JsonObject } from '../json/json.ts';
import type { OpenSession, TraceEvent } from './trace.ts';

/** The release of @statelyai/inspect whose messages these are. */
const FORMAT = '0.7.2';

interface Common {
  readonly sessionId: string;
  readonly rootId: string;
  readonly id: string;
  /** Milliseconds since 1970, in digits. */
  readonly createdAt: string;
  readonly _version: typeof FORMAT;
}

interface Snapshot {
  readonly status: 'active' | 'done';
  readonly value: StateValue;
  readonly context: JsonObject;
}

/** What a page shows of a traced beside its snapshot. */
export type TraceMessage = Omit<TraceEvent, 'context' | 'value'>;
export type SessionMessage = Omit<OpenSession, 'context' | 'value'>;

export type StatelyMessage = Common &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId: undefined;
        /** The machine's config as JSON; the first actor of each version brings it. */
        readonly definition: string | undefined;
        readonly snapshot: Snapshot;
        readonly twinline?: SessionMessage;
      }
    | { readonly type: '@xstate.event'; readonly event: { readonly type: string }; readonly sourceId: undefined }
    | {
        readonly type: '@xstate.snapshot';
        readonly event: { readonly type: string };
        readonly snapshot: Snapshot;
        readonly twinline: TraceMessage;
      }
  );

function common(actor: string, id: string, at: number): Common {
  return { sessionId: actor, rootId: actor, id, createdAt: String(at), _version: FORMAT };
}

/** Of a session as it stood when the viewer connected. */
export function sessionMessage(session: OpenSession, definition: string | undefined, at: number): StatelyMessage {
  const { context, value, ...twinline } = session;
  return { ...actorMessage(session, { status: 'active', value, context }, { definition, at }), twinline };
}

/** Of a session that was not known before: as it is after its first event. */
export function newActorMessage(traced: TraceEvent, definition: string | undefined): StatelyMessage {
  return actorMessage(traced, makeSnapshot(traced), { definition, at: traced.at });
}

function actorMessage(
  { actor, machine, label }: Pick<TraceEvent, 'actor' | 'machine' | 'label'>,
  snapshot: Snapshot,
  { definition, at }: { definition: string | undefined; at: number },
) {
  const name = `${machine} ${label}`;
  return {
    ...common(actor, `actor.${actor}`, at),
    type: '@xstate.actor',
    name,
    parentId: undefined,
    definition,
    snapshot,
  } as const;
}

/** The events of a turn or step, and where they led. */
export function eventMessages(traced: TraceEvent): StatelyMessage[] {
  const { context: _, value: __, ...twinline } = traced;
  const { actor, id, at, edges } = traced;
  const events = edges.map(({ event }, place) => ({
    ...common(actor, `${id}.${place}`, at),
    type: '@xstate.event' as const,
    event: { type: event },
    sourceId: undefined,
  }));
  const snapshot = {
    ...common(actor, id, at),
    type: '@xstate.snapshot' as const,
    event: { type: edges.at(-1)?.event ?? 'xstate.init' },
    snapshot: makeSnapshot(traced),
    twinline,
  };
  return [...events, snapshot];
}

function makeSnapshot({ ended, value, context }: TraceEvent): Snapshot {
  return { status: ended ? 'done' : 'active', value, context };
}
