// The wire format of Stately's inspector, which the page reads, too: an actor, each event, and the snapshot after them.
//
// What Stately does not know of (edges, screens, what was typed) stands beside it under `twinline`; its tools leave it.

import type { StateValue } from 'xstate';
import type { JsonObject } from '../../../lib/store/store.ts';
import type { Moment, Standing } from './moment.ts';

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

/** What a page shows of a moment beside its snapshot. */
export type MomentMessage = Omit<Moment, 'context' | 'value'>;
export type StandingMessage = Omit<Standing, 'context' | 'value'>;

export type StatelyMessage = Common &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId: undefined;
        /** The machine's config as JSON; the first actor of each version brings it. */
        readonly definition: string | undefined;
        readonly snapshot: Snapshot;
        readonly twinline?: StandingMessage;
      }
    | { readonly type: '@xstate.event'; readonly event: { readonly type: string }; readonly sourceId: undefined }
    | {
        readonly type: '@xstate.snapshot';
        readonly event: { readonly type: string };
        readonly snapshot: Snapshot;
        readonly twinline: MomentMessage;
      }
  );

function common(actor: string, id: string, at: number): Common {
  return { sessionId: actor, rootId: actor, id, createdAt: String(at), _version: FORMAT };
}

/** Of a session as it stood when somebody began to watch. */
export function standingMessage(standing: Standing, definition: string | undefined, at: number): StatelyMessage {
  const { context, value, ...told } = standing;
  return { ...actorMessage(standing, { status: 'active', value, context }, { definition, at }), twinline: told };
}

/** Of a session that was not known before: as it is after its first moment. */
export function newcomer(moment: Moment, definition: string | undefined): StatelyMessage {
  return actorMessage(moment, snapshotOf(moment), { definition, at: moment.at });
}

function actorMessage(
  { actor, machine, label }: Pick<Moment, 'actor' | 'machine' | 'label'>,
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

/** The events of a moment, and where they led. */
export function momentMessages(moment: Moment): StatelyMessage[] {
  const { context: _, value: __, ...told } = moment;
  const { actor, id, at, edges } = moment;
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
    snapshot: snapshotOf(moment),
    twinline: told,
  };
  return [...events, snapshot];
}

function snapshotOf({ ended, value, context }: Moment): Snapshot {
  return { status: ended ? 'done' : 'active', value, context };
}
