// Private values of one session, shown to an operator who asks for them: who asked is in the audit log before they are shown.

import type { Engine } from '../../../lib/engine/engine.ts';
import { sessionKeys, showSession, viewSession } from '../../../lib/engine/sessions.ts';
import { shortMac } from '../../../lib/keyring.ts';
import { MASK } from '../../../lib/redact.ts';
import type { Json, JsonObject } from '../../../lib/store/store.ts';
import type { Audit } from '../../audit/audit.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { identify } from './trace.ts';

export interface PrivateOptions {
  readonly engine: Engine;
  readonly audit: Audit;
  /** Makes the names of sessions. */
  readonly secret: Buffer;
}

export interface PrivateRequest {
  /** The name of a session, as the stream gives it. */
  readonly actor: string;
  /** Who asks, as the audit log names operators. */
  readonly by: string;
}

/** The private variables of a session with their values; undefined when no such session lives. Chats have none to show. */
export async function showPrivate(
  { engine, audit, secret }: PrivateOptions,
  { actor, by }: PrivateRequest,
): Promise<JsonObject | undefined> {
  const key = await findKey(engine, (one) => shortMac(secret, [one]) === actor);
  const [masked, whole] = key === undefined ? [] : [await showSession(engine, key), await viewSession(engine, key)];
  if (key === undefined || !masked || !whole) return undefined;
  const values = listMasked(masked.rest.context, whole.rest.context);
  if (values.length === 0) return {};
  const { label, caller = null, door } = identify(key, whole.door, secret);
  const details = {
    actor,
    door,
    session: label,
    caller,
    flow: whole.conversation,
    names: values.map(([name]) => name),
  };
  await audit.append({ action: 'session.private', by, details });
  return Object.fromEntries(values);
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
