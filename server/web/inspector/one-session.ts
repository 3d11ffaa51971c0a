// What an operator may do with one session: see its private values, and end it. Who does it is in the audit log, before it is done.

import type { Engine } from '../../../lib/engine/engine.ts';
import { type SessionView, sessionKeys, showSession, viewSession } from '../../../lib/engine/sessions.ts';
import { toPath } from '../../../lib/flow/run/scope.ts';
import { shortMac } from '../../../lib/keyring.ts';
import { MASK } from '../../../lib/redact.ts';
import type { Json, JsonObject } from '../../../lib/store/store.ts';
import { closeSession, KEY_PREFIX } from '../../../lib/ussd/service.ts';
import type { Audit } from '../../audit/audit.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { identify } from './trace.ts';

export interface SessionOptions {
  readonly engine: Engine;
  readonly audit: Audit;
  /** Makes the names of sessions. */
  readonly secret: Buffer;
}

export interface SessionRequest {
  /** The name of a session, as the stream gives it. */
  readonly actor: string;
  /** Who asks, as the audit log names operators. */
  readonly by: string;
}

/** The private variables of a session with their values; undefined when no such session lives. Chats have none to show. */
export async function showPrivate(
  { engine, audit, secret }: SessionOptions,
  { actor, by }: SessionRequest,
): Promise<JsonObject | undefined> {
  const key = await findKey(engine, (one) => shortMac(secret, [one]) === actor);
  const [masked, whole] = key === undefined ? [] : [await showSession(engine, key), await viewSession(engine, key)];
  if (key === undefined || !masked || !whole) return undefined;
  const values = listMasked(masked.rest.context, whole.rest.context);
  if (values.length === 0) return {};
  const details = { ...nameSession(key, whole, secret), names: values.map(([name]) => name) };
  await audit.append({ action: 'session.private', by, details });
  return Object.fromEntries(values);
}

/** Ends a living session of a phone; false when there is none. Those of chats belong to the people who write there. */
export async function endCall(
  { engine, audit, secret }: SessionOptions,
  { actor, by }: SessionRequest,
): Promise<boolean> {
  const key = await findKey(engine, (one) => one.startsWith(KEY_PREFIX) && shortMac(secret, [one]) === actor);
  const session = key === undefined ? undefined : await showSession(engine, key);
  if (key === undefined || !session) return false;
  const details = { ...nameSession(key, session, secret), state: toPath(session.rest.state) };
  await audit.append({ action: 'session.ended', by, details });
  return closeSession(engine, key);
}

function nameSession(key: string, { door, conversation }: Pick<SessionView, 'door' | 'conversation'>, secret: Buffer) {
  const { actor, door: kind, label, caller = null } = identify(key, door, secret);
  return { actor, door: kind, session: label, caller, flow: conversation };
}

function listMasked(masked: JsonObject, whole: JsonObject): [string, Json][] {
  const hidden = Object.keys(whole).filter(
    (name) => !name.startsWith('$') && masked[name] === MASK && whole[name] !== MASK,
  );
  return hidden.map((name) => [name, whole[name]!]);
}

async function findKey(engine: Engine, fits: (key: string) => boolean): Promise<string | undefined> {
  const keys = await sessionKeys(engine, { prefix: '', limit: PAGE_LIMITS.inspectorSearched });
  return keys.find(fits);
}
