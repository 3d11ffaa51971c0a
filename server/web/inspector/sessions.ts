// The sessions that live when somebody begins to watch, as they are stored.

import type { Engine } from '../../../lib/engine/engine.ts';
import { type SessionView, sessionKeys, viewSession } from '../../../lib/engine/sessions.ts';
import { pathOf } from '../../../lib/flow/run/scope.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { withoutNumbers, withoutTexts } from './mask.ts';
import { isChat, type Moment, whoIs } from './moment.ts';

/** A session without its last events: nobody saw them. */
export type Standing = Pick<
  Moment,
  'actor' | 'door' | 'label' | 'caller' | 'machine' | 'version' | 'state' | 'value' | 'context' | 'born'
>;

/** Living sessions of phones and chats in key order, at most PAGE_LIMITS.inspectorSessions. */
export async function* livingSessions(
  engine: Engine,
  { secret, signal }: { secret: Buffer; signal: AbortSignal },
): AsyncGenerator<Standing> {
  const keys = await sessionKeys(engine, { prefix: '', limit: PAGE_LIMITS.inspectorSessions });
  for (const key of keys) {
    if (signal.aborted) return;
    const view = await viewSession(engine, key);
    if (view) yield standingOf(key, view, secret);
  }
}

/** A stored session as it may be shown. */
export function standingOf(
  key: string,
  { conversation, version, startedAt: born, rest, door }: SessionView,
  secret: Buffer,
) {
  const who = whoIs(key, door, secret);
  const masked = isChat(who) ? withoutTexts : withoutNumbers;
  const state = pathOf(rest.state);
  const context = masked(rest.context) as JsonObject;
  return { ...who, machine: conversation, version, state, value: rest.state, context, born };
}
